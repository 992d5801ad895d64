"""The demo in the terminal: attention among words, and what was measured."""

from pathlib import Path

import pytest

from regard.cli.demo.showing import alignment_map, show
from regard.inspection.looking import Looking
from regard.lessons.demo import Folder
from regard.lessons.report import Contents, PronounScore, SplitScore, TrainingSummary


def test_true_links_stand_in_brackets() -> None:
    looking = Looking(
        ("the", "动物"), ("这只", "animal"), ((1.0, 0.0), (0.3, 0.6)), ((0, 0), (1, 1))
    )
    assert [line.plain.rstrip() for line in alignment_map(looking, 80)] == [
        "       这只 animal",
        " the  [100]     ·",
        "动物    30    [60]",
    ]


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
