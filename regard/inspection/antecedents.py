"""Which head finds what a pronoun stands for: in "because it was too tired", the animal.

A head tells the antecedent from the other noun of the clause by ``α(antecedent) − α(other)``. Its
mean is taken over subjects and over objects apart, then over both: a head that always looks at the
object, whatever the pronoun means, gets 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from regard.errors import DataError
from regard.shapes import Float, Tensor


@dataclass(frozen=True)
class Case:
    """One pronoun: what every head gives to its antecedent and to the other noun."""

    antecedent: Float[Tensor, "N H"]
    other: Float[Tensor, "N H"]
    is_subject: bool  # whether the antecedent is the subject of its clause


@dataclass(frozen=True)
class HeadScore:
    """How well one head finds antecedents; layers and heads count from 0."""

    layer: int
    head: int
    margin: float  # the mean of α(antecedent) − α(other), subjects and objects alike
    share: float  # of pronouns whose antecedent gets more than the other noun; by chance 0.5
    weight: float  # the mean of α(antecedent)
    n: int


def margins(cases: Sequence[Case]) -> Float[Tensor, "N H"]:
    """The mean margin of every head, subjects and objects counting alike."""
    return _balanced(cases, [case.antecedent - case.other for case in cases])


def score_head(cases: Sequence[Case], layer: int, head: int) -> HeadScore:
    """One head on these cases."""
    better = [(case.antecedent > case.other).double() for case in cases]
    place = (layer, head)
    return HeadScore(
        layer,
        head,
        float(margins(cases)[place]),
        float(_balanced(cases, better)[place]),
        float(_balanced(cases, [case.antecedent for case in cases])[place]),
        len(cases),
    )


def choose_head(cases: Sequence[Case]) -> HeadScore:
    """The head with the greatest margin; the first of equals."""
    found = margins(cases)
    layer, head = divmod(int(found.flatten().argmax()), found.shape[1])
    return score_head(cases, layer, head)


def _balanced(cases: Sequence[Case], values: Sequence[Tensor]) -> Float[Tensor, "N H"]:
    if not cases:
        raise DataError("no sentence with a pronoun was given: there is no head to choose")
    groups = [
        torch.stack([v for v, case in zip(values, cases, strict=True) if case.is_subject is kind])
        for kind in (True, False)
        if any(case.is_subject is kind for case in cases)
    ]
    return torch.stack([group.double().mean(0) for group in groups]).mean(0)
