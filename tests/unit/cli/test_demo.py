"""Parts of the demo: pronouns, words against tokens, shades."""

from itertools import islice
from pathlib import Path

import pytest

from regard.cli.demo.pronouns import genders_differ, last_pronoun, rivals, score_pronouns
from regard.cli.demo.saving import Folder, pronoun_pictures
from regard.cli.demo.shades import matrix, shade
from regard.corpora import open_corpus
from regard.corpora.phrasebook import lecture_examples
from regard.errors import UsageError
from regard.inspection.looking import Looking
from regard.lessons.antecedents import Reading, ReadingScore
from regard.lessons.report import Contents, PronounLook, SplitScore, Trained
from regard.text import Characters, Piece, Words
from regard.translation.units import read_units


@pytest.mark.parametrize(
    ("sentence", "pronoun"),
    [
        ("L'animal n'a pas traversé la rue parce qu'elle était trop large.", "elle"),
        ("Il n'a pas mangé le gâteau parce qu'il était trop vieux.", "il"),
        ("Elle a vu le chat.", "elle"),
        ("Les villes sont belles.", None),
        ("", None),
    ],
)
def test_the_last_pronoun(sentence: str, pronoun: str | None) -> None:
    assert last_pronoun(sentence) == pronoun


def test_the_last_pronoun_is_the_one_the_corpus_means() -> None:
    found = 0
    for example in islice(open_corpus("phrasebook", "en-fr").examples("train", 5), 600):
        if "because-it" in example.tags and example.target_side is not None:
            place, _ = example.target_side.antecedents[0]
            assert last_pronoun(example.target) == example.target_side.words[place].lower()
            found += 1
    assert found > 30


def test_pronouns_are_counted() -> None:
    truths = ["parce qu'il dort", "parce qu'il court", "parce qu'elle dort", "sans pronom"]
    outputs = ["car il dort", "parce qu'elle court", "parce que", "il"]
    score = score_pronouns(outputs, truths)
    assert (score.n, score.n_right) == (3, 1)
    assert score.by_pronoun == {"elle": (1, 0), "il": (2, 1)}
    assert score.accuracy == pytest.approx(1 / 3)
    assert score.guessing == pytest.approx(2 / 3)


def test_the_rival_of_an_antecedent() -> None:
    tired, wide = lecture_examples("zh-en")
    assert tired.source_side is not None
    words = tired.source_side.words
    for example, names in ((tired, ("它", "动物", "马路")), (wide, ("它", "马路", "动物"))):
        found = rivals(example)
        assert found is not None
        pronoun, antecedent, others = found
        assert (words[pronoun], words[antecedent], *(words[i] for i in others)) == names


@pytest.mark.parametrize("pair", ["en-fr", "zh-fr", "fr-en"])
def test_only_nouns_of_different_gender_make_french_find_out(pair: str) -> None:
    assert all(map(genders_differ, lecture_examples(pair)))  # un animal, une rue
    examples = islice(open_corpus("phrasebook", pair).examples("train", 3), 400)
    asked = [one for one in examples if "because-it" in one.tags]
    assert 0.2 < sum(map(genders_differ, asked)) / len(asked) < 0.8


def test_words_of_the_corpus_against_characters() -> None:
    text = "它太累了"
    units = read_units(Characters.train([text]), text, ("它", "太", "累了"))
    assert units.read.words == ("它", "太", "累了")
    assert [piece.word for piece in units.read.pieces] == [0, 1, 2, 2]
    assert units.places == (0, 1, 2)


def test_words_that_share_a_token_are_one_unit() -> None:
    words = ("aujourd'", "hui", "dort", ".")
    units = read_units(Words(["aujourd'hui", "dort"]), "aujourd'hui dort.", words)
    assert units.read.words == ("aujourd'hui", "dort", ".")
    assert units.places == (0, 0, 1, 2)


class Cut:
    """A tokenizer that cuts where it is told."""

    def __init__(self, *ends: int) -> None:
        self.ends = ends

    def pieces(self, text: str) -> list[Piece]:
        starts = (0, *self.ends[:-1])
        return [
            Piece(4 + i, text[a:b], a, b, 0)
            for i, (a, b) in enumerate(zip(starts, self.ends, strict=True))
        ]


def test_a_token_over_three_words_joins_them() -> None:
    units = read_units(Cut(0, 4, 6), "因为它太累了", ("因为", "它", "太", "累", "了"))
    assert units.read.words == ("因为它太", "累了")
    assert units.places == (0, 0, 0, 1, 1)
    assert [piece.word for piece in units.read.pieces] == [0, 0, 1]


@pytest.mark.parametrize("words", [(), ("not", "there")])
def test_without_words_of_the_text_it_is_cut_at_signs(words: tuple[str, ...]) -> None:
    units = read_units(Words(["a", "dog"]), "a dog.", words)
    assert units.read.words == ("a", "dog", ".")
    assert units.places == ()


def test_an_empty_text_has_no_units() -> None:
    assert read_units(Words(["a"]), "").read.words == ()


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
        trained=Trained("c", "r", "f", 9, 1, 1, 2, 3, 4, 4, 5.0, None, (), ()),
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
