"""How much outputs differ: distinct-n, and the output that comes again and again."""

import pytest

from regard.errors import UsageError
from regard.evaluation import distinct, most_frequent


def test_distinct_counts_different_ngrams_of_all_sentences_together() -> None:
    said = [["i", "am", "fine"], ["i", "am", "tired"]]
    assert distinct(said, 1) == 4 / 6
    assert distinct(said, 2) == 3 / 4
    assert distinct(said, 3) == 1.0


def test_who_always_says_the_same_is_not_diverse() -> None:
    always = [["i", "don't", "know"]] * 100
    assert distinct(always, 1) == 3 / 300
    assert distinct(always, 2) == 2 / 200


def test_no_ngram_goes_from_one_sentence_to_the_next() -> None:
    assert distinct([["a"], ["b"], ["a"]], 2) == 0.0
    assert distinct([["a", "b"], ["b", "a"], ["a"]], 2) == 1.0
    assert distinct([], 1) == 0.0
    assert distinct([[]], 1) == 0.0


def test_an_ngram_has_a_word() -> None:
    with pytest.raises(UsageError, match="an n-gram of 0 words is not possible: give 1 or more"):
        distinct([["a"]], 0)


def test_the_most_frequent_output_and_its_share() -> None:
    assert most_frequent(["b", "a", "a", "c"]) == ("a", 0.5)
    assert most_frequent(["b", "a"]) == ("b", 0.5)
    with pytest.raises(UsageError, match="there is nothing to count: no outputs were given"):
        most_frequent([])
