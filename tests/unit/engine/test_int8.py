"""Products of 8-bit integers: exact sums, the same for every instruction set, close to float32."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from regard.engine import instructions, supported_instructions, using_instructions
from regard.engine.panels import Panels
from regard.errors import SizeError


@pytest.fixture(params=supported_instructions() or ["none"], autouse=True)
def _compiled_for(request: pytest.FixtureRequest) -> Iterator[None]:
    with using_instructions(request.param):
        if instructions() is None:
            pytest.skip(f"no C++ kernels for {request.param}: install g++, and run make setup")
        yield


def quantised(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Integers from -127 to 127, and the scale of each row."""
    largest = np.abs(rows).max(1, keepdims=True)
    factor = np.divide(np.float32(127), largest, where=largest > 0, out=np.zeros_like(largest))
    return np.rint(rows * factor).astype(np.int64), largest / np.float32(127)


@pytest.mark.parametrize(
    ("n_rows", "n_inputs", "n_outputs"),
    [(1, 16, 16), (2, 20, 33), (3, 7, 5), (5, 64, 40), (13, 48, 16), (97, 130, 50), (25, 1024, 7)],
)
def test_they_are_what_numpy_computes(n_rows: int, n_inputs: int, n_outputs: int) -> None:
    weight, value, bias = (
        torch.randn(n_outputs, n_inputs),
        torch.randn(n_rows, n_inputs) * torch.rand(n_rows, 1) * 10,
        torch.randn(n_outputs),
    )
    found = Panels.of(weight, "int8").multiply(value, bias)
    x, x_scales = quantised(value.numpy())
    w, w_scales = quantised(weight.numpy())
    expected = (x @ w.T).astype(np.float64) * x_scales * w_scales.T + bias.numpy()
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-5)


def test_the_largest_numbers_do_not_saturate() -> None:
    signs = torch.tensor([[1.0, -1.0]]).repeat(1, 512)
    for weight in (signs, -signs, torch.ones(1, 1024)):
        for value in (signs, torch.ones(1, 1024)):
            found = Panels.of(weight, "int8").multiply(value)
            torch.testing.assert_close(found, value @ weight.T, rtol=1e-6, atol=0)


def test_a_row_of_zeros_gives_the_bias() -> None:
    weight, bias = torch.randn(9, 32), torch.randn(9)
    weight[3] = 0
    found = Panels.of(weight, "int8").multiply(torch.zeros(2, 32), bias)
    torch.testing.assert_close(found, bias.expand(2, 9))


def test_they_are_close_to_float32() -> None:
    weight, value = torch.randn(200, 256), torch.randn(30, 256)
    exact = value @ weight.T
    apart = Panels.of(weight, "int8").multiply(value) - exact
    assert apart.norm() / exact.norm() < 0.012


def test_floats_are_multiplied_by_the_same_call() -> None:
    weight, value, bias = torch.randn(21, 32), torch.randn(6, 32), torch.randn(21)
    found = Panels.of(weight).multiply(value, bias)
    torch.testing.assert_close(found, value @ weight.T + bias, rtol=1e-5, atol=1e-5)


def test_their_weights_take_a_quarter_of_the_memory() -> None:
    weight = torch.randn(64, 256)
    assert Panels.of(weight, "int8").n_bytes < 0.27 * Panels.of(weight).n_bytes


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(SizeError, match="rows of 8 numbers"):
        Panels.of(torch.randn(5, 16), "int8").multiply(torch.randn(2, 8))
