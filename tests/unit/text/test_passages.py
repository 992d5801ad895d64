"""Sentences of long texts, and the most telling of them."""

import pytest

from regard.text.passages import Weighting, likeness, most_telling, passages_of, telling_words

TEXT = "It is late. The clock strikes ten. It is so. The clock of the tower strikes loudly."


def test_sentences_end_with_signs_lines_and_chinese_signs() -> None:
    assert passages_of("One. Two!  Three?\nFour\n\nFive") == [
        "One.",
        "Two!",
        "Three?",
        "Four",
        "Five",
    ]
    assert passages_of("现在几点？十点了。") == ["现在几点？", "十点了。"]
    assert passages_of("Version 2.5 is out.") == ["Version 2.5 is out."]
    assert passages_of(" \n ") == []


def test_what_nothing_divides_is_divided_and_loses_nothing() -> None:
    text = " ".join(f"word{n}" for n in range(350))
    found = passages_of(text)
    assert len(found) == 4
    assert " ".join(found) == text


def test_telling_sentences_fit_the_budget_in_their_order() -> None:
    chosen = most_telling(TEXT, 12, lambda one: len(one.split()))
    assert chosen == "The clock strikes ten. The clock of the tower strikes loudly."
    asked = most_telling(TEXT, 4, lambda one: len(one.split()), query="late")
    assert asked == "It is late."
    assert most_telling(TEXT, 0, lambda one: len(one.split())) == ""


def test_rare_words_weigh_more() -> None:
    weighting = Weighting([["the", "cat"], ["the", "dog"], ["the", "fox"]])
    vector = weighting.vector(["the", "cat"])
    assert vector["cat"] > vector["the"]
    assert likeness(vector, vector) == pytest.approx(1.0)
    assert telling_words("The cat, 3 times!") == ["the", "cat", "3", "times"]
