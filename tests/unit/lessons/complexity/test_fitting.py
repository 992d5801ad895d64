"""Exponents come back from data that were made with them."""

import pytest

from regard.lessons.complexity import fit_power

SIZES = [32, 64, 128, 256, 512, 1024, 2048, 4096]


@pytest.mark.parametrize("exponent", [0.0, 1.0, 1.5, 2.0])
def test_a_power_is_found_from_all_points(exponent: float) -> None:
    fit = fit_power(SIZES, [3e-6 * size**exponent for size in SIZES])
    assert fit is not None
    assert fit.exponent == pytest.approx(exponent, abs=1e-9)
    assert fit.factor == pytest.approx(3e-6)
    assert fit.residual == pytest.approx(0, abs=1e-9)
    assert fit.sizes == tuple(SIZES)


@pytest.mark.parametrize("exponent", [1, 2])
def test_what_a_call_costs_is_left_out(exponent: int) -> None:
    values = [1e-3 + 1e-6 * size**exponent for size in SIZES]
    fit = fit_power(SIZES, values)
    assert fit is not None
    assert fit.sizes == tuple(SIZES[-len(fit.sizes) :])
    assert 3 <= len(fit.sizes) < len(SIZES)
    assert fit.residual <= 0.05 or len(fit.sizes) == 3
    everything = fit_power(SIZES, values, tolerance=1e9)
    assert everything is not None
    assert everything.sizes == tuple(SIZES)
    assert abs(fit.exponent - exponent) < abs(everything.exponent - exponent)


def test_noise_within_the_tolerance_is_borne() -> None:
    values = [size**2 * (1.03 if i % 2 else 0.97) for i, size in enumerate(SIZES)]
    fit = fit_power(SIZES, values)
    assert fit is not None
    assert fit.sizes == tuple(SIZES)
    assert fit.exponent == pytest.approx(2, abs=0.02)
    assert 0.02 < fit.residual < 0.05


def test_the_residual_is_the_worst_distance() -> None:
    fit = fit_power([1, 2, 4], [1.0, 2.0 * 1.331, 4.0])
    assert fit is not None
    # The line through three logarithms lies a third of the bump above the ends.
    assert fit.exponent == pytest.approx(1)
    assert fit.residual == pytest.approx(1.1**2 - 1)


def test_order_does_not_matter() -> None:
    assert fit_power([8, 2, 4], [64.0, 4.0, 16.0]) == fit_power([2, 4, 8], [4.0, 16.0, 64.0])


@pytest.mark.parametrize("n", [0, 1, 2])
def test_fewer_than_three_points_say_nothing(n: int) -> None:
    assert fit_power(SIZES[:n], [1.0] * n) is None
