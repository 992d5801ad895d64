"""The curves of the learning rate."""

import math

import pytest

from regard.training.schedule import SCHEDULES, constant, cosine, inverse_sqrt


@pytest.mark.parametrize("d_model", [128, 512])
@pytest.mark.parametrize("warmup", [1, 4000])
def test_inverse_sqrt_is_the_rule_of_the_paper(d_model: int, warmup: int) -> None:
    rate = inverse_sqrt((d_model * warmup) ** -0.5, warmup, 100_000)
    for n in (1, 2, warmup, warmup + 1, 100_000):
        assert rate(n) == pytest.approx(d_model**-0.5 * min(n**-0.5, n * warmup**-1.5))


@pytest.mark.parametrize("name", list(SCHEDULES))
@pytest.mark.parametrize("warmup", [0, 1, 10])
def test_all_rise_to_the_peak_and_not_beyond(name: str, warmup: int) -> None:
    rate = SCHEDULES[name](0.3, warmup, 40)
    rates = [rate(n) for n in range(1, 41)]
    assert max(rates) <= 0.3 + 1e-12
    assert all(r >= 0 for r in rates)
    for n in range(1, warmup + 1):
        assert rates[n - 1] == pytest.approx(0.3 * n / warmup)
    fall = rates[max(0, warmup - 1) :]
    assert fall == sorted(fall, reverse=True)


def test_cosine_is_at_half_the_peak_in_the_middle_and_ends_at_zero() -> None:
    rate = cosine(0.2, 10, 110)
    assert rate(60) == pytest.approx(0.1)
    assert rate(35) == pytest.approx(0.1 * (1 + math.cos(math.pi / 4)))
    assert rate(110) == pytest.approx(0.0)
    assert rate(500) == pytest.approx(0.0)  # a run made longer does not rise again


def test_constant_stays() -> None:
    assert [constant(0.2, 2, 9)(n) for n in (1, 2, 3, 9)] == [0.1, 0.2, 0.2, 0.2]


def test_a_warmup_as_long_as_the_run() -> None:
    assert cosine(1.0, 5, 5)(5) == 1.0
    assert cosine(1.0, 9, 5)(5) == pytest.approx(5 / 9)
