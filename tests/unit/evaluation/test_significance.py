"""Intervals and paired comparison: sacrebleu's own numbers, and the sense they make."""

import random

import pytest
import sacrebleu
from sacrebleu.metrics.bleu import BLEU

from regard.errors import DataError, UsageError
from regard.evaluation import compare, judge, measure

WORDS = ["the", "a", "dog", "cat", "house", "runs", "sees", "quickly", "red", "small", "old"]


def corpus(n: int, share_wrong: float) -> tuple[list[str], list[str]]:
    """Outputs in which that share of the words is wrong, and their references."""
    draw = random.Random(7)
    references = [" ".join(draw.choices(WORDS, k=9)) for _ in range(n)]
    outputs = [
        " ".join(draw.choice(WORDS) if draw.random() < share_wrong else w for w in line.split())
        for line in references
    ]
    return outputs, references


def test_scores_and_intervals_are_those_of_sacrebleu() -> None:
    outputs, references = corpus(31, 0.3)
    bleu = BLEU(force=True).corpus_score(outputs, [references], n_bootstrap=200)
    found = {one.measure: one for one in measure(outputs, references, n_samples=200)}
    assert list(found) == ["bleu", "chrf", "ter"]
    assert (found["bleu"].score, found["bleu"].margin) == (bleu.score, bleu._ci)
    assert found["ter"].score == sacrebleu.corpus_ter(outputs, [references]).score
    assert found["chrf"].score == sacrebleu.corpus_chrf(outputs, [references]).score
    assert "seed:12345|" in found["bleu"].signature
    assert "bs:200|" in found["bleu"].signature


def test_outputs_that_share_nothing_with_most_references_have_intervals_too() -> None:
    # Some resamples then hold no match at all, or only empty references.
    outputs = ["q r s t u"] * 29 + ["a b c d e"]
    for other in ("v w x y z", ""):
        for one in measure(outputs, [other] * 29 + ["a b c d e"], n_samples=200):
            assert one.margin > 0
            assert type(one.mean) is type(one.score) is float


def test_more_sentences_make_a_narrower_interval() -> None:
    few, many = (measure(*corpus(n, 0.3), ["bleu"], n_samples=100)[0] for n in (12, 120))
    assert 0 < many.margin < few.margin
    assert many.mean == pytest.approx(many.score, abs=many.margin)


def test_a_clear_difference_is_significant_and_none_is_not() -> None:
    good, references = corpus(60, 0.1)
    bad, again = corpus(60, 0.5)
    assert references == again
    better = compare(good, bad, references, n_samples=300)
    assert [(one.is_significant, one.is_better) for one in better] == [(True, True)] * 3
    worse = compare(bad, good, references, n_samples=300)
    assert [(one.is_significant, one.is_better) for one in worse] == [(True, False)] * 3
    assert [(one.score, one.baseline) for one in worse] == [
        (one.baseline, one.score) for one in better
    ]
    for one in compare(good, good, references, n_samples=300):
        assert (one.p, one.is_significant, one.is_better) == (1.0, False, False)


def test_ter_of_chinese_counts_characters() -> None:
    references, outputs = ["今天天气很好。"], ["今天天气好。"]
    (found,) = measure(outputs, references, ["ter"], n_samples=2)
    assert "asian:yes" in found.signature
    assert found.score == pytest.approx(100 / 7)  # one of seven characters is missing
    assert judge(outputs, references, with_ter=True).ter == found.score
    assert judge(outputs, references).ter is None


def test_what_is_refused() -> None:
    with pytest.raises(UsageError) as unknown:
        measure(["a"], ["a"], ["rouge"])
    assert str(unknown.value) == "there is no measure 'rouge': choose among bleu, chrf, ter"
    with pytest.raises(UsageError) as few:
        measure(["a"], ["a"], n_samples=1)
    assert str(few.value).startswith("1 sample ")
    assert "2 or more" in str(few.value)
    with pytest.raises(DataError, match=r"1 output .* 2 references"):
        compare(["a", "b"], ["a"], ["a", "b"])
