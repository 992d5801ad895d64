"""An explanation as one tall picture: every step with its formula, words and tables."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from regard.inspection.figures import Canvas, DrawnFigure
from regard.inspection.figures.canvas import BODY, MARGIN, SMALL, TITLE
from regard.lessons.explanation.steps import Cell, ExplainedStep, Explanation, NumberTable

_WIDTH = 980.0  # of what is written; pictures are as wide as that and their margins
_LINE = 20.0
_INDENT = 30.0
_BETWEEN = 34.0  # tables that stand side by side
_BELOW = 16.0
_CELL, _WIDEST, _ROW = 46.0, 96.0, 19.0
_TALLEST = 760.0  # of a table with more rows than can be read
_LABEL = 120.0
_BAR, _NUMBER = 300.0, 52.0
_APART = 24.0
_HEADER = 16.0
_MOST_READ = 900  # cells with a number of their own


@dataclass(frozen=True)
class _Block:
    """The room that something takes, and how it is drawn with its corner at (x, y)."""

    width: float
    height: float
    draw: Callable[[Canvas, float, float], None]


def explained(explanation: Explanation, theme: str = "light") -> DrawnFigure:
    """The whole explanation, from top to bottom."""
    canvas = Canvas(theme)
    canvas.text(MARGIN, MARGIN + 8, explanation.title, TITLE + 2, is_bold=True)
    lead = wrapped(explanation.lead, _WIDTH, SMALL + 1)
    y = _put_lines(canvas, lead, MARGIN, MARGIN + 36, "soft")
    for number, step in enumerate(explanation.steps, start=1):
        y = _put_step(canvas, number, step, y + 22)
    canvas.reach(MARGIN + _WIDTH, y)
    return canvas.finished(explanation.title)


def _put_step(canvas: Canvas, number: int, step: ExplainedStep, y: float) -> float:
    left, room = MARGIN + _INDENT, _WIDTH - _INDENT
    canvas.text(MARGIN + 20, y, str(number), BODY + 1, "mark", "end", is_bold=True)
    canvas.text(left, y, step.title, BODY + 1, is_bold=True)
    y = _put_lines(canvas, wrapped(step.formula, room, BODY), left, y + 24, "look")
    y = _put_lines(canvas, wrapped(step.prose, room, SMALL + 1), left, y, "soft")
    for row in _side_by_side([_block(table, room) for table in step.tables], room):
        x = left
        for block in row:
            block.draw(canvas, x, y + 4)
            x += block.width + _BETWEEN
        y += max(block.height for block in row) + _BELOW
    return y


def _put_lines(canvas: Canvas, lines: list[str], x: float, y: float, colour: str) -> float:
    for line in lines:
        canvas.text(x, y, line, BODY if colour == "look" else SMALL + 1, colour)
        y += _LINE
    return y


def wrapped(text: str, most: float, size: float) -> list[str]:
    """The words of a text in lines that are no wider; runs of spaces between formulas stay."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and Canvas.text_width(longer, size) > most:
            lines.append(word)
        else:
            lines[-1] = longer
    return [Canvas.shortened(line, most, size) for line in lines]


def _side_by_side(blocks: list[_Block], room: float) -> Iterator[list[_Block]]:
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


def _block(table: NumberTable, room: float) -> _Block:
    """A table with its name above it."""
    drawn = {"text": _words, "bars": _bars}.get(table.look, _shades)(table, room)
    name = Canvas.shortened(table.name, room, SMALL + 1, is_bold=True)
    at = Canvas.text_width(name, SMALL + 1, is_bold=True) + 10
    probe = table.probe or ""
    if at + Canvas.text_width(probe, SMALL - 1) > room:
        probe = ""
    width = at + Canvas.text_width(probe, SMALL - 1)

    def draw(canvas: Canvas, x: float, y: float) -> None:
        canvas.text(x, y + 8, name, SMALL + 1, is_bold=True)
        canvas.text(x + at, y + 8, probe, SMALL - 1, "faint")
        drawn.draw(canvas, x, y + 20)

    return _Block(max(drawn.width, width), drawn.height + 20, draw)


def _words(table: NumberTable, room: float) -> _Block:
    rows = [("", *table.columns), *((r, *c) for r, c in zip(table.rows, table.cells, strict=True))]
    widths = [
        Canvas.widest([str(row[j]) for row in rows], SMALL, is_bold=True) + _APART
        for j in range(len(table.columns) + 1)
    ]
    starts = np.cumsum([0.0, *widths]).tolist()

    def draw(canvas: Canvas, x: float, y: float) -> None:
        for i, row in enumerate(rows):
            is_pointed = table.focus is not None and i - 1 == table.focus
            for j, cell in enumerate(row):
                text = Canvas.shortened(
                    str(cell), max(20.0, room - starts[j]), SMALL, is_bold=is_pointed
                )
                colour = "soft" if i == 0 or j == 0 else "ink"
                at = y + (i + 0.5) * _ROW
                canvas.text(x + starts[j], at, text, SMALL, colour, is_bold=is_pointed)

    return _Block(min(room, starts[-1]), len(rows) * _ROW, draw)


def _bars(table: NumberTable, room: float) -> _Block:
    left = _label_width(table) + 8
    shares = [float(row[0]) for row in table.cells]
    largest = max(shares, default=0.0) or 1.0
    height = _row_height(len(shares))

    def draw(canvas: Canvas, x: float, y: float) -> None:
        boxes = []
        for i, share in enumerate(shares):
            at = y + (i + 0.5) * height
            if height >= 10:
                _row_label(canvas, table, i, x + left - 8, at, height)
                number = f"{share:.{table.decimals}f}"
                canvas.text(x + left + _NUMBER - 10, at, number, _size(height), "ink", "end")
            length = max(0.5, _BAR * share / largest)
            boxes.append((x + left + _NUMBER, at - 0.36 * height, length, 0.72 * height))
        canvas.boxes(boxes, fill="mark", radius=2)

    return _Block(left + _NUMBER + _BAR, len(shares) * height, draw)


def _shades(table: NumberTable, room: float) -> _Block:
    left = _label_width(table) + 8
    n_rows, n_columns = len(table.rows), len(table.columns)
    height = _row_height(n_rows)
    wanted = min(_WIDEST, max(_CELL, Canvas.widest(table.columns, SMALL - 1) + 8))
    width = min(wanted, (room - left) / max(1, n_columns))
    values = np.array(
        [[math.nan if isinstance(c, str) else float(c) for c in row] for row in table.cells]
    ).reshape(n_rows, n_columns)
    known = np.where(np.isfinite(values), values, 0.0)
    is_share = table.look == "share"
    high = 1.0 if is_share else float(np.abs(known).max(initial=0.0)) or 1.0
    low, ramp = (0.0, "weights") if is_share else (-high, "signed")

    def draw(canvas: Canvas, x: float, y: float) -> None:
        start, top = x + left, y + _HEADER
        _column_labels(canvas, table, start, top, width)
        box = (start, top, width * n_columns, height * n_rows)
        canvas.heat(*box, known, low=low, high=high, name=ramp, most_shapes=4 * _MOST_READ)
        for i in range(n_rows):
            if height >= 10 or i % 10 == 0:
                _row_label(canvas, table, i, start - 8, top + (i + 0.5) * height, height)
        _numbers(canvas, table, known / high, start, top, (width, height))
        if table.focus is not None and n_rows > 1:
            row = (start, top + table.focus * height, width * n_columns, height)
            canvas.boxes([row], stroke="mark", width=1.5)

    return _Block(left + width * n_columns, _HEADER + height * n_rows, draw)


def _numbers(
    canvas: Canvas,
    table: NumberTable,
    shares: np.ndarray,
    left: float,
    top: float,
    cell: tuple[float, float],
) -> None:
    """The number of every cell, or of those alone that have no shade, where they can be read."""
    width, height = cell
    # A table of whole numbers is written whole.
    numbers = [float(c) for row in table.cells for c in row if not isinstance(c, str)]
    is_whole = all(not math.isfinite(number) or number == int(number) for number in numbers)
    is_read = width >= 36 and height >= 14 and shares.size <= _MOST_READ
    for i, row in enumerate(table.cells):
        for j, one in enumerate(row):
            is_strange = isinstance(one, str) or not math.isfinite(one)
            if is_read or (is_strange and width >= 14 and height >= 10):
                is_deep = abs(float(shares[i, j])) > 0.6
                colour = "faint" if is_strange else "pale" if is_deep else "ink"
                said = _said(one, 0 if is_whole else table.decimals)
                x, y = left + (j + 0.5) * width, top + (i + 0.5) * height
                canvas.text(x, y, said, SMALL - 1, colour, "middle")


def _said(cell: Cell, decimals: int) -> str:
    if isinstance(cell, str):
        return cell
    if math.isinf(cell):
        return "∞" if cell > 0 else "-∞"
    if math.isnan(cell):
        return "NaN"
    written = f"{cell:.{decimals}f}" if isinstance(cell, float) else str(cell)
    return written.removeprefix("-") if float(written) == 0 else written


def _column_labels(
    canvas: Canvas, table: NumberTable, left: float, top: float, width: float
) -> None:
    """Names above the columns, as many as can be read."""
    wide = Canvas.widest(table.columns, SMALL - 1)
    every = max(1, math.ceil(min(wide + 4, _WIDEST) / width)) if width else 1
    for j in range(0, len(table.columns), every):
        text = Canvas.shortened(table.columns[j], max(width * every - 2, 12.0), SMALL - 1)
        x = left + (j + 0.5) * width
        canvas.text(x, top - 8, text, SMALL - 1, "soft", "middle")


def _row_label(
    canvas: Canvas, table: NumberTable, i: int, x: float, y: float, height: float
) -> None:
    is_bold = i == table.focus
    text = Canvas.shortened(table.rows[i], _LABEL, SMALL, is_bold=is_bold)
    canvas.text(x, y, text, _size(height), "ink", "end", is_bold=is_bold)


def _label_width(table: NumberTable) -> float:
    return min(_LABEL, Canvas.widest(table.rows, SMALL, is_bold=True))


def _row_height(n_rows: int) -> float:
    return min(_ROW, max(1.0, _TALLEST / max(1, n_rows)))


def _size(height: float) -> float:
    return min(SMALL, max(6.0, 0.8 * height))
