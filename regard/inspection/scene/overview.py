"""Encoder and decoder in one picture: each side looks at itself in arcs, and across in lines."""

from collections.abc import Iterator, Sequence

import numpy as np

from regard.inspection.figures.view import View, check_across
from regard.inspection.scene.frame import (
    BODY,
    HEADING,
    MARGIN,
    SMALL,
    heading,
    heading_width,
    noted,
)
from regard.inspection.scene.items import Item, Path, Scene, Text
from regard.inspection.scene.measure import text_width
from regard.inspection.trace import ATTENTIONS, Kind, Label, Table, Trace, table

_ROW, _ACROSS, _ARC = 28.0, 230.0, 120.0
_LEAST = 0.06
_THICK = 7.0
_COLOURS: dict[Kind, str] = {"encoder": "head2", "cross": "head0", "decoder": "head1"}
_MOST = 1_500  # lines of each kind


def overview(trace: Trace, view: View) -> Scene:
    """Source on the left, target on the right; the mean of the heads of one layer."""
    check_across(trace, "overview")
    tables = {kind: _table(trace, view, kind) for kind in _COLOURS if trace.layers(kind)}
    trace.site("cross", trace.default_layer("cross"))  # or it says what is missing
    cross = tables["cross"]
    target = cross.rows
    title = "Encoder and decoder"
    below = ", ".join(f"{one.kind} layer {one.layer}" for one in tables.values())
    below += " · mean of the heads · across: when predicting"
    items = heading(title, below)
    source_width = max([text_width(label.text, BODY) for label in cross.columns] + [60.0])
    target_width = max([text_width(label.text, BODY) for label in target] + [60.0])
    source_left = MARGIN + (_ARC if "encoder" in tables else 0.0)
    left = source_left + source_width + 8
    right = left + _ACROSS
    target_right = right + 8 + target_width
    n = max(len(cross.columns), len(target))
    top = HEADING + 52
    y_source = [top + (i + 0.5 + (n - len(cross.columns)) / 2) * _ROW for i in range(n)]
    y_target = [top + (i + 0.5 + (n - len(target)) / 2) * _ROW for i in range(n)]
    items += _names(cross.columns, left - 8, y_source, "end")
    items += _names(target, right + 8, y_target, "start")
    items += _key(tables, (source_left, left + _ACROSS / 2, target_right), top - 24)
    if "encoder" in tables:
        items += _arcs(tables["encoder"], cross.columns, left - 12, y_source, leftwards=True)
    items += _lines(cross, left, right, y_target, y_source)
    if "decoder" in tables:
        items += _arcs(tables["decoder"], target, right + 12, y_target, leftwards=False)
    far_right = target_right + (_ARC if "decoder" in tables else 0.0)
    width = max(far_right + MARGIN, heading_width(title, below))
    return noted(items, [], width, top + n * _ROW + 14, view.theme)


def _table(trace: Trace, view: View, kind: Kind) -> Table:
    layers = trace.layers(kind)
    layer = view.layer if view.layer in layers else None
    found = table(
        trace,
        kind,
        layer,
        heads=view.heads,
        reading=ATTENTIONS[kind].reading,
        merges=view.merges,
    )
    return found.without_special() if view.hides_special else found


def _names(labels: Sequence[Label], x: float, at: Sequence[float], anchor: str) -> Iterator[Item]:
    for i, label in enumerate(labels):
        colour = "soft" if label.is_special else "ink"
        if anchor == "end":
            yield Text(x, at[i], label.text, BODY, colour, "end", column=i)
        else:
            yield Text(x, at[i], label.text, BODY, colour, "start", row=i)


def _key(tables: dict[Kind, Table], xs: tuple[float, float, float], y: float) -> Iterator[Item]:
    for kind, x in zip(_COLOURS, xs, strict=True):
        if one := tables.get(kind):
            text = f"{one.attention.rows} looks at {one.attention.columns}"
            yield Text(x, y, text, SMALL, _COLOURS[kind], "middle", is_bold=True)


def _strongest(weights: np.ndarray) -> Iterator[tuple[int, int, float]]:
    """The cells worth a line, the faintest first."""
    cells = np.argwhere(weights >= _LEAST)
    order = np.argsort(weights[tuple(cells.T)], kind="stable")[-_MOST:]
    for i, j in cells[order].tolist():
        yield i, j, float(weights[i, j])


def _lines(
    cross: Table, left: float, right: float, y_target: Sequence[float], y_source: Sequence[float]
) -> Iterator[Item]:
    for i, j, weight in _strongest(cross.mean):
        y1, y2 = y_source[j], y_target[i]
        pull = 0.4 * (right - left)
        yield _path(
            ((left, y1), (left + pull, y1), (right - pull, y2), (right, y2)), cross, i, j, weight
        )


def _arcs(
    one: Table, shown: Sequence[Label], x: float, at: Sequence[float], *, leftwards: bool
) -> Iterator[Item]:
    """From word to word of one side; looks at itself are no arcs, and <s> has no place here."""
    widths = [text_width(label.text, BODY) + 4 for label in shown]
    rows, columns = (_places(labels, shown) for labels in (one.rows, one.columns))
    for i, j, weight in _strongest(one.mean):
        a, b = rows[i], columns[j]
        if a is None or b is None or a == b:
            continue
        sign = -1 if leftwards else 1
        start, end = x + sign * widths[a], x + sign * widths[b]
        far = max(widths[a], widths[b]) + min(_ARC, 14 + 11 * abs(a - b))
        bow = x + sign * far
        points = ((start, at[a]), (bow, at[a]), (bow, at[b]), (end, at[b]))
        yield _path(points, one, i, j, weight)


def _places(labels: Sequence[Label], shown: Sequence[Label]) -> list[int | None]:
    """Where each label stands in the column that is shown; the words are the same, in order."""
    words = [i for i, label in enumerate(shown) if not label.is_special]
    ends = [i for i, label in enumerate(shown) if label.is_special]
    found: list[int | None] = []
    n_words = 0
    for label in labels:
        if label.is_special:
            found.append(ends[0] if ends and n_words else None)
        else:
            found.append(words[n_words] if n_words < len(words) else None)
            n_words += 1
    return found


def _path(
    points: tuple[tuple[float, float], ...], one: Table, i: int, j: int, weight: float
) -> Path:
    rounded = tuple((round(x, 2), round(y, 2)) for x, y in points)
    return Path(
        rounded,
        _COLOURS[one.kind],
        round(max(0.6, _THICK * weight), 3),
        round(min(1.0, 0.2 + 0.75 * weight), 3),
        is_curve=True,
        tip=f"{one.rows[i].text} → {one.columns[j].text}: {weight:.3f} ({one.kind})",
        row=i,
        column=j,
    )
