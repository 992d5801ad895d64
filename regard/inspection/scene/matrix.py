"""Matrices of shades: one head, the alignment of a translation, or every head at a glance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.inspection.figures.view import View, check_across, named, named_heads
from regard.inspection.scene.frame import (
    HEADING,
    MARGIN,
    SMALL,
    capitalised,
    heading,
    heading_width,
    noted,
)
from regard.inspection.scene.items import Heat, Item, Path, Rectangle, Scene, Text
from regard.inspection.scene.measure import is_wide, shortened, text_width
from regard.inspection.trace import Label, Table, Trace, table
from regard.shapes import Float

_LARGEST, _SMALLEST, _SPAN = 32.0, 0.5, 1000.0  # a cell's side; what a long side is squeezed into
_LABEL = 13.0
_LONGEST_LABEL = 150.0
_READABLE = 24.0  # cells this large hold their number
_SLANT = 0.82  # the sine of 55 degrees
_BAR = 120.0
_MOST_CELLS = 132  # along a side of a small matrix: as many as its pixels
_LONG, _SHORT, _APART, _NAMES = 132.0, 44.0, 14.0, 62.0


@dataclass(frozen=True)
class Squares:
    """A drawn matrix: its items, and where its cells begin, end and how large they are."""

    items: list[Item]
    left: float
    top: float
    right: float
    bottom: float
    cell: float


def matrix(trace: Trace, view: View) -> Scene:
    """The mean of the chosen heads, darker where a row looks more."""
    table = view.table(trace)
    n_heads = trace.site(table.kind, table.layer).n_heads
    title = named(table)
    mean = "mean of " if len(table.heads) > 1 else ""
    below = f"{mean}{named_heads(table.heads, n_heads)} · {rows_and_columns(table)}"
    items = heading(title, below)
    focus = None if view.word is None else table.row(view.word)
    drawn = squares(table.mean, table.rows, table.columns, MARGIN, HEADING + 8, focus=focus)
    items += drawn.items
    bar_top = drawn.bottom + 18
    items += ramp_bar(drawn.left, bar_top)
    width = max(drawn.right + MARGIN, heading_width(title, below), drawn.left + _BAR + 60)
    return noted(items, [], width, bar_top + 24, view.theme)


def rows_and_columns(table: Table) -> str:
    """What a row is and what a column is, in a few words."""
    return f"rows: {table.row_meaning} · columns: looks at"


def squares(
    values: Float[np.ndarray, "R C"],
    rows: Sequence[Label],
    columns: Sequence[Label],
    x: float,
    y: float,
    *,
    focus: int | None = None,
) -> Squares:
    """The cells with their labels; long sentences have small cells, and few or no labels."""
    longest = max(len(rows), len(columns), 1)
    cell = max(_SMALLEST, min(_LARGEST, _SPAN / longest))
    size = min(_LABEL, max(7.0, 0.8 * cell))
    every = max(1, int(np.ceil((size + 1.5) / cell)))
    row_texts = [shortened(label.text, _LONGEST_LABEL, size) for label in rows]
    column_texts = [shortened(label.text, _LONGEST_LABEL, size) for label in columns]
    left = x + max([text_width(text, size) for text in row_texts], default=0) + 8
    turned = _turned(columns, column_texts, cell, size)
    tall = max([text_width(column_texts[j], size) for j in turned], default=0)
    top = y + max(size + 12, tall * _SLANT + size + 8 if turned else 0)
    right, bottom = left + cell * len(columns), top + cell * len(rows)
    overhang = 0.0
    items: list[Item] = [
        Heat(
            left,
            top,
            right - left,
            bottom - top,
            values,
            tuple(label.text for label in rows),
            tuple(label.text for label in columns),
        )
    ]
    for i in range(0, len(rows), every):
        at = top + (i + 0.5) * cell
        colour = "soft" if rows[i].is_special else "ink"
        bold = i == focus
        items.append(Text(left - 8, at, row_texts[i], size, colour, "end", is_bold=bold, row=i))
    for j in range(0, len(columns), every):
        at = left + (j + 0.5) * cell
        colour = "soft" if columns[j].is_special else "ink"
        if j not in turned:
            items.append(Text(at, top - size, column_texts[j], size, colour, "middle", column=j))
        else:
            items.append(Text(at, top - 8, column_texts[j], size, colour, turned=-55.0, column=j))
            reach = at + 0.58 * text_width(column_texts[j], size)
            overhang = max(overhang, reach - right)
    if cell >= _READABLE and len(rows) * len(columns) <= 1_200:
        items += _numbers(values, left, top, cell)
    items += _grid_lines(len(rows), len(columns), left, top, cell)
    if focus is not None:
        items.append(
            Rectangle(
                *(left, top + focus * cell, right - left, cell), stroke="mark", stroke_width=1.5
            )
        )
    return Squares(items, left, top, right + max(0.0, overhang), bottom, cell)


def ramp_bar(x: float, y: float, high: str = "1") -> list[Item]:
    """What the shades mean."""
    shades = np.linspace(0, 1, 64, dtype=np.float32)[None]
    return [
        Text(x, y, "0", SMALL, "soft"),
        Heat(x + 14, y - 5, _BAR, 10, shades, tells=False, tip="weights from 0 to 1"),
        Text(x + 14 + _BAR + 6, y, high, SMALL, "soft"),
    ]


def _turned(
    columns: Sequence[Label], texts: Sequence[str], cell: float, size: float
) -> frozenset[int]:
    """The labels that lie aslant; Chinese characters stand, and so does all that is short."""
    wide = {
        j
        for j, text in enumerate(texts)
        if text_width(text, size) > cell or not (len(text) <= 2 or all(map(is_wide, text)))
    }
    if all(columns[j].is_special for j in wide):
        return frozenset(wide)
    # One word that lies lets all lie that could.
    return frozenset(j for j, text in enumerate(texts) if j in wide or not any(map(is_wide, text)))


def _numbers(values: Float[np.ndarray, "R C"], left: float, top: float, cell: float) -> list[Item]:
    """Percents, where there are at least five."""
    return [
        Text(
            left + (j + 0.5) * cell,
            top + (i + 0.5) * cell,
            str(round(100 * float(values[i, j]))),
            0.34 * cell,
            "pale" if values[i, j] >= 0.5 else "ink",
            "middle",
            row=i,
            column=j,
        )
        for i, j in np.argwhere(values >= 0.05).tolist()
    ]


def _grid_lines(n_rows: int, n_columns: int, left: float, top: float, cell: float) -> list[Item]:
    if cell < 6:
        return []
    right, bottom = left + n_columns * cell, top + n_rows * cell
    width = 1.5 if cell >= 16 else 0.5
    across: list[Item] = [
        Path(((left, top + i * cell), (right, top + i * cell)), "ground", width)
        for i in range(1, n_rows)
    ]
    down: list[Item] = [
        Path(((left + j * cell, top), (left + j * cell, bottom)), "ground", width)
        for j in range(1, n_columns)
    ]
    return across + down


def alignment(trace: Trace, view: View) -> Scene:
    """Target words over source words, in the layer that aligns best; the largest are outlined.

    <EOS> is left out and what remains of a row sums to one again, as ``Translator.align`` does.
    """
    check_across(trace, "alignment")
    found = table(
        trace,
        "cross",
        view.layer,
        heads=view.heads,
        reading=view.reading,
        merges=view.merges,
    )
    found = found.without_special()
    values = found.mean
    totals = values.sum(-1, keepdims=True)
    values = np.divide(values, totals, out=values.copy(), where=totals > 0)
    title = "Which source word each word looked at"
    n_heads = trace.site("cross", found.layer).n_heads
    mean = "mean of " if len(found.heads) > 1 else ""
    below = (
        f"decoder layer {found.layer}, {mean}{named_heads(found.heads, n_heads)} · "
        f"rows: {found.row_meaning} · columns: source"
    )
    items = heading(title, below)
    drawn = squares(values, found.rows, found.columns, MARGIN, HEADING + 8)
    items += drawn.items
    cell = drawn.cell
    if cell >= 6 and len(found.columns):
        for i, row in enumerate(values):
            j = int(row.argmax())
            items.append(
                Rectangle(
                    drawn.left + j * cell + 1,
                    drawn.top + i * cell + 1,
                    cell - 2,
                    cell - 2,
                    stroke="mark",
                    stroke_width=1.8,
                    radius=2,
                )
            )
    bar = drawn.bottom + 18
    items += ramp_bar(drawn.left, bar)
    items.append(Rectangle(drawn.left + 172, bar - 5, 10, 10, stroke="mark", stroke_width=1.8))
    items.append(Text(drawn.left + 188, bar, "largest of the row", SMALL, "soft"))
    width = max(drawn.right + MARGIN, heading_width(title, below), drawn.left + 310)
    return noted(items, [], width, bar + 24, view.theme)


def grid(trace: Trace, view: View) -> Scene:
    """Layers downwards, heads to the right; a dashed name marks a head that prefers nothing."""
    kind = view.kind(trace)
    layers = trace.layers(kind)
    if view.layer is not None or not layers:
        layers = (trace.site(kind, view.layer or 0).layer,)
    tables = []
    for layer in layers:
        one = table(
            trace,
            kind,
            layer,
            heads=view.heads,
            reading=view.reading,
            merges=view.merges,
        )
        tables.append(one.without_special() if view.hides_special else one)
    title = f"{capitalised(trace.sites_of(kind)[0].attention.name)}, every head"
    first = tables[0]
    below = (
        f"{len(first.rows)} rows: {first.row_meaning} · "
        f"{len(first.columns)} columns: looks at · stronger = more"
    )
    items = heading(title, below)
    longest = max(len(first.rows), len(first.columns), 1)
    width = max(_SHORT, _LONG * len(first.columns) / longest)
    height = max(_SHORT, _LONG * len(first.rows) / longest)
    left, top = MARGIN + _NAMES, HEADING + 34
    for place, head in enumerate(first.heads):
        x = left + place * (width + _APART)
        items.append(Text(x + width / 2, top - 12, f"head {head}", SMALL, "soft", "middle"))
    has_uniform = False
    for down, one in enumerate(tables):
        y = top + down * (height + _APART)
        items.append(Text(left - 10, y + height / 2, f"layer {one.layer}", SMALL, "soft", "end"))
        is_uniform = trace.site(one.kind, one.layer).is_uniform
        for place, head in enumerate(one.heads):
            x = left + place * (width + _APART)
            even = is_uniform[head]
            has_uniform |= even
            tip = f"layer {one.layer}, head {head}" + (": nearly uniform" if even else "")
            small = _pooled(one.weights[place])
            items.append(Heat(x, y, width, height, small, tells=False, tip=tip))
            items.append(
                Rectangle(
                    *(x - 0.5, y - 0.5, width + 1, height + 1),
                    stroke="mark" if even else "line",
                    stroke_width=1.5 if even else 1.0,
                )
            )
    n_heads = len(first.heads)
    right = left + n_heads * (width + _APART) - _APART + MARGIN
    notes = ["outlined: almost the same weight everywhere"] if has_uniform else []
    bottom = top + len(tables) * (height + _APART) + 6
    return noted(items, notes, max(right, heading_width(title, below)), bottom, view.theme)


def _pooled(values: Float[np.ndarray, "R C"]) -> Float[np.ndarray, "r c"]:
    """The largest of each block, so that a thin diagonal of a long sentence is still seen."""
    for axis in (0, 1):
        n = values.shape[axis]
        block = -(-n // _MOST_CELLS)
        if block > 1:
            values = np.maximum.reduceat(values, np.arange(0, n, block), axis=axis)
    return values
