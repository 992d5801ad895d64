"""Every example of the README and of docs/ runs when copied alone, and prints what it says.

A block marked ``python`` runs in a namespace and a folder of its own, which holds the model folders
the block names and nothing else (``conftest.py`` trains them). The comment after a ``print`` is
what it must print; ``# for example …`` shows what a well trained model prints. Every ``regard``
command of a ``console`` block or of a table must have a verb, options and a recipe that exist;
those that need no data are run.
"""

import contextlib
import io
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import pairwise
from pathlib import Path

import pytest
import typer

from regard.cli import app, main
from regard.config import read_recipe

from .conftest import SERVED
from .pages import BLOCK, PAGES, name

NEEDS_NO_DATA = {"explain", "recipes"}

IN_TABLE = re.compile(r"`((?:torchrun|regard) [^`]+)`")
PROMISE = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)
VARIES = "for example "


def blocks(page: Path) -> Iterator[tuple[int, str, str]]:
    """Line, language and text of each block of a page."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        yield text.count("\n", 0, found.start()) + 1, found[1], found[2]


def commands(text: str) -> Iterator[str]:
    """The commands a page shows: at a ``$`` in a console block, or in the cell of a table."""
    for marked, body in BLOCK.findall(text):
        if marked == "console":
            for line in body.splitlines():
                if line.startswith("$ "):
                    yield from _commands_in(line[2:])
    for line in text.splitlines():
        if line.startswith("|"):
            for cell in IN_TABLE.findall(line):
                yield from _commands_in(cell.replace("\\|", "|"))


def _commands_in(line: str) -> Iterator[str]:
    """Each ``regard …`` of a line, also behind ``&&``, in a pipe, and under torchrun."""
    words = shlex.split(line, comments=True)
    starts = [n for n, word in enumerate(words) if word == "regard" and _is_command(words[:n])]
    for start in starts:
        rest = words[start:]
        ends = [n for n, word in enumerate(rest) if word in {"&&", "|", ">", "&", ";"}]
        yield shlex.join(rest[: ends[0]] if ends else rest)


def _is_command(before: list[str]) -> bool:
    return not before or before[-1] in {"&&", "|", "-m"}


SHOWN = {page: list(commands(page.read_text(encoding="utf-8"))) for page in PAGES}
COMMANDS = sorted({command for shown in SHOWN.values() for command in shown})
PYTHON = [
    pytest.param(body, id=f"{name(page)}:{line}")
    for page in PAGES
    for line, marked, body in blocks(page)
    if marked == "python"
]


def test_there_is_something_to_run() -> None:
    assert PYTHON
    assert COMMANDS


def test_no_python_hides_under_another_name() -> None:
    found = {(name(page), line) for page in PAGES for line, mark, _ in blocks(page) if mark == "py"}
    assert not found, "mark it ```python, so that it is run"


@pytest.mark.parametrize("block", PYTHON)
def test_python(
    block: str,
    reader: Callable[[str], None],
    served: Callable[[], AbstractContextManager[str]],
) -> None:
    reader(block)
    printed = io.StringIO()
    with contextlib.ExitStack() as stack:
        if SERVED in block:
            block = block.replace(SERVED, stack.enter_context(served()))
        stack.enter_context(contextlib.redirect_stdout(printed))
        exec(compile(block, "example", "exec"), {"__name__": "__example__"})
    lines, promises = printed.getvalue().splitlines(), PROMISE.findall(block)
    assert len(lines) == len(promises), printed.getvalue()
    for line, promise in zip(lines, promises, strict=True):
        assert line == promise or promise.startswith(VARIES), printed.getvalue()


@pytest.mark.parametrize("command", COMMANDS)
def test_command(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = shlex.split(command)[1:]
    verb = arguments[0]
    if verb.startswith("-") or (verb in NEEDS_NO_DATA and "--model" not in arguments):
        with pytest.raises(SystemExit) as left:
            main(arguments)
        printed = capsys.readouterr()
        assert left.value.code == 0, printed.err
        assert printed.out.strip() or list(tmp_path.iterdir())
        return
    parse(arguments)
    if verb == "train" and not re.match(r"-|.*\.toml$", "".join(arguments[1:2]) or "-"):
        changes = [change for option, change in pairwise(arguments) if option == "--set"]
        read_recipe(arguments[1], changes)


def parse(arguments: list[str]) -> None:
    """Refuses a verb, an option or a number of arguments that the command line does not have.

    Values are not looked at: the files that a command names are the reader's.
    """
    command = typer.main.get_command(app)
    context = typer.Context(command)
    while hasattr(command, "get_command"):
        verb, *arguments = arguments
        command = command.get_command(context, verb)
        assert command is not None, f"there is no command {verb}"
        context = typer.Context(command, parent=context)
    _, rest, _ = command.make_parser(context).parse_args(args=list(arguments))
    assert not rest, f"too many arguments: {rest}"


@pytest.mark.parametrize(
    "wrong", ["trian x", "train x --corpse y", "info runs/en-de more", "bench nothing"]
)
def test_a_command_that_cannot_be_is_found(wrong: str) -> None:
    with pytest.raises((AssertionError, typer.TyperException)):
        parse(wrong.split())


def test_commands_are_found_where_they_are_shown() -> None:
    page = (
        "Not `regard this`.\n\n| L1 | `regard explain lecture` |\n\n"
        "```console\n$ regard explain masks --json\n$ make test\nregard: no\n"
        "$ regard train x --out y && regard info y\n$ echo regard | regard embed z\n"
        "$ torchrun --nproc-per-node 2 -m regard train q\n```\n\n"
        "```text\n$ regard nothing\n```\n"
    )
    assert list(commands(page)) == [
        "regard explain masks --json",
        "regard train x --out y",
        "regard info y",
        "regard embed z",
        "regard train q",
        "regard explain lecture",
    ]
