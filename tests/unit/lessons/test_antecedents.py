"""Which attention finds what a pronoun stands for."""

import pytest
import torch

from regard.errors import DataError
from regard.lessons.antecedents import (
    Case,
    Reading,
    choose_reading,
    margins,
    score_reading,
)


def case(antecedent: list[float], other: list[float], is_subject: bool) -> Case:
    return Case(torch.tensor(antecedent), torch.tensor(other), is_subject)


READINGS = [
    Reading("encoder", 0, 0, "pronoun"),
    Reading("cross", 1, None, "translation"),
    Reading("cross", None, None, "translation"),
]
# The first always looks at the object, the second finds the antecedent a little, the third is
# blind.
CASES = [
    case([0.0, 0.4, 0.1], [1.0, 0.2, 0.1], is_subject=True),
    case([1.0, 0.5, 0.1], [0.0, 0.1, 0.1], is_subject=False),
    case([1.0, 0.1, 0.1], [0.0, 0.3, 0.1], is_subject=False),
]


def test_a_reading_that_always_looks_at_the_object_tells_nothing() -> None:
    torch.testing.assert_close(
        margins(CASES), torch.tensor([-1.0, 0.1, 0.0], dtype=torch.float64), atol=1e-6, rtol=0
    )


def test_the_chosen_reading() -> None:
    best = choose_reading(READINGS, CASES)
    assert (best.reading, best.n) == (READINGS[1], 3)
    assert best.share == pytest.approx((1.0 + 0.5) / 2)
    assert best.weight == pytest.approx((0.4 + 0.3) / 2)
    assert best.other == pytest.approx((0.2 + 0.2) / 2)
    assert score_reading(READINGS, CASES, READINGS[0]).share == pytest.approx(0.5)


def test_without_pronouns_there_is_nothing_to_choose() -> None:
    with pytest.raises(DataError, match="no sentence with a pronoun"):
        choose_reading(READINGS, [])
