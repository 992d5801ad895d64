"""What pronouns stand for, and whether the right one is written."""

from itertools import islice

import pytest

from regard.corpora import open_corpus
from regard.corpora.phrasebook import lecture_examples
from regard.lessons.demo import genders_differ, last_pronoun, rivals, score_pronouns


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
