"""A matrix of shades: rows look, columns are looked at; sentences of thousands of words too."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.inspection.scene.frame import (
    HEADING,
    MARGIN,
    SMALL,
    heading,
    heading_width,
    named,
    named_heads,
    noted,
)
from regard.inspection.scene.items import Heat, Item, Path, Rectangle, Scene, Text
from regard.inspection.scene.measure import is_wide, shortened, text_width
from regard.inspection.scene.view import View
from regard.inspection.trace import Label, Table, Trace
from regard.shapes import Float

_LARGEST, _SMALLEST, _SPAN = 32.0, 0.5, 1000.0  # a cell's side; what a long side is squeezed into
_LABEL = 13.0
_LONGEST_LABEL = 150.0
_READABLE = 24.0  # cells this large hold their number
_SLANT = 0.82  # the sine of 55 degrees
_BAR = 120.0


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
