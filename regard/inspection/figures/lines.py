"""Words and lines between them, as thick as one looks at the other: the lectures' picture."""

from collections.abc import Sequence, Set
from typing import Any

import numpy as np

from regard.errors import UsageError
from regard.inspection.figures.canvas import (
    BODY,
    HEADING,
    MARGIN,
    SMALL,
    Canvas,
    Drawing,
    head_colour,
    shortened,
    text_width,
    widest,
)  # fmt: skip
from regard.inspection.figures.view import View, check_across, named, named_heads
from regard.inspection.looking import Looking
from regard.inspection.trace import ATTENTIONS, Kind, Label, Table, Trace
from regard.inspection.trace import table as find_table
from regard.shapes import Bool, Float

_ROW, _GAP = 26.0, 240.0
_LEAST = 0.02  # of the attention; thinner lines are not seen
_THICK = 9.0
_MOST_LINES = 6_000  # more are neither seen nor drawn quickly
_LOUD = 0.1
_LONGEST = 360.0  # pixels of a word
_ARC = 120.0
_LEAST_ARC = 0.06
_MOST_ARCS = 1_500  # of each kind
_SIDES: dict[Kind, str] = {"encoder": "head2", "cross": "head0", "decoder": "head1"}


def draw_lines(trace: Trace, view: View) -> Drawing:
    """Lines from each row (or the one chosen) to the columns it looks at, a colour a head."""
    found = view.table(trace)
    site = trace.site(found.kind, found.layer)
    focus = None if view.word is None else found.row(view.word)
    top_k = view.top_k or _usual_top_k(found)
    canvas = Canvas(view.theme)
    canvas.heading(
        named(found),
        f"{named_heads(found.heads, site.n_heads)} · thicker = more attention"
        + ("" if top_k >= len(found.columns) else f" · the {top_k} strongest of each row and head"),
    )
    top = HEADING + 30.0
    if len(found.heads) > 1:
        top = _head_names(canvas, found.heads, top - 14) + 26
    keeps = _strongest(found.weights, top_k)
    if focus is not None:
        keeps[:, np.arange(len(found.rows)) != focus] = False
    _columns(canvas, MARGIN, top, found, keeps, focus)
    even = [str(head) for head in found.heads if site.is_uniform[head]]
    if even:
        heads = f"head{'s' if len(even) > 1 else ''} {', '.join(even)}"
        canvas.note(f"{heads}: almost the same weight everywhere")
    return canvas.finished()


def panels(looks: Sequence[tuple[str, Looking]], title: str = "", theme: str = "light") -> Drawing:
    """What the word in focus (or every word) looks at, a titled panel each, side by side.

    A box is around a word that it truly belongs to.
    """
    if not looks:
        raise UsageError("there is nothing to draw: give at least one panel of words")
    canvas = Canvas(theme)
    canvas.heading(title or "Who looks at whom", "thicker = more attention")
    tallest = max(max(len(one.rows), len(one.columns)) for _, one in looks)
    n_lines = max(len(_wrapped(name)) for name, _ in looks)
    x, top = MARGIN, HEADING + 14 + 17.0 * n_lines
    for name, one in looks:
        for i, line in enumerate(_wrapped(name)):
            canvas.text(x, HEADING + 12 + 17.0 * i, line, SMALL, "soft")
        rows, columns = (
            tuple(Label(word, (i,)) for i, word in enumerate(side))
            for side in (one.rows, one.columns)
        )
        weights = np.array([one.weights], np.float32).reshape(1, len(rows), len(columns))
        found = Table("encoder", 0, (0,), rows, columns, weights, "reading")
        keeps = weights >= _LEAST
        if one.focus is not None:
            keeps[:, np.arange(len(rows)) != one.focus] = False
        shown = range(len(rows)) if one.focus is None else (one.focus,)
        true = {column for row, column in one.truth if row in shown}
        x = 44 + _columns(
            canvas, x, top, found, keeps, one.focus, gap=150.0, n=tallest, true=true
        )  # fmt: skip
    return canvas.finished()


def draw_overview(trace: Trace, view: View) -> Drawing:
    """Source on the left, target on the right: each side looks at itself in arcs, across in lines.

    The mean of the heads of one layer.
    """
    check_across(trace, "overview")
    trace.site("cross", trace.default_layer("cross"))  # or it says what is missing
    tables = {kind: _one_layer(trace, view, kind) for kind in _SIDES if trace.layers(kind)}
    source, target = tables["cross"].columns, tables["cross"].rows
    canvas = Canvas(view.theme)
    layers = ", ".join(f"{one.kind} layer {one.layer}" for one in tables.values())
    canvas.heading("Encoder and decoder", f"{layers} · mean of the heads · across: when predicting")
    names = {
        kind: f"{ATTENTIONS[kind].rows} looks at {ATTENTIONS[kind].columns}" for kind in tables
    }
    said = {kind: text_width(name, SMALL, is_bold=True) for kind, name in names.items()}
    words = [min(_LONGEST, max(60.0, widest(_texts(side)))) for side in (source, target)]
    arcs = _ARC if "encoder" in tables else 0.0
    start = max(MARGIN + arcs, MARGIN + said.get("encoder", 0.0) - words[0])
    left = start + words[0] + 8
    right = left + max(230.0, said["cross"] + 40)
    end = right + 8 + words[1]
    top = HEADING + 46
    n = max(len(source), len(target))
    y_source, y_target = (_heights(len(side), n, top) for side in (source, target))
    for kind, at, anchor in (
        ("encoder", left - 8, "end"),
        ("cross", (left + right) / 2, "middle"),
        ("decoder", right + 8, "start"),
    ):
        if kind in tables:
            canvas.text(at, top - 20, names[kind], SMALL, _SIDES[kind], anchor, is_bold=True)  # type: ignore[arg-type]
    _arc_lines(canvas, tables, (source, target), (start - 6, end + 6), (y_source, y_target))
    cells, weights = _strong_cells(tables["cross"].mean)
    points = _bows(left, right, y_source[cells[:, 1]], y_target[cells[:, 0]])
    _weighted(canvas, points, _SIDES["cross"], weights, 7.0)
    _words(canvas, source, left - 8, y_source, "end")
    _words(canvas, target, right + 8, y_target, "start")
    canvas.reach(end + (_ARC if "decoder" in tables else 0.0), top + n * _ROW + 4)
    return canvas.finished()


def _columns(
    canvas: Canvas, x: float, top: float, found: Table, keeps: Bool[np.ndarray, "H R C"],
    focus: int | None, *, gap: float = _GAP, n: int = 0, true: Set[int] = frozenset(),
) -> float:  # fmt: skip
    """Two columns of words and the lines between them; gives back where they end."""
    rows, columns = found.rows, found.columns
    n = max(n, len(rows), len(columns))
    room = max(
        widest(_texts(rows), is_bold=focus is not None), text_width(found.row_meaning, SMALL)
    )
    left = x + min(_LONGEST, room) + 8
    right = left + gap
    y_rows, y_columns = (_heights(len(side), n, top + 14) for side in (rows, columns))
    canvas.text(left - 8, top, found.row_meaning, SMALL, "soft", "end")
    canvas.text(right + 8, top, "looks at", SMALL, "soft")
    shown = found.mean if focus is None else found.mean[focus : focus + 1]
    most = shown.max(0) if shown.size else np.zeros(len(columns))
    texts = [shortened(label.text, _LONGEST) for label in columns]
    if focus is not None:
        lit = [j for j in range(len(columns)) if most[j] >= _LEAST]
        boxes = [(right + 3, y_columns[j] - 11, text_width(texts[j]) + 10, 22.0) for j in lit]
        canvas.boxes(boxes, fill="look", opacity=[float(most[j]) / 2 for j in lit], radius=5)
    canvas.boxes(
        [(right + 3, y_columns[j] - 11, text_width(texts[j]) + 10, 22.0) for j in sorted(true)],
        stroke="mark", width=1.6, radius=5,
    )  # fmt: skip
    _links(canvas, found, keeps, left, right, y_rows, y_columns)
    for i, label in enumerate(rows):
        is_loud = focus is None or i == focus
        colour = "soft" if label.is_special and is_loud else "ink" if is_loud else "faint"
        text = shortened(label.text, _LONGEST, is_bold=i == focus)
        canvas.text(left - 8, y_rows[i], text, BODY, colour, "end", is_bold=i == focus)
    for j, label in enumerate(columns):
        is_loud = focus is None or most[j] >= _LOUD or j in true
        colour = "soft" if label.is_special or not is_loud else "ink"
        canvas.text(right + 8, y_columns[j], texts[j], BODY, colour)
    canvas.reach(right, top + 14 + n * _ROW)
    return right + 8 + max(widest(texts), text_width("looks at", SMALL))


def _links(
    canvas: Canvas, found: Table, keeps: Bool[np.ndarray, "H R C"], left: float, right: float,
    y_rows: np.ndarray, y_columns: np.ndarray,
) -> None:  # fmt: skip
    """Faint lines first, so that strong ones lie on top; heads beside each other, not over."""
    places, values = np.argwhere(keeps), found.weights[keeps]
    order = np.argsort(values, kind="stable")
    heads, i, j = places[order].T
    weights, n_heads = values[order].astype(np.float64), len(found.heads)
    aside = (heads - (n_heads - 1) / 2) * min(2.4, 14 / n_heads)
    points = _bows(left, right, y_rows[i] + aside, y_columns[j] + aside)
    colours: Any = "look"
    if n_heads > 1:
        colours = [head_colour(found.heads[h]) for h in heads.tolist()]
    _weighted(canvas, points, colours, weights, _THICK / (n_heads**0.4 if n_heads > 1 else 1))


def _weighted(
    canvas: Canvas, points: np.ndarray, colours: Any, weights: np.ndarray, thick: float
) -> None:
    canvas.curves(
        points,
        colours,
        np.maximum(0.6, thick * weights),
        np.minimum(1.0, 0.18 + 0.8 * weights),
        is_smooth=True,
    )


def _bows(
    left: float, right: float, start: np.ndarray, end: np.ndarray
) -> Float[np.ndarray, "N 4 2"]:
    """Curves that leave and arrive level."""
    pull = 0.4 * (right - left)
    xs = np.broadcast_to([left, left + pull, right - pull, right], (len(start), 4))
    return np.stack([xs, np.stack([start, start, end, end], -1)], -1)


def _heights(n: int, of: int, top: float) -> Float[np.ndarray, " n"]:
    """Where the words of a column stand, in the middle of the picture."""
    return top + (np.arange(n) + 0.5 + (of - n) / 2) * _ROW


def _texts(side: Sequence[Label]) -> list[str]:
    return [label.text for label in side]


def _words(canvas: Canvas, side: Sequence[Label], x: float, at: np.ndarray, anchor: Any) -> None:
    for label, y in zip(side, at.tolist(), strict=True):
        colour = "soft" if label.is_special else "ink"
        canvas.text(x, y, shortened(label.text, _LONGEST), BODY, colour, anchor)


def _head_names(canvas: Canvas, heads: Sequence[int], y: float) -> float:
    """A coloured square and a number for each head, in as many lines as they need."""
    canvas.text(MARGIN, y, "heads", SMALL, "soft")
    start = MARGIN + text_width("heads", SMALL) + 10
    x = start
    for head in heads:
        canvas.boxes([(x, y - 5, 10, 10)], fill=head_colour(head), radius=2)
        canvas.text(x + 14, y, str(head), SMALL)
        x += 26 + text_width(str(head), SMALL)
        if x > start + 420 and head != heads[-1]:
            x, y = start, y + 18
    return y


def _usual_top_k(found: Table) -> int:
    n_rows = max(1, len(found.rows) * len(found.heads))
    return max(1, min(len(found.columns), _MOST_LINES // n_rows))


def _strongest(weights: Float[np.ndarray, "H R C"], top_k: int) -> Bool[np.ndarray, "H R C"]:
    """Which weights get a line: those that can be seen, and no more of a row than so many."""
    keeps: Bool[np.ndarray, "H R C"] = weights >= _LEAST
    if top_k < weights.shape[-1]:
        strongest = np.argpartition(-weights, top_k - 1, axis=-1)[..., :top_k]
        is_strong = np.zeros_like(keeps)
        np.put_along_axis(is_strong, strongest, True, axis=-1)
        keeps &= is_strong
    return keeps


def _one_layer(trace: Trace, view: View, kind: Kind) -> Table:
    layer = view.layer if view.layer in trace.layers(kind) else None
    found = find_table(
        trace, kind, layer, heads=view.heads, reading=ATTENTIONS[kind].reading, merges=view.merges
    )
    return found.without_special() if view.hides_special else found


def _strong_cells(weights: Float[np.ndarray, "R C"]) -> tuple[np.ndarray, np.ndarray]:
    """The cells worth a line, the faintest first, and their weights."""
    cells = np.argwhere(weights >= _LEAST_ARC)
    order = np.argsort(weights[tuple(cells.T)], kind="stable")[-_MOST_ARCS:]
    return cells[order], weights[tuple(cells[order].T)].astype(np.float64)


def _arc_lines(
    canvas: Canvas,
    tables: dict[Kind, Table],
    sides: tuple[Sequence[Label], Sequence[Label]],
    edges: tuple[float, float],
    heights: tuple[np.ndarray, np.ndarray],
) -> None:
    """From word to word of one side; looks at itself are no arcs, and <s> has no place here."""
    kinds: tuple[Kind, Kind] = ("encoder", "decoder")
    for kind, shown, x, at, sign in zip(kinds, sides, edges, heights, (-1, 1), strict=True):
        if kind not in tables:
            continue
        found = tables[kind]
        rows, columns = (_places(side, shown) for side in (found.rows, found.columns))
        _leaders(canvas, shown, x, at, sign)
        cells, weights = _strong_cells(found.mean)
        a, b = rows[cells[:, 0]], columns[cells[:, 1]]
        keeps = (a >= 0) & (b >= 0) & (a != b)
        a, b = a[keeps], b[keeps]
        bow = x + sign * np.minimum(_ARC, 14 + 11 * np.abs(a - b)) * 4 / 3
        xs = np.stack([np.full(len(a), x), bow, bow, np.full(len(a), x)], -1)
        ys = np.stack([at[a], at[a], at[b], at[b]], -1)
        _weighted(canvas, np.stack([xs, ys], -1), _SIDES[kind], weights[keeps], 7.0)


def _leaders(canvas: Canvas, shown: Sequence[Label], x: float, at: np.ndarray, sign: int) -> None:
    """Thin lines from words to where their arcs begin, which is beside the longest."""
    longest = min(_LONGEST, max(60.0, widest(_texts(shown))))
    gaps = [
        [(x, y), (x - sign * (6 + longest - text_width(label.text) - 5), y)]
        for label, y in zip(shown, at.tolist(), strict=True)
        if text_width(label.text) < longest - 8
    ]
    canvas.curves(gaps, "line")


def _places(side: Sequence[Label], shown: Sequence[Label]) -> np.ndarray:
    """Where each label stands in the column that is shown, or -1; the words are the same."""
    words = [i for i, label in enumerate(shown) if not label.is_special]
    ends = [i for i, label in enumerate(shown) if label.is_special]
    found, n_words = [], 0
    for label in side:
        if label.is_special:
            found.append(ends[0] if ends and n_words else -1)
        else:
            found.append(words[n_words] if n_words < len(words) else -1)
            n_words += 1
    return np.array(found, int)


def _wrapped(name: str) -> list[str]:
    return name.split("\n")
