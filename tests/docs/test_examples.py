"""Every example of the README and of docs/ runs, and prints what it says it prints.

Blocks marked ``python`` run, those of one page in order and in one namespace; the comment after a
``print`` is what it must print. Lines ``$ regard …`` of blocks marked ``console``, and commands in
the cells of tables, run when their verb needs no data; of any other verb, the help must open.
"""

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from regard.cli import main

PROJECT = Path(__file__).parents[2]
PAGES = sorted([*PROJECT.glob("README*.md"), *(PROJECT / "docs").rglob("*.md")])
NEEDS_NO_DATA = {"explain", "recipes"}

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
IN_TABLE = re.compile(r"`(regard [^`]+)`")
PROMISE = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of a page in that language."""
    text = page.read_text(encoding="utf-8")
    return [body for marked, body in BLOCK.findall(text) if marked == language]


def commands(text: str) -> Iterator[str]:
    """The commands a page shows: at a ``$`` in a console block, or in the cell of a table."""
    for marked, body in BLOCK.findall(text):
        if marked == "console":
            yield from (line[2:] for line in body.splitlines() if line.startswith("$ regard "))
    for line in text.splitlines():
        if line.startswith("|"):
            yield from IN_TABLE.findall(line)


def name(page: Path) -> str:
    return page.relative_to(PROJECT).as_posix()


SHOWN = {page: list(commands(page.read_text(encoding="utf-8"))) for page in PAGES}
COMMANDS = sorted({command for shown in SHOWN.values() for command in shown})


def test_there_is_something_to_run() -> None:
    assert any(blocks(page, "python") for page in PAGES)
    assert COMMANDS


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=name)
def test_python(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__example__"}
    for block in blocks(page, "python"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, name(page), "exec"), namespace)
        assert printed.getvalue().splitlines() == PROMISE.findall(block), block


@pytest.mark.parametrize("command", COMMANDS)
def test_command(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = shlex.split(command, comments=True)[1:]
    verb = arguments[0]
    if (verb not in NEEDS_NO_DATA or "--model" in arguments) and not verb.startswith("-"):
        arguments = [verb, "--help"]
    with pytest.raises(SystemExit) as left:
        main(arguments)
    printed = capsys.readouterr()
    assert left.value.code == 0, printed.err
    assert printed.out.strip() or list(tmp_path.iterdir())


def test_commands_are_found_where_they_are_shown() -> None:
    page = (
        "Not `regard this`.\n\n| L1 | `regard explain lecture` |\n\n"
        "```console\n$ regard explain masks --json\n$ make test\nregard: no\n```\n\n"
        "```text\n$ regard nothing\n```\n"
    )
    assert list(commands(page)) == ["regard explain masks --json", "regard explain lecture"]
