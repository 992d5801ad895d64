"""The four layers compute what their formulas say, whole and step by step."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.attention import masks
from regard.errors import SizeError
from regard.lessons.complexity import (
    Convolutional,
    DilatedConvolutional,
    Layer,
    Recurrent,
    RestrictedSelfAttention,
    SelfAttention,
)

BATCH, LENGTH, WIDTH = 2, 19, 3


@pytest.fixture
def value() -> Tensor:
    return torch.randn(BATCH, LENGTH, WIDTH, dtype=torch.float64)


def test_self_attention_is_attention_of_the_sequence_to_itself(value: Tensor) -> None:
    expected = F.scaled_dot_product_attention(value, value, value)
    torch.testing.assert_close(SelfAttention(WIDTH)(value), expected)


def test_restricted_self_attention_is_the_same_in_a_window(value: Tensor) -> None:
    mask = masks.window(LENGTH, reach=4)[0]
    expected = F.scaled_dot_product_attention(value, value, value, attn_mask=mask)
    torch.testing.assert_close(RestrictedSelfAttention(WIDTH, reach=4)(value), expected)


def test_a_recurrent_layer_keeps_a_state(value: Tensor) -> None:
    layer = Recurrent(WIDTH).double()
    weights = layer.recurrence
    state = torch.zeros(BATCH, WIDTH, dtype=torch.float64)
    for place, found in zip(value.unbind(1), layer(value).unbind(1), strict=True):
        state = torch.tanh(
            place @ weights.weight_ih_l0.T
            + weights.bias_ih_l0
            + state @ weights.weight_hh_l0.T
            + weights.bias_hh_l0
        )
        torch.testing.assert_close(found, state)


def test_a_convolution_sees_as_much_before_as_after(value: Tensor) -> None:
    layer = Convolutional(WIDTH, kernel=5).double()
    changed = value.clone()
    changed[:, 9] += 1.0
    differs = (layer(changed) != layer(value)).any(-1).any(0)
    assert differs.nonzero().flatten().tolist() == [7, 8, 9, 10, 11]


def test_a_dilated_convolution_sees_places_apart(value: Tensor) -> None:
    layer = DilatedConvolutional(WIDTH, kernel=3, dilation=4).double()
    changed = value.clone()
    changed[:, 5] += 1.0
    differs = (layer(changed) != layer(value)).any(-1).any(0)
    assert differs.nonzero().flatten().tolist() == [5, 9, 13]


@pytest.mark.parametrize(
    ("layer", "n_steps"),
    [
        (SelfAttention(WIDTH), 1),
        (Recurrent(WIDTH), LENGTH),
        (Convolutional(WIDTH, kernel=3), 1),
        (RestrictedSelfAttention(WIDTH, reach=2), 1),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, nn.Module) else "",
)
def test_step_by_step_is_the_same(value: Tensor, layer: Layer, n_steps: int) -> None:
    seen: list[Tensor] = []

    def note(result: Tensor) -> Tensor:
        seen.append(result)
        return result

    layer = layer.double()
    torch.testing.assert_close(layer.walk(value, note), layer(value))
    assert len(seen) == n_steps


@pytest.mark.parametrize("kernel", [0, 2])
def test_a_kernel_without_a_middle_is_refused(kernel: int) -> None:
    with pytest.raises(SizeError) as refused:
        Convolutional(WIDTH, kernel)
    assert str(refused.value) == (
        "a convolution that sees as many places before as after is 1, 3, 5, … places wide, "
        f"not {kernel}: choose an odd kernel"
    )
