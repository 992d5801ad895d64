"""Accuracy, F1 and spans, against numbers worked out by hand."""

import pytest

from regard.errors import SizeError
from regard.evaluation import (
    LabelQuality,
    OfLabel,
    Span,
    accuracy,
    accuracy_among,
    by_label,
    by_type,
    confusion,
    macro_f1,
    micro_f1,
    spans,
    tells_spans,
)

GOLD = ["cat", "cat", "dog", "dog", "dog", "fox"]
GIVEN = ["cat", "dog", "dog", "dog", "cat", "hen"]


def test_each_label_by_itself() -> None:
    found = {one.label: one for one in by_label(GIVEN, GOLD)}
    assert found == {
        "cat": OfLabel("cat", n_gold=2, n_given=2, n_right=1),
        "dog": OfLabel("dog", n_gold=3, n_given=3, n_right=2),
        "fox": OfLabel("fox", n_gold=1, n_given=0, n_right=0),
        "hen": OfLabel("hen", n_gold=0, n_given=1, n_right=0),
    }
    assert (found["cat"].precision, found["dog"].recall) == (0.5, pytest.approx(2 / 3))
    assert [found[one].f1 for one in ("fox", "hen")] == [0.0, 0.0]
    assert OfLabel("x", n_gold=4, n_given=6, n_right=3).f1 == pytest.approx(
        2 * (3 / 4) * (3 / 6) / (3 / 4 + 3 / 6)
    )


def test_all_labels_together() -> None:
    assert accuracy(GIVEN, GOLD) == 0.5
    found = by_label(GIVEN, GOLD)
    assert macro_f1(found) == pytest.approx((1 / 2 + 2 / 3 + 0 + 0) / 4)
    assert micro_f1(found) == pytest.approx(0.5)  # of labels that are all given: the accuracy
    assert confusion(GIVEN, GOLD, ["cat", "dog", "fox", "hen"]) == [
        [1, 1, 0, 0],
        [1, 2, 0, 0],
        [0, 0, 0, 1],
        [0, 0, 0, 0],
    ]


def test_the_right_label_may_be_among_several() -> None:
    given = [["cat", "dog"], ["dog", "cat"], ["fox", "cat"]]
    assert accuracy_among(given, ["cat", "cat", "dog"]) == pytest.approx(2 / 3)
    with pytest.raises(SizeError, match="3 labels cannot be compared with 1"):
        accuracy_among(given, ["cat"])


@pytest.mark.parametrize(("given", "gold"), [(["a"], ["a", "b"]), ([], [])])
def test_what_cannot_be_compared_is_refused(given: list[str], gold: list[str]) -> None:
    with pytest.raises(SizeError, match=f"{len(given)} labels cannot be compared with {len(gold)}"):
        accuracy(given, gold)


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("B-A I-A O B-B", [("A", 0, 2), ("B", 3, 4)]),
        ("B-A B-A I-A", [("A", 0, 1), ("A", 1, 3)]),
        ("O I-A I-A", [("A", 1, 3)]),  # goes on without having begun
        ("B-A I-B", [("A", 0, 1), ("B", 1, 2)]),
        ("B-A E-A I-A S-B O", [("A", 0, 2), ("A", 2, 3), ("B", 3, 4)]),
        ("B-per-son I-per-son", [("per-son", 0, 2)]),
        ("O O", []),
        ("", []),
    ],
)
def test_spans(tags: str, expected: list[tuple[str, int, int]]) -> None:
    assert spans(tags.split()) == [Span(*one) for one in expected]


def test_a_span_counts_whole_or_not_at_all() -> None:
    """The example of seqeval's own page: one of two spans begins a word too early."""
    gold = [["O", "O", "O", "B-MISC", "I-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]]
    given = [["O", "O", "B-MISC", "I-MISC", "I-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]]
    misc, per = by_type(given, gold)
    assert (misc.label, misc.f1, per.label, per.f1) == ("MISC", 0.0, "PER", 1.0)
    assert micro_f1([misc, per]) == 0.5


def test_equal_spans_of_unlike_sentences_are_not_one() -> None:
    (found,) = by_type([["B-A"], ["O"]], [["O"], ["B-A"]])
    assert (found.n_gold, found.n_given, found.n_right) == (1, 1, 0)


def test_which_tags_are_of_spans() -> None:
    assert tells_spans(["O", "B-WHO", "I-WHO"])
    assert not tells_spans(["NOUN", "VERB"])
    assert not tells_spans(["O"])
    assert not tells_spans(["B-", "O"])
    assert LabelQuality(0.5, 0.25).f1 == 0.25
    assert LabelQuality(0.5, 0.25, span_f1=0.75).f1 == 0.75
