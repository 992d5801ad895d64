"""Where a word stands: the paper's formula, its linear shift, and the lecture's one-hot view."""

import math

import pytest
import torch

from regard.attention import Learned, Sinusoidal, Unplaced, shift_matrix, sinusoids
from regard.errors import SizeError


@pytest.mark.parametrize("d_model", [2, 6, 512])
@pytest.mark.parametrize("first", [0, 3, 100_000])
def test_sinusoids_are_the_papers_formula(d_model: int, first: int) -> None:
    table = sinusoids(4, d_model, first=first)
    assert table.shape == (4, d_model)
    assert table.dtype == torch.float32
    for row in range(4):
        for i in range(0, d_model, max(2, d_model // 16 * 2)):
            angle = (first + row) / 10_000 ** (i / d_model)
            assert float(table[row, i]) == pytest.approx(math.sin(angle), abs=2e-7)
            assert float(table[row, i + 1]) == pytest.approx(math.cos(angle), abs=2e-7)


def test_first_place_is_zeros_and_ones_in_turn() -> None:
    assert sinusoids(1, 6).tolist() == [[0, 1, 0, 1, 0, 1]]


@pytest.mark.parametrize("offset", [-7, -1, 0, 1, 3, 50])
@pytest.mark.parametrize("d_model", [2, 6, 64])
def test_a_shift_is_a_linear_map_that_does_not_depend_on_the_place(
    offset: int, d_model: int
) -> None:
    table = sinusoids(120, d_model).double()
    places = torch.arange(max(0, -offset), 120 - max(0, offset))
    matrix = shift_matrix(offset, d_model)
    assert matrix.shape == (d_model, d_model)
    torch.testing.assert_close(
        table[places] @ matrix.T, table[places + offset], atol=1e-6, rtol=1e-6
    )


def test_shifts_add_up_and_undo_each_other() -> None:
    torch.testing.assert_close(shift_matrix(2, 6) @ shift_matrix(3, 6), shift_matrix(5, 6))
    eye = torch.eye(6, dtype=torch.float64)
    torch.testing.assert_close(shift_matrix(4, 6) @ shift_matrix(-4, 6), eye)
    torch.testing.assert_close(shift_matrix(4, 6).T, shift_matrix(-4, 6))


@pytest.mark.parametrize("make", [lambda: sinusoids(3, 5), lambda: Sinusoidal(5)])
def test_odd_widths_are_refused(make: "type") -> None:
    with pytest.raises(SizeError) as refusal:
        make()
    assert str(refusal.value) == (
        "sinusoidal positions pair a sine with a cosine: d_model must be even, not 5"
    )


def test_shift_of_an_odd_width_is_refused() -> None:
    with pytest.raises(SizeError, match="d_model must be even, not 5"):
        shift_matrix(1, 5)


def test_sinusoidal_adds_and_grows() -> None:
    positions = Sinusoidal(6, n_prepared=4)
    value = torch.randn(2, 3, 6)
    torch.testing.assert_close(positions(value), value + sinusoids(3, 6))
    long = torch.randn(2, 11, 6)
    torch.testing.assert_close(positions(long, 9), long + sinusoids(11, 6, first=9))
    torch.testing.assert_close(positions(value, 1), value + sinusoids(3, 6, first=1))
    assert positions.state_dict() == {}
    assert list(positions.parameters()) == []


def test_sinusoidal_that_grew_while_inferring_can_train_again() -> None:
    positions = Sinusoidal(6, n_prepared=2)
    with torch.inference_mode():
        positions(torch.zeros(1, 9, 6))
    value = torch.randn(2, 7, 6, requires_grad=True)
    positions(value).pow(2).sum().backward()
    assert value.grad is not None


@pytest.mark.parametrize("kind", [Sinusoidal(6), Learned(6, 9), Unplaced()])
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_precision_of_the_model_is_kept(kind: torch.nn.Module, dtype: torch.dtype) -> None:
    assert kind.to(dtype)(torch.zeros(1, 3, 6, dtype=dtype)).dtype == dtype
    kind.float()


def test_learned_is_the_one_hot_view() -> None:
    """``W [x; p] = W_x x + W_p p``: a one-hot place appended is a row of a table added."""
    n_places, d_model, d_word, length = 7, 6, 5, 4
    matrix = torch.randn(d_model, d_word + n_places, dtype=torch.float64)
    word = torch.randn(2, length, d_word, dtype=torch.float64)
    place = torch.eye(n_places, dtype=torch.float64)[2 : 2 + length].expand(2, -1, -1)
    appended = torch.cat([word, place], dim=-1) @ matrix.T

    positions = Learned(d_model, n_places).double()
    positions.load_state_dict({"table": matrix[:, d_word:].T.contiguous()})
    torch.testing.assert_close(positions(word @ matrix[:, :d_word].T, 2), appended)


def test_learned_knows_its_limit() -> None:
    positions = Learned(6, 4)
    assert positions(torch.zeros(1, 4, 6)).shape == (1, 4, 6)
    assert positions(torch.zeros(1, 1, 6), 3).shape == (1, 1, 6)
    with pytest.raises(SizeError) as refusal:
        positions(torch.zeros(1, 2, 6), 3)
    assert str(refusal.value) == (
        "this model learned 4 positions and was given 5: "
        "shorten the input, or train with a larger model.max_length"
    )


def test_learned_positions_learn_only_where_they_were_used() -> None:
    positions = Learned(6, 5)
    positions(torch.zeros(2, 2, 6), 1).sum().backward()
    gradient = positions.get_parameter("table").grad
    assert gradient is not None
    assert gradient.abs().sum(-1).tolist() == [0, 12, 12, 0, 0]


def test_unplaced_adds_nothing() -> None:
    value = torch.randn(2, 3, 6)
    assert torch.equal(Unplaced()(value, 5), value)
