"""Measures of captions, computed by hand."""

import math

import pytest

from regard.errors import DataError
from regard.evaluation import judge_captions

DOG = ["a", "dog", "runs", "on", "grass"]


def test_a_caption_like_its_reference_has_all_there_is() -> None:
    found = judge_captions([DOG, ["two", "cats"]], [[DOG], [["two", "cats"]]])
    assert found.bleu[0] == pytest.approx(100)
    assert found.rouge_l == pytest.approx(100)
    # The second has no 3-grams, so half of its cosines are missing: (4/4 + 2/4) / 2 of 1,000.
    assert found.cider_d == pytest.approx(750)


def test_bleu_by_hand() -> None:
    # 4 of 5 words, 2 of 4 pairs, 1 of 3 triples and none of 2 quadruples are in the reference.
    caption = ["a", "dog", "runs", "over", "grass"]
    found = judge_captions([caption], [[DOG]])
    assert found.bleu[:3] == pytest.approx(
        [80, 100 * math.sqrt(0.8 * 0.5), 100 * (0.8 * 0.5 / 3) ** (1 / 3)]
    )
    assert found.bleu[3] < 0.1


def test_words_count_as_often_as_one_reference_has_them() -> None:
    found = judge_captions([["a", "a", "a"]], [[["a", "a", "b"], ["a", "c", "d"]]])
    assert found.bleu[0] == pytest.approx(100 * 2 / 3)


def test_only_what_is_shorter_than_the_closest_reference_is_punished() -> None:
    short = judge_captions([["a", "dog"]], [[DOG, ["a", "dog", "sits", "there"]]])
    assert short.unpenalised[0] == pytest.approx(100)
    assert short.bleu[0] == pytest.approx(100 * math.exp(1 - 4 / 2))
    long = judge_captions([[*DOG, "again"]], [[DOG]])
    assert long.bleu == long.unpenalised


def test_rouge_by_hand() -> None:
    # "a runs grass" is the longest common subsequence: 3 of 4 words, and 3 of 5.
    found = judge_captions([["a", "cat", "runs", "grass"]], [[DOG]])
    precision, recall = 3 / 4, 3 / 5
    expected = (1 + 1.44) * precision * recall / (recall + 1.44 * precision)
    assert found.rouge_l == pytest.approx(100 * expected)


def test_what_every_picture_has_says_nothing() -> None:
    found = judge_captions([["a"], ["a"]], [[["a", "dog"]], [["a", "cat"]]])
    assert found.cider_d == 0
    assert found.bleu[0] > 0


def test_an_empty_caption_is_worth_nothing() -> None:
    found = judge_captions([[], DOG], [[DOG], [["two", "cats"]]])
    assert found.rouge_l == 0
    assert found.bleu[0] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("captions", "references", "fact"),
    [([DOG], [], "1 caption"), ([], [], "nothing"), ([DOG], [[]], "one or more references")],
)
def test_what_cannot_be_measured_is_refused(
    captions: list[list[str]], references: list[list[list[str]]], fact: str
) -> None:
    with pytest.raises(DataError, match=fact):
        judge_captions(captions, references)
