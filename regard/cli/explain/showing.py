"""An explanation on the screen: colours in a terminal, plain text in a pipe, or JSON."""

import json
import math
import sys

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from regard.cli.heat import bar, heat, heat_map, kept, row_label, shade, with_gaps
from regard.cli.terminal import (
    DIM,
    DOTS,
    Column,
    beside,
    clean,
    cut,
    open_console,
    print_lines,
    say,
    table,
)
from regard.lessons.explanation import Cell, ExplainedStep, Explanation, NumberTable
from regard.text.tokens import Label

INDENT, GAP, WIDEST, LONGEST_FORMULA = 3, 4, 120, 93
BETWEEN = " " * 4  # formulas that stand side by side
MAX_ROWS, ROWS_OF_MANY, MAX_COLUMNS, BAR = 24, 10, 32, 24


def show(explanation: Explanation, *, as_json: bool) -> None:
    """Print an explanation."""
    if as_json:
        is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
        written = json.dumps(explanation.to_json(), ensure_ascii=not is_unicode, allow_nan=False)
        print(written)  # noqa: T201
        return
    say()
    say(explanation.title, "bold")
    say(explanation.lead)
    for number, step in enumerate(explanation.steps, start=1):
        _show_step(number, step)
    say()


def _show_step(number: int, step: ExplainedStep) -> None:
    say()
    say(Text.assemble((f"{number:>2} ", "bold #d9682c"), (clean(step.title), "bold")))
    console = open_console()
    room = min(WIDEST, console.width) - INDENT
    is_short = cell_len(step.formula) <= min(room, LONGEST_FORMULA)
    for formula in [step.formula] if is_short else step.formula.split(BETWEEN):
        say(formula, "italic cyan", indent=INDENT)
    say(step.prose, indent=INDENT)
    rows: list[list[list[Text]]] = []
    for numbers in step.tables:
        block = number_lines(numbers, room)
        # Only tables of one height look well beside each other.
        if rows and len(rows[-1][0]) == len(block) and _width([*rows[-1], block]) <= room:
            rows[-1].append(block)
        else:
            rows.append([block])
    for blocks in rows:
        print_lines(console, [Text(), *beside(blocks, GAP)], INDENT)


def _width(blocks: list[list[Text]]) -> int:
    return sum(block[-1].cell_len for block in blocks) + GAP * (len(blocks) - 1)


def number_lines(numbers: NumberTable, width: int) -> list[Text]:
    """The lines of a table of numbers or words, none wider than ``width``, headed by its name."""
    if numbers.look == "text":
        return _text_lines(numbers, width)
    is_map = numbers.look in ("signed", "share")
    lines, is_whole = (_map_lines if is_map else _plain_lines)(numbers, width)
    name = cut(Text(numbers.name, "bold"), width)
    for more in (
        "" if is_whole else f"  {len(numbers.rows)} × {len(numbers.columns)}",
        f"  {numbers.probe}" if numbers.probe else "",
    ):
        if name.cell_len + len(more) <= width:
            name.append(more, DIM)
    block = max(line.cell_len for line in (name, *lines))
    for line in (name, *lines):
        line.pad_right(block - line.cell_len)
    return [name, *lines]


def _map_lines(numbers: NumberTable, width: int) -> tuple[list[Text], bool]:
    """Numbers in colours, and whether they are all there."""
    largest, form = _largest(numbers), _form(numbers)

    def cell(i: int, j: int) -> Text:
        value, style = numbers.cells[i][j], Style.null()
        if not isinstance(value, str):
            style = shade(value) if numbers.look == "share" else heat(value / largest)
        return Text(_written(value, form), style)

    most, n_columns = _most_rows(numbers), len(numbers.columns)
    drawn = heat_map(
        cell,
        [Label(name, ()) for name in numbers.rows],
        [Label(name, ()) for name in numbers.columns],
        width,
        # Of rows that are not shown nothing is written, for there may be hundreds.
        number=max(
            cell(i, j).cell_len
            for i in kept(len(numbers.rows), most, numbers.focus)
            if i is not None
            for j in range(n_columns)
        ),
        focus=numbers.focus,
        most=(most, MAX_COLUMNS),
        max_bands=1,
    )
    return drawn.lines, not (drawn.n_rows_left_out or drawn.n_columns_left_out)


def _plain_lines(numbers: NumberTable, width: int) -> tuple[list[Text], bool]:
    """Numbers without colours, or shares with bars, and whether all rows are there."""
    form, shown = _form(numbers), _rows_shown(numbers)
    columns = [
        Column(align="right"),
        *(Column(Text(name, DIM), "right") for name in numbers.columns),
    ]
    rows: list[list[Text | str]] = []
    for i in shown:
        cells = numbers.cells[i] if i is not None else (DOTS,) * len(numbers.columns)
        rows.append([_label(numbers, i), *(_written(cell, form) for cell in cells)])
    if numbers.look == "bars":
        length = min(BAR, width // 3)
        columns.append(Column(least=length))
        largest = max(float(row[0]) for row in numbers.cells) or 1.0
        for row, i in zip(rows, shown, strict=True):
            row.append(bar(0.0 if i is None else float(numbers.cells[i][0]) / largest, length))
    return table(columns, rows, width, gap=1), len(shown) == len(numbers.rows)


def _text_lines(numbers: NumberTable, width: int) -> list[Text]:
    """Words; the last column is broken where it must be."""
    heads = [Text(name, DIM) for name in (numbers.name, *numbers.columns)]
    columns = [*map(Column, heads[:-1]), Column(heads[-1], least=12, wraps=True)]
    rows = []
    for i in _rows_shown(numbers):
        cells = ["", *numbers.columns] if i is None else [numbers.rows[i], *numbers.cells[i]]
        style = "bold" if i is not None and i == numbers.focus else ""
        rows.append([Text(DOTS if i is None else str(cell), style) for cell in cells])
    return table(columns, rows, width)


def _label(numbers: NumberTable, i: int | None) -> Text:
    if i is None:
        return Text(DOTS, DIM)
    return row_label(Label(numbers.rows[i], ()), is_pointed=i == numbers.focus)


def _most_rows(numbers: NumberTable) -> int:
    return MAX_ROWS if len(numbers.rows) <= MAX_ROWS else ROWS_OF_MANY


def _rows_shown(numbers: NumberTable) -> list[int | None]:
    """Which rows are printed; None stands for those left out. Of bars the longest are shown."""
    n = len(numbers.rows)
    if numbers.look != "bars" or n <= MAX_ROWS:
        return kept(n, _most_rows(numbers), numbers.focus)
    by_size = sorted(range(n), key=lambda i: -float(numbers.cells[i][0]))
    chosen = {*by_size[: MAX_ROWS // 2], *(() if numbers.focus is None else (numbers.focus,))}
    return with_gaps(chosen, n)


def _form(numbers: NumberTable) -> str:
    """How numbers are printed: whole tables whole, tiny numbers with their power of ten."""
    found = (c for row in numbers.cells for c in row if not isinstance(c, str))
    if all(float(number).is_integer() for number in found if math.isfinite(number)):
        return ".0f"
    return ".0e" if _largest(numbers) < 10**-numbers.decimals / 2 else f".{numbers.decimals}f"


def _written(cell: Cell, form: str) -> str:
    if isinstance(cell, str | int):
        return str(cell)
    if math.isinf(cell):
        return "∞" if cell > 0 else "-∞"
    if math.isnan(cell):
        return "NaN"
    written = format(cell, form)
    is_zero = not any(digit in written.split("e")[0] for digit in "123456789")
    return written.removeprefix("-") if is_zero else written


def _largest(numbers: NumberTable) -> float:
    found = (abs(c) for row in numbers.cells for c in row if not isinstance(c, str))
    return max((number for number in found if math.isfinite(number)), default=0.0) or 1.0
