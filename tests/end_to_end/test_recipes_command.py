"""`regard recipes`, as it is typed."""

import json
import tomllib
from pathlib import Path

import pytest

from regard.config import parse_recipe, preset_names, preset_text, read_recipe

from .commands import Done, run


def regard(*arguments: str) -> Done:
    return run(arguments)


def test_the_list() -> None:
    done = regard("recipes")
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    assert lines[0].split() == ["recipe", "parameters", "what", "for"]
    assert [line.split()[0] for line in lines[1:6]] == [
        "transformer-tiny",
        "transformer-fast",
        "transformer-small",
        "transformer-base",
        "transformer-big",
    ]
    assert lines[4] == (
        "transformer-base       63.1 M  the paper's base model: a million pairs or more, "
        "best on a GPU"
    )
    assert lines[-1] == (
        "Parameters for a shared vocabulary of 37,000. `regard recipes show NAME` prints a recipe."
    )


def test_the_list_as_json_for_another_vocabulary() -> None:
    done = regard("recipes", "--json", "--vocabulary", "8000")
    rows = json.loads(done.stdout)
    assert rows[0]["name"] == "transformer-tiny"
    assert {row["vocabulary"] for row in rows} == {8000}
    assert rows[0]["parameters"] == 6_061_568 - (37_000 - 8_000) * 128


@pytest.mark.parametrize("name", preset_names())
def test_what_is_shown_is_the_preset_with_its_comments(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from regard.cli import main

    with pytest.raises(SystemExit) as left:
        main(["recipes", "show", name])
    shown = capsys.readouterr().out
    assert left.value.code == 0
    assert shown == preset_text(name)
    assert "#" in shown
    tomllib.loads(shown)
    assert parse_recipe(shown) == read_recipe(name)


def test_what_is_shown_can_be_changed_and_used(tmp_path: Path) -> None:
    done = regard("recipes", "show", "transformer-tiny", "--set", "model.n_layers=2")
    (tmp_path / "mine.toml").write_text(done.stdout, encoding="utf-8")
    assert read_recipe(tmp_path / "mine.toml") == read_recipe(
        "transformer-tiny", ["model.n_layers=2"]
    )
    again = regard("recipes", "show", str(tmp_path / "mine.toml"))
    assert again.stdout == done.stdout


def test_what_is_shown_as_json() -> None:
    done = regard("recipes", "show", "transformer-big", "--json")
    assert json.loads(done.stdout)["model"]["d_model"] == 1024


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["show", "transformer-tin"], "regard: there is no preset 'transformer-tin'; did you mean"),
        (["show", "transformer-tiny", "--set", "x=1"], "regard: there is no x; a recipe has"),
        (
            ["--vocabulary", "0"],
            "regard: a vocabulary of 0 is not possible: give 1 to 1,000,000,000",
        ),
        (
            ["--vocabulary", "99999999999999999999999"],
            "regard: a vocabulary of 99999999999999999999999 is not possible: "
            "give 1 to 1,000,000,000",
        ),
    ],
)
def test_mistakes_are_one_line_and_exit_2(arguments: list[str], sentence: str) -> None:
    done = regard("recipes", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(sentence)
    assert done.stderr.count("\n") == 1
