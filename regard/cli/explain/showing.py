"""An explanation on the screen: colours in a terminal, plain text in a pipe, or JSON."""

import json
import sys

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from regard.cli.console import clean, open_console
from regard.cli.explain.grids import grid, word_lines
from regard.lessons.explanation import ExplainedStep, Explanation

MAX_PROSE, INDENT, GAP = 96, 3, 4
BETWEEN = " " * 4


def show(explanation: Explanation, *, as_json: bool) -> None:
    """Print an explanation."""
    if as_json:
        is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
        written = json.dumps(explanation.to_json(), ensure_ascii=not is_unicode, allow_nan=False)
        print(written)  # noqa: T201
        return
    console = open_console()
    console.print()
    _prose(console, Text(clean(explanation.title), "bold"), 0)
    _prose(console, Text(clean(explanation.lead)), 0)
    for number, step in enumerate(explanation.steps, start=1):
        _show_step(console, number, step)
    console.print()


def say(sentence: str) -> None:
    """Print one sentence."""
    open_console().print(Text(clean(sentence)), soft_wrap=True)


def _show_step(console: Console, number: int, step: ExplainedStep) -> None:
    console.print()
    _prose(
        console, Text.assemble((f"{number:>2} ", "bold #d9682c"), (clean(step.title), "bold")), 0
    )
    for formula in _formulas(step.formula, console.width - INDENT):
        _prose(console, Text(clean(formula), "italic cyan"), INDENT)
    _prose(console, Text(clean(step.prose)), INDENT)
    room = console.width - INDENT
    waiting: list[list[Text]] = []
    for table in step.tables:
        if table.look == "text":
            _set_beside(console, waiting)
            waiting = []
            _set_beside(console, [word_lines(table, room)])
            continue
        block = grid(table, room)
        # Only tables of one height look well beside each other.
        is_alike = bool(waiting) and len(waiting[0]) == len(block)
        if waiting and (not is_alike or _width([*waiting, block]) > room):
            _set_beside(console, waiting)
            waiting = []
        waiting.append(block)
    _set_beside(console, waiting)


def _formulas(formula: str, width: int) -> list[str]:
    """Formulas that stand side by side, or below each other where there is no room."""
    return (
        [formula] if cell_len(formula) <= min(width, MAX_PROSE - INDENT) else formula.split(BETWEEN)
    )


def _prose(console: Console, text: Text, indent: int) -> None:
    width = max(20, min(MAX_PROSE, console.width) - indent)
    for line in text.wrap(console, width):
        line.rstrip()
        console.print(
            Text.assemble(" " * indent, line), no_wrap=True, overflow="ignore", crop=False
        )


def _set_beside(console: Console, blocks: list[list[Text]]) -> None:
    """Print blocks next to each other, their tops in one line."""
    if not blocks:
        return
    console.print()
    for i in range(max(map(len, blocks))):
        line = Text(" " * INDENT)
        for block in blocks:
            line.append_text(block[i] if i < len(block) else Text(" " * block[0].cell_len))
            line.append(" " * GAP)
        line.rstrip()
        console.print(line, no_wrap=True, overflow="ignore", crop=False)


def _width(blocks: list[list[Text]]) -> int:
    return sum(block[0].cell_len for block in blocks) + GAP * (len(blocks) - 1)
