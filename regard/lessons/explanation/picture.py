"""An explanation as one tall picture: every step with its formula, words and tables."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from regard.inspection.scene.frame import BODY, MARGIN, SMALL, TITLE
from regard.inspection.scene.items import Heat, Item, Number, Path, Rectangle, Scene, Text
from regard.inspection.scene.measure import shortened, text_width
from regard.lessons.explanation.steps import Cell, ExplainedStep, Explanation, NumberTable

_WIDTH = 980.0  # of what is written; pictures are as wide as that and their margins
_LINE = 20.0
_INDENT = 30.0
_BETWEEN = 34.0  # tables that stand side by side
_BELOW = 16.0
_CELL, _ROW = 46.0, 19.0
_TALLEST = 760.0  # of a table with more rows than can be read
_LABEL = 120.0
_BAR, _NUMBER = 300.0, 52.0
_APART = 24.0
_HEADER = 16.0
_MOST_READ = 900  # cells with a number of their own

Drawn = tuple[list[Item], Number, Number]  # items at the origin, their width and height


@dataclass(frozen=True)
class _Block:
    """Items drawn at the origin, and the room they take."""

    items: list[Item]
    width: Number
    height: Number


def explained(explanation: Explanation, theme: str = "light") -> Scene:
    """The whole explanation, from top to bottom."""
    items: list[Item] = [
        Text(MARGIN, MARGIN + 8, explanation.title, TITLE + 2, "ink", is_bold=True)
    ]
    y = MARGIN + 36
    y = _put_lines(items, wrapped(explanation.lead, _WIDTH, SMALL + 1), MARGIN, y, "soft")
    for number, step in enumerate(explanation.steps, start=1):
        y = _put_step(items, number, step, y + 22)
    return Scene(_WIDTH + 2 * MARGIN, round(y + MARGIN, 1), tuple(items), explanation.title, theme)


def _put_step(items: list[Item], number: int, step: ExplainedStep, y: Number) -> Number:
    items.append(Text(MARGIN + 20, y, str(number), BODY + 1, "mark", "end", is_bold=True))
    items.append(Text(MARGIN + _INDENT, y, step.title, BODY + 1, "ink", is_bold=True))
    room = _WIDTH - _INDENT
    y = _put_lines(items, wrapped(step.formula, room, BODY), MARGIN + _INDENT, y + 24, "look")
    y = _put_lines(items, wrapped(step.prose, room, SMALL + 1), MARGIN + _INDENT, y, "soft")
    for row in _side_by_side([_block(table, room) for table in step.tables], room):
        x = MARGIN + _INDENT
        for block in row:
            items += (_moved(item, x, y + 4) for item in block.items)
            x += block.width + _BETWEEN
        y += max(block.height for block in row) + _BELOW
    return y


def _put_lines(items: list[Item], lines: list[str], x: Number, y: Number, colour: str) -> Number:
    for line in lines:
        items.append(Text(x, y, line, BODY if colour == "look" else SMALL + 1, colour))
        y += _LINE
    return y


def _block(table: NumberTable, room: Number) -> _Block:
    """A table with its name above it."""
    cells, width, height = drawn_table(table, room)
    name = shortened(table.name, room, SMALL + 1)
    heading: list[Item] = [Text(0, 8, name, SMALL + 1, "ink", is_bold=True)]
    at = 1.1 * text_width(name, SMALL + 1) + 10
    if table.probe and at + text_width(table.probe, SMALL - 1) <= room:
        heading.append(Text(at, 8, table.probe, SMALL - 1, "faint"))
        at += text_width(table.probe, SMALL - 1)
    below = (_moved(item, 0, 20) for item in cells)
    return _Block([*heading, *below], max(width, at), height + 20)


def _side_by_side(blocks: list[_Block], room: Number) -> Iterator[list[_Block]]:
    """Blocks of one height beside each other, as many as there is room for."""
    row: list[_Block] = []
    for block in blocks:
        used = sum(one.width + _BETWEEN for one in row)
        if row and (used + block.width > room or block.height != row[0].height):
            yield row
            row = []
        row.append(block)
    if row:
        yield row


def _moved(item: Item, x: Number, y: Number) -> Item:
    if isinstance(item, Path):
        return replace(item, points=tuple((a + x, b + y) for a, b in item.points))
    return replace(item, x=round(item.x + x, 2), y=round(item.y + y, 2))


def wrapped(text: str, most: Number, size: Number) -> list[str]:
    """The words of a text in lines that are no wider; runs of spaces between formulas stay."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and text_width(longer, size) > most:
            lines.append(word)
        else:
            lines[-1] = longer
    return [shortened(line, most, size) for line in lines]


def drawn_table(table: NumberTable, room: Number) -> Drawn:
    """The table within ``room``, its first row at the top."""
    match table.look:
        case "text":
            return _words(table, room)
        case "bars":
            return _bars(table)
        case _:
            return _shades(table, room)


def _words(table: NumberTable, room: Number) -> Drawn:
    rows = [("", *table.columns), *((r, *c) for r, c in zip(table.rows, table.cells, strict=True))]
    widths = [
        max(text_width(str(row[j]), SMALL) for row in rows) + _APART
        for j in range(len(table.columns) + 1)
    ]
    items: list[Item] = []
    for i, row in enumerate(rows):
        x = 0.0
        for j, cell in enumerate(row):
            is_pointed = table.focus is not None and i - 1 == table.focus
            colour = "soft" if i == 0 or j == 0 else "ink"
            text = shortened(str(cell), max(20.0, room - x), SMALL)
            items.append(Text(x, (i + 0.5) * _ROW, text, SMALL, colour, is_bold=is_pointed))
            x += widths[j]
    return items, min(room, sum(widths)), len(rows) * _ROW


def _bars(table: NumberTable) -> Drawn:
    left = _label_width(table) + 8
    shares = [float(row[0]) for row in table.cells]
    largest = max(shares, default=0.0) or 1.0
    items: list[Item] = []
    height = _row_height(len(shares))
    for i, share in enumerate(shares):
        y = (i + 0.5) * height
        if height >= 10:
            items += _row_label(table, i, left - 8, y, height)
            number = f"{share:.{table.decimals}f}"
            items.append(Text(left + _NUMBER - 10, y, number, _size(height), "ink", "end"))
        length = round(max(0.5, _BAR * share / largest), 2)
        items.append(
            Rectangle(
                left + _NUMBER, y - 0.36 * height, length, 0.72 * height,
                fill="mark", radius=2, tip=f"{table.rows[i]}: {share:.4f}",
            )
        )  # fmt: skip
    return items, left + _NUMBER + _BAR, len(shares) * height


def _shades(table: NumberTable, room: Number) -> Drawn:
    left = _label_width(table) + 8
    n_rows, n_columns = len(table.rows), len(table.columns)
    height = _row_height(n_rows)
    width = min(_CELL, (room - left) / max(1, n_columns))
    values = np.array(
        [[math.nan if isinstance(c, str) else float(c) for c in row] for row in table.cells]
    ).reshape(n_rows, n_columns)
    known = np.where(np.isfinite(values), values, 0.0)
    high = 1.0 if table.look == "share" else float(np.abs(known).max(initial=0.0)) or 1.0
    items = _column_labels(table, left, width)
    items.append(
        Heat(
            left, _HEADER, width * n_columns, height * n_rows,
            known.astype(np.float32), table.rows, table.columns,
            low=0.0 if table.look == "share" else -high, high=high,
            ramp="weights" if table.look == "share" else "signed",
            tells=n_rows * n_columns <= 4 * _MOST_READ,
        )
    )  # fmt: skip
    # A table of whole numbers is written whole.
    decimals = table.decimals if (known != np.rint(known)).any() else 0
    is_read = width >= 36 and height >= 14 and n_rows * n_columns <= _MOST_READ
    for i, row in enumerate(table.cells):
        y = _HEADER + (i + 0.5) * height
        if height >= 10 or i % 10 == 0:
            items += _row_label(table, i, left - 8, y, height)
        for j, cell in enumerate(row):
            is_strange = isinstance(cell, str) or not math.isfinite(cell)
            if is_read or (is_strange and width >= 14 and height >= 10):
                x = left + (j + 0.5) * width
                share = abs(float(known[i, j])) / high
                colour = "faint" if is_strange else "pale" if share > 0.6 else "ink"
                said = _said(cell, decimals)
                items.append(Text(x, y, said, SMALL - 1, colour, "middle"))
    if table.focus is not None and n_rows > 1:
        top = _HEADER + table.focus * height
        items.append(
            Rectangle(left, top, width * n_columns, height, stroke="mark", stroke_width=1.5)
        )
    return items, left + width * n_columns, _HEADER + height * n_rows


def _said(cell: Cell, decimals: int) -> str:
    if isinstance(cell, str):
        return cell
    if math.isinf(cell):
        return "∞" if cell > 0 else "-∞"
    if math.isnan(cell):
        return "NaN"
    written = f"{cell:.{decimals}f}" if isinstance(cell, float) else str(cell)
    return written.removeprefix("-") if float(written) == 0 else written


def _column_labels(table: NumberTable, left: Number, width: Number) -> list[Item]:
    """Names above the columns, as many as can be read."""
    widest = max((text_width(name, SMALL - 1) for name in table.columns), default=0.0)
    every = max(1, math.ceil(min(widest + 4, _CELL) / width)) if width else 1
    return [
        Text(
            left + (j + 0.5) * width, _HEADER - 8,
            shortened(table.columns[j], max(width * every - 2, 12.0), SMALL - 1),
            SMALL - 1, "soft", "middle",
        )
        for j in range(0, len(table.columns), every)
    ]  # fmt: skip


def _row_label(table: NumberTable, i: int, x: Number, y: Number, height: Number) -> list[Item]:
    text = shortened(table.rows[i], _LABEL, SMALL)
    return [Text(x, y, text, _size(height), "ink", "end", is_bold=i == table.focus)]


def _label_width(table: NumberTable) -> Number:
    widths = (1.08 * text_width(shortened(row, _LABEL, SMALL), SMALL) for row in table.rows)
    return max(widths, default=0.0)


def _row_height(n_rows: int) -> Number:
    return min(_ROW, max(1.0, _TALLEST / max(1, n_rows)))


def _size(height: Number) -> Number:
    return min(SMALL, max(6.0, 0.8 * height))
