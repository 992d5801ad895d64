"""Alignment error rate, counted by hand."""

import pytest

from regard.errors import DataError, UsageError
from regard.evaluation import GoldAlignment, alignment_error, parse_gold


def test_by_hand() -> None:
    # |A| = 4, |S| = 3, |A ∩ S| = 2, |A ∩ P| = 3
    gold = [parse_gold("0-0 1-1 1p2"), parse_gold("0-1")]
    found = [[(0, 0), (1, 2), (2, 2)], [(0, 1)]]
    quality = alignment_error(found, gold)
    assert quality.error_rate == pytest.approx(1 - 5 / 7)
    assert quality.precision == pytest.approx(3 / 4)
    assert quality.recall == pytest.approx(2 / 3)
    assert (quality.n_found, quality.n_sure, quality.n_possible) == (4, 3, 4)
    assert quality.n_sentences == 2


def test_the_truth_has_no_error_and_its_opposite_has_all() -> None:
    gold = [parse_gold("0-0 1-1 1p2")]
    assert alignment_error([[(0, 0), (1, 1)]], gold).error_rate == 0
    assert alignment_error([[(0, 0), (1, 1), (1, 2)]], gold).error_rate == 0
    assert alignment_error([[(2, 0)]], gold).error_rate == 1
    assert alignment_error([[]], gold).error_rate == 1
    assert alignment_error([], []).error_rate == 0


def test_a_link_found_twice_counts_once() -> None:
    gold = [parse_gold("0-0")]
    assert alignment_error([[(0, 0), (0, 0)]], gold).n_found == 1


def test_gold_is_read_from_0_or_from_1() -> None:
    assert parse_gold("1-2 10p3", first=1) == GoldAlignment(
        frozenset({(0, 1)}), frozenset({(0, 1), (9, 2)})
    )
    assert parse_gold("1-2").sure == {(1, 2)}
    assert parse_gold("  ") == GoldAlignment(frozenset(), frozenset())


@pytest.mark.parametrize(
    ("line", "first", "sentence"),
    [
        (
            "0-0 1:2",
            0,
            "'1:2' is no link: a sure one is written 0-2, a possible one 0p2 (source word, target "
            "word)",
        ),
        ("0-1", 1, "'0-1' names a word before the first: these links count from 1"),
    ],
)
def test_what_is_no_link_is_refused(line: str, first: int, sentence: str) -> None:
    with pytest.raises(DataError) as refused:
        parse_gold(line, first)
    assert str(refused.value) == sentence


def test_sentences_must_be_as_many() -> None:
    with pytest.raises(UsageError) as refused:
        alignment_error([[], []], [parse_gold("0-0")])
    assert str(refused.value) == (
        "there are alignments of 2 sentences and gold of 1: line n of one has to belong to line n "
        "of the other"
    )
