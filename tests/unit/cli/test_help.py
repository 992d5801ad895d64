"""Help for newcomers: every verb has an example that could be typed, and no type of Python's."""

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from regard.cli.main import EXAMPLES, app, main

ROOT: Any = typer.main.get_command(app)


def verbs(command: Any = ROOT, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if path:
        yield path
    for name, inner in getattr(command, "commands", {}).items():
        yield from verbs(inner, (*path, name))


def command_of(path: tuple[str, ...]) -> Any:
    command = ROOT
    for name in path:
        command = command.commands[name]
    return command


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("COLUMNS", "200")

    def show(path: tuple[str, ...]) -> str:
        with pytest.raises(SystemExit) as left:
            main([*path, "--help"])
        assert not left.value.code
        return capsys.readouterr().out

    return show


@pytest.mark.parametrize("path", list(verbs()), ids=" ".join)
def test_help_is_plain(shown: Any, path: tuple[str, ...]) -> None:
    text = shown(path)
    assert f"Example: regard {path[0]}" in text
    for python in ("<bool>", "<str>", "<int", "<float", "<path>", "list[", "None", " range"):
        assert python not in text
    assert "default: (" not in text
    for other_form in ("by default", "if not given", "defaults to"):
        assert other_form not in text.lower()


@pytest.mark.parametrize("path", list(verbs()), ids=" ".join)
def test_examples_can_be_typed(path: tuple[str, ...]) -> None:
    command = command_of(path)
    example = command.epilog.removeprefix("Example: ")
    first, *words = shlex.split(example)
    assert first == "regard"
    assert tuple(words[: len(path)]) == path
    while hasattr(command, "commands") and words[len(path) :]:  # a group shows one of its verbs
        path = (*path, words[len(path)])
        command = command_of(path)
    context = typer.Context(command, info_name=path[-1])
    known = {name for param in command.get_params(context) for name in param.opts}
    assert {word for word in words if word.startswith("--")} <= known
    command.make_context(path[-1], words[len(path) :])  # refuses what is not there, or missing


def test_every_option_has_help() -> None:
    for path in verbs():
        command = command_of(path)
        for param in command.params:
            assert param.help, (path, param.name)
            assert re.match(r"[A-Z\d.]|[a-z_]+[,: ]", param.help), (path, param.name)


def test_the_first_verb_is_where_one_begins(shown: Any) -> None:
    assert next(iter(EXAMPLES)) == "demo"
    assert "Begin with: regard demo" in shown(())
