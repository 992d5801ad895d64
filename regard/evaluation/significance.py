"""How sure a measured number is: bootstrap intervals, and paired comparison of two systems.

Sentences are drawn with replacement and measured again, 1,000 times (Koehn 2004); sacrebleu draws
from a fixed seed, so the same outputs always give the same numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.significance import PairedTest, Result

from regard.counting import counted
from regard.errors import UsageError
from regard.evaluation.measures import (
    IS_BETTER_LOW,
    MEASURES,
    build_measure,
    check_lengths,
    choose_tokenization,
)

N_SAMPLES = 1000
SURE = 0.05  # a difference with a smaller p is called significant


@dataclass(frozen=True)
class MeasuredScore:
    """A measure of a corpus: the mean of its samples lies within ``mean ± margin`` in 95 %."""

    measure: str  # "bleu", "chrf" or "ter"
    score: float
    mean: float
    margin: float
    signature: str


@dataclass(frozen=True)
class Compared:
    """A measure of two systems on the same sentences."""

    measure: str
    score: float
    baseline: float
    p: float  # how often a difference this large comes about by chance

    @property
    def is_significant(self) -> bool:
        """Whether chance hardly explains the difference."""
        return self.p < SURE

    @property
    def is_better(self) -> bool:
        """Whether the system measures better than the baseline; TER is better when lower."""
        if self.measure in IS_BETTER_LOW:
            return self.score < self.baseline
        return self.score > self.baseline


def measure(
    outputs: Sequence[str],
    references: Sequence[str],
    measures: Sequence[str] = MEASURES,
    *,
    tokenize: str | None = None,
    n_samples: int = N_SAMPLES,
) -> list[MeasuredScore]:
    """Each measure of the outputs, with its interval."""
    check_lengths(outputs, references)
    _check_samples(n_samples)
    tokenize = tokenize or choose_tokenization(references)
    found = []
    for name in measures:
        built = build_measure(name, tokenize)
        score = built.corpus_score(list(outputs), [list(references)], n_bootstrap=n_samples)
        signature = str(built.get_signature())
        found.append(
            MeasuredScore(name, score.score, float(score._mean), float(score._ci), signature)
        )
    return found


def compare(
    outputs: Sequence[str],
    baseline: Sequence[str],
    references: Sequence[str],
    measures: Sequence[str] = MEASURES,
    *,
    tokenize: str | None = None,
    n_samples: int = N_SAMPLES,
) -> list[Compared]:
    """Whether the outputs differ from the baseline's by more than chance explains.

    In each sample both systems are measured on the same sentences; ``p`` is the share of samples
    whose difference, around the mean difference, exceeds the measured one.
    """
    check_lengths(outputs, references)
    check_lengths(baseline, references)
    _check_samples(n_samples)
    tokenize = tokenize or choose_tokenization(references)
    found = []
    for name in measures:
        test = PairedTest(
            [("baseline", list(baseline)), ("system", list(outputs))],
            {name: build_measure(name, tokenize)},
            [list(references)],
            test_type="bs",
            n_samples=n_samples,
        )
        results = next(row for key, row in test()[1].items() if key != "System")
        before, after = (result for result in results if isinstance(result, Result))
        # Of equal systems sacrebleu finds no sample with a larger difference, and says p ≈ 0.
        p = 1.0 if after.score == before.score else float(after.p_value or 0.0)
        found.append(Compared(name, after.score, before.score, p))
    return found


def _check_samples(n_samples: int) -> None:
    if n_samples < 2:
        given = counted(n_samples, "sample")
        raise UsageError(f"{given} cannot give an interval: draw 2 or more, 1000 as a rule")
