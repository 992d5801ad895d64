"""ROUGE by hand, and as rouge-score computes it where that is installed."""

import pytest

from regard.evaluation.rouge import Rouge, mean_rouge, repeated_share, rouge

PAIRS = [
    ("the cat sat on the mat", "the cat is on the mat"),
    ("A tool, for e-mail!", "e-mail tool (fast)"),
    ("", "something"),
    ("nothing alike", "quite other words"),
    ("the the the the", "the cat"),
    ("naïve café", "naive cafe"),
]


def test_by_hand() -> None:
    found = rouge("the cat sat on the mat", "the cat is on the mat")
    assert found.rouge_1 == pytest.approx(100 * 5 / 6)
    assert found.rouge_2 == pytest.approx(100 * 3 / 5)
    assert found.rouge_l == pytest.approx(100 * 5 / 6)


def test_order_counts_in_the_longest_common_subsequence_alone() -> None:
    found = rouge("b a", "a b")
    assert (found.rouge_1, found.rouge_2, found.rouge_l) == (100.0, 0.0, 50.0)


def test_chinese_is_compared_by_characters() -> None:
    found = rouge("显示系统时间", "显示时间")
    assert found.rouge_1 == pytest.approx(100 * 2 * 4 / (6 + 4))
    assert found.rouge_l == pytest.approx(80.0)


def test_the_mean_is_over_pairs() -> None:
    assert mean_rouge(["a b", "c"], ["a b", "d"]) == Rouge(50.0, 50.0, 50.0)


def test_repetition_is_told() -> None:
    assert repeated_share("one two three four") == 0.0
    assert repeated_share("a b c a b c a b c") == pytest.approx(1 - 3 / 7)


@pytest.mark.parametrize(("output", "reference"), PAIRS)
def test_it_is_what_rouge_score_computes(output: str, reference: str) -> None:
    scorer = pytest.importorskip("rouge_score.rouge_scorer")
    theirs = scorer.RougeScorer(["rouge1", "rouge2", "rougeL"]).score(reference, output)
    ours = rouge(output, reference)
    for mine, name in (
        (ours.rouge_1, "rouge1"),
        (ours.rouge_2, "rouge2"),
        (ours.rouge_l, "rougeL"),
    ):
        assert mine == pytest.approx(100 * theirs[name].fmeasure, abs=1e-6)
