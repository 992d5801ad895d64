"""What is drawn in a terminal: prose, and the one table of all verbs.

At a terminal there are colours, and nothing is wider than it. In a pipe, or where NO_COLOR is set,
there is plain text, and in a pipe nothing is cut unless COLUMNS says how wide it is.
"""

import io
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from unicodedata import category

from rich.cells import split_graphemes
from rich.console import Console
from rich.style import Style
from rich.text import Text

DOTS = "…"
DIM = Style(dim=True)
SHORTEST, SHORTEST_HEAD = 8, 4  # of what is cut
Parts = tuple[Text, ...]  # a list, shown as far as there is room
Cell = str | Text | Parts
MAX_PROSE, MIN_PROSE = 96, 20
UNBOUNDED = 10_000  # columns of a pipe
# Between letters these join or part them (Persian, Hindi, families of emoji); elsewhere they would
# swallow the blanks that align a column.
_JOINED = re.compile(r"(?<=\S)[\u200c\u200d](?=\S)")


def open_console(*, is_stderr: bool = False) -> Console:
    """Standard output, or standard error.

    A terminal without Unicode shows a question mark where it lacks a sign. A pipe is as wide as
    its lines, or as COLUMNS says.
    """
    stream = sys.stderr if is_stderr else sys.stdout
    if isinstance(stream, io.TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
        stream.reconfigure(errors="replace")
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    if os.environ.get("NO_COLOR"):  # which rich takes for a wish to have bold and dim all the same
        console = Console(
            file=stream, highlight=False, markup=False, emoji=False, color_system=None
        )
    if not console.is_terminal and not os.environ.get("COLUMNS", "").isdecimal():
        console.width = UNBOUNDED
    return console


def print_lines(console: Console, lines: Iterable[Text], indent: int = 0) -> None:
    """Print lines that were made to fit."""
    for line in lines:
        shown = Text.assemble(" " * indent, line)
        if not console.color_system:
            shown.rstrip()
        console.print(shown, no_wrap=True, overflow="ignore", crop=False)


def say(said: str | Text = "", style: str = "", *, indent: int = 0, wraps: bool = True) -> None:
    """Print prose, its further lines below its first word; a pipe has it in one line."""
    console = open_console()
    if isinstance(said, str):
        indent += len(said) - len(said.lstrip(" "))
        said = Text(clean(said.lstrip(" ")), style)
    if not wraps or console.width == UNBOUNDED:
        print_lines(console, [said], indent)
        return
    lines = said.wrap(console, max(MIN_PROSE, min(MAX_PROSE, console.width) - indent))
    for line in lines:
        line.rstrip()
    print_lines(console, lines, indent)


def clean(text: str) -> str:
    """The text without signs that would move the cursor; blanks of any kind stay."""
    if text.isprintable():
        return text
    joints = {found.start() for found in _JOINED.finditer(text)}
    return "".join(
        c if c.isprintable() or category(c) == "Zs" or i in joints else "�"
        for i, c in enumerate(text)
    )


@dataclass(frozen=True)
class Column:
    """How a column is set: words to the left, or to the right numbers, which are never cut.

    Where there is little room, heads and words are cut in their middle, but a column is never
    narrower than ``least`` cells; what ``wraps`` goes on in further lines of its own instead.
    """

    head: str | Text = ""
    align: Literal["left", "right"] = "left"
    least: int | None = None
    wraps: bool = False


def table(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int, *, gap: int = 2
) -> list[Text]:
    """The lines of a table, all of one width and none wider than ``width``.

    Rows may end early. Columns that have no room even when they are cut give way to an ellipsis
    before the last one.
    """
    heads = [Text(c.head, "bold") if isinstance(c.head, str) else c.head for c in columns]
    cells = [
        [_lines(cell) for cell in (*row, *[""] * (len(columns) - len(row)))]
        for row in (heads, *rows)
    ]
    least = [_least(column, [row[j] for row in cells]) for j, column in enumerate(columns)]
    n = _n_first(least, width, gap)
    if n < len(columns) - 1:
        columns = [*columns[:n], Column(), columns[-1]]
        cells = [[*row[:n], [Text(DOTS, DIM)], row[-1]] for row in cells]
        least = [*least[:n], 1, least[-1]]
    natural = [max(least[j], *(_width(row[j]) for row in cells)) for j in range(len(columns))]
    sizes = _narrowed(natural, least, width - gap * (len(columns) - 1))
    blocks = [
        [_block(cell, column, size) for cell, column, size in zip(row, columns, sizes, strict=True)]
        for row in cells
    ]
    has_heads = any(head.plain for head in heads)
    lines = beside(blocks[0], gap, at_bottom=True) if has_heads else []
    lines += [line for row in blocks[1:] for line in beside(row, gap)]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], gap: int = 2) -> None:
    """Print a table as wide as standard output has room for."""
    console = open_console()
    print_lines(console, table(columns, rows, console.width, gap=gap))


def beside(
    blocks: Sequence[Sequence[Text]], gap: int = 4, *, at_bottom: bool = False
) -> list[Text]:
    """Blocks of lines next to each other, their tops or their bottoms in one line."""
    height, lines = max(map(len, blocks), default=0), []
    for k in range(height):
        parts = []
        for block in blocks:
            at = k - (height - len(block)) if at_bottom else k
            parts.append(block[at] if 0 <= at < len(block) else Text(" " * block[0].cell_len))
        lines.append(Text(" " * gap).join(parts))
    return lines


def cut(text: Text, width: int) -> Text:
    """The text within so many cells, its middle left out where it must be."""
    if text.cell_len <= width:
        return text
    spans, _ = split_graphemes(text.plain)
    head, tail, room = 0, len(spans), width - len(DOTS)
    while room > 0 and head < tail:
        is_from_front = head <= len(spans) - tail
        size = spans[head if is_from_front else tail - 1][2]
        if size > room:
            break
        room -= size
        head, tail = (head + 1, tail) if is_from_front else (head, tail - 1)
    start, end = spans[tail - 1][1], spans[head][0]
    return Text.assemble(text[:end], (DOTS, text.style), text[start:]) if width > 0 else Text()


def _lines(cell: Cell) -> "Parts | list[Text]":
    if isinstance(cell, tuple):
        return tuple(map(_cleaned, cell))
    if isinstance(cell, str):
        return [Text(clean(line)) for line in cell.split("\n")]
    return [_cleaned(line) for line in cell.split("\n", allow_blank=True)]


def _cleaned(text: Text) -> Text:
    text.plain = clean(text.plain)
    return text


def _width(cell: "Parts | list[Text]") -> int:
    widths = [line.cell_len for line in cell]
    return sum(widths) + len(widths) - 1 if isinstance(cell, tuple) else max(widths, default=0)


def _least(column: Column, cells: "Sequence[Parts | list[Text]]") -> int:
    """How narrow a column may become; its head stands before the other cells."""
    if column.least is not None:
        return column.least
    head, widest = _width(cells[0]), max(map(_width, cells[1:]), default=0)
    most = widest if column.align == "right" else min(SHORTEST, widest)
    return max(most, min(SHORTEST_HEAD, head))


def _n_first(least: Sequence[int], width: int, gap: int) -> int:
    """How many columns there is room for before an ellipsis and the last; at least one."""
    n = len(least) - 1
    if n < 2 or sum(least) + gap * n <= width:
        return n
    while n > 1 and sum(least[:n]) + len(DOTS) + least[-1] + gap * (n + 1) > width:
        n -= 1
    return min(n, len(least) - 2)


def _narrowed(natural: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Widths that fit, taken from the widest column that may still be narrower."""
    sizes = list(natural)
    for _ in range(sum(sizes) - room):
        slack = [(size, j) for j, size in enumerate(sizes) if size > least[j]]
        if not slack:
            break
        sizes[max(slack)[1]] -= 1
    return sizes


def _block(cell: "Parts | list[Text]", column: Column, size: int) -> list[Text]:
    """The lines of a cell, each of exactly that many cells; at least one."""
    if isinstance(cell, tuple):
        lines = [_listed(cell, size)]
    elif column.wraps:
        lines = [part for line in cell for part in line.wrap(Console(), max(1, size))]
    else:
        lines = [cut(line, size) for line in cell]
    lines = lines or [Text()]
    for line in lines:
        line.align(column.align, size)
    return lines


def _listed(parts: Parts, size: int) -> Text:
    """As many parts as there is room for, and an ellipsis for the others."""
    shown = list(parts)
    while shown and _width((*shown, *([Text(DOTS)] if len(shown) < len(parts) else []))) > size:
        shown.pop()
    left_out = [Text(DOTS, DIM)] if len(shown) < len(parts) else []
    return Text(" ").join([*shown, *left_out])
