"""The demo in the terminal: shades of attention among words, and what was measured."""

from pathlib import Path

import pytest

from regard.cli.demo.showing import matrix, shade, show
from regard.inspection.looking import Looking
from regard.lessons.demo import Folder
from regard.lessons.report import Contents, PronounScore, SplitScore, TrainingSummary


def test_shades_grow() -> None:
    assert "".join(map(shade, (0.0, 0.19, 0.2, 0.5, 0.79, 0.8, 1.0))) == "  ░▒▓██"


def test_a_matrix_counts_wide_characters() -> None:
    looking = Looking(
        ("the", "动物"), ("这只", "animal"), ((1.0, 0.0), (0.3, 0.6)), ((0, 0), (1, 1))
    )
    assert [line.plain for line in matrix(looking, 80)] == [
        "     这只 animal",
        " the [██]",
        "动物  ░░  [▓▓]",
    ]


def test_a_matrix_narrows_its_columns() -> None:
    looking = Looking(("a",), ("remarkable", "extraordinary"), ((0.5, 0.5),))
    assert max(line.cell_len for line in matrix(looking, 16)) <= 16


def test_one_sentence_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    contents = Contents(
        title="en-fr",
        trained=TrainingSummary("r", "c", "d", 9, 1, 1, 8, 2, 1, 1, 1.0, 1.0, ((1, 5.0),), ()),
        scores=tuple(SplitScore(s, 1, 0.0, 0.0, 0.0, "") for s in ("test", "combinations")),
        pronouns=PronounScore(1, 0, {"il": (1, 0)}),
        sentences=(),
        alignment=Looking(("it",), ("it",), ((1.0,),), ()),
        alignment_layer=0,
        looks=(),
        valid_reading=None,
        test_reading=None,
        control=None,
        needs_antecedent=True,
        commands=(),
    )
    show(contents, Folder(Path("demo")))
    said = capsys.readouterr().out
    for words in ("1 new sentence:", "1 new combination of", "1 sentence where"):
        assert words in said
