"""What the demo keeps: pictures with their titles, in a folder that can be written to."""

from pathlib import Path

import pytest

from regard.errors import UsageError
from regard.inspection.looking import Looking
from regard.lessons.antecedents import Reading, ReadingScore
from regard.lessons.demo import Folder, pronoun_pictures
from regard.lessons.report import Contents, PronounLook, SplitScore, TrainingSummary

SCORE = ReadingScore(Reading("cross", 1, 3, "translation"), 0.25, 0.75, 0.5, 0.25, 9)


def contents(*ends: str) -> Contents:
    """What a demo found that drew one pronoun for each end of the sentence."""
    looking = Looking(
        ("it", "is"), ("a", "b", "c"), ((0.1, 0.2, 0.7), (1.0, 0.0, 0.0)), ((0, 2),), 0
    )
    sentence = "The animal didn't cross the street because it was too"
    looks = (
        PronounLook("il", f"{sentence} {end}.", f"trop {end}", "", looking, looking, "il", end)
        for end in ends
    )
    return Contents(
        title="zh-en",
        trained=TrainingSummary("c", "r", "f", 9, 1, 1, 2, 3, 4, 4, 5.0, None, (), ()),
        scores=(SplitScore("test", 1, 2.0, 3.0, 0.5, "s"),),
        pronouns=None,
        sentences=(),
        alignment=looking,
        alignment_layer=2,
        looks=tuple(looks),
        valid_reading=SCORE,
        test_reading=SCORE,
        control=SCORE,
        needs_antecedent=False,
        commands=(),
    )


def test_pictures_say_which_sentence_and_which_head() -> None:
    title, panels = pronoun_pictures(contents("tired", "wide"))["it"]
    assert title == "Decoder layer 1, head 3 (both counted from 0)"
    assert [name for name, _ in panels] == [
        "The animal didn't cross the street\nbecause it was too tired.",
        "The animal didn't cross the street\nbecause it was too wide.",
    ]
    assert pronoun_pictures(contents()) == {}


def test_the_folder_of_pictures_is_made_with_the_first(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "demo" / "zh-en")
    folder.create()
    assert list(folder.path.iterdir()) == []
    folder.save(contents())
    assert {path.name for path in folder.pictures.iterdir()} == {"alignment.svg", "alignment.png"}


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError) as refused:
        Folder(tmp_path / "file" / "zh-en").create()
    assert str(refused.value) == (
        f"the demo cannot write to {tmp_path / 'file' / 'zh-en'}: Not a directory; choose another "
        "--out"
    )
