"""Which attention tells what a pronoun stands for: in "because it was too tired", the animal.

A reading is one row of attention to the words of the source. It is right where the antecedent gets
more than the other noun of the clause. Means are taken over antecedents that are subjects and over
those that are objects apart, then over both: a reading that prefers the object, whatever the
pronoun means, is right in half of the cases.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch

from regard.errors import DataError
from regard.shapes import Float, Tensor


@dataclass(frozen=True)
class Reading:
    """Whose row is read, and where; layers and heads count from 0.

    Without a head it is the mean of a layer's heads, without a layer the rollout through all.
    """

    kind: Literal["encoder", "cross"]
    layer: int | None
    head: int | None
    row: Literal["pronoun", "adjective", "translation"]  # of the pronoun, while it is written


@dataclass(frozen=True)
class Case:
    """One pronoun: what every reading gives to its antecedent and to the other noun."""

    antecedent: Float[Tensor, "R"]
    other: Float[Tensor, "R"]
    is_subject: bool  # whether the antecedent is the subject of its clause


@dataclass(frozen=True)
class ReadingScore:
    """How well one reading finds antecedents."""

    reading: Reading
    margin: float  # the mean of α(antecedent) − α(other), where it is smaller: subjects or objects
    share: float  # of pronouns whose antecedent gets more than the other noun; by chance 0.5
    weight: float  # the mean of α(antecedent)
    other: float  # the mean of α(other)
    n: int


def margins(cases: Sequence[Case]) -> Float[Tensor, "R"]:
    """The mean margin of every reading, of subjects or of objects, whichever is smaller."""
    return _by_kind(cases, [case.antecedent - case.other for case in cases]).amin(0)


def score_reading(
    readings: Sequence[Reading], cases: Sequence[Case], reading: Reading
) -> ReadingScore:
    """One reading on these cases."""
    better = [(case.antecedent > case.other).double() for case in cases]
    place = readings.index(reading)
    return ReadingScore(
        reading,
        float(margins(cases)[place]),
        float(_balanced(cases, better)[place]),
        float(_balanced(cases, [case.antecedent for case in cases])[place]),
        float(_balanced(cases, [case.other for case in cases])[place]),
        len(cases),
    )


def choose_reading(readings: Sequence[Reading], cases: Sequence[Case]) -> ReadingScore:
    """The reading that prefers the antecedent most often; of equals, by the greater margin."""
    scores = [score_reading(readings, cases, one) for one in dict.fromkeys(readings)]
    if not scores:
        raise DataError("no sentence with a pronoun was given: there is no reading to choose")
    return max(scores, key=lambda score: (score.share, score.margin))


def _balanced(cases: Sequence[Case], values: Sequence[Tensor]) -> Float[Tensor, "R"]:
    return _by_kind(cases, values).mean(0)


def _by_kind(cases: Sequence[Case], values: Sequence[Tensor]) -> Float[Tensor, "G R"]:
    """The means over subjects and over objects."""
    if not cases:
        raise DataError("no sentence with a pronoun was given: there is no reading to choose")
    groups = [
        torch.stack([v for v, case in zip(values, cases, strict=True) if case.is_subject is kind])
        for kind in (True, False)
        if any(case.is_subject is kind for case in cases)
    ]
    return torch.stack([group.double().mean(0) for group in groups])
