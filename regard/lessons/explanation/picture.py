"""An explanation as one tall picture: every step with its formula, words and tables."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from regard.inspection.scene.frame import BODY, MARGIN, SMALL, TITLE
from regard.inspection.scene.items import Item, Number, Path, Scene, Text
from regard.inspection.scene.measure import shortened, text_width
from regard.lessons.explanation.steps import Explanation, Step, Table
from regard.lessons.explanation.table_picture import drawn_table

_WIDTH = 980.0  # of what is written; pictures are as wide as that and their margins
_LINE = 20.0
_INDENT = 30.0
_BETWEEN = 34.0  # tables that stand side by side
_BELOW = 16.0


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


def _put_step(items: list[Item], number: int, step: Step, y: Number) -> Number:
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


def _block(table: Table, room: Number) -> _Block:
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
