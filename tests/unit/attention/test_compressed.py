"""Memory-compressed attention: full attention at stride 1, blind to the future at every stride."""

import pytest
import torch
from torch import Tensor

from regard.attention import Attention, CompressedAttention, ScaledDot, masks
from regard.errors import SizeError

BATCH, HEADS, WIDTH = 2, 3, 4


def build(stride: int, *, averages: bool = False) -> CompressedAttention:
    torch.manual_seed(stride)
    return CompressedAttention(HEADS * WIDTH, HEADS, stride=stride, averages=averages).double()


def draw(length: int) -> tuple[Tensor, Tensor, Tensor]:
    one, two, three = torch.randn(3, BATCH, HEADS, length, WIDTH, dtype=torch.float64)
    return one.requires_grad_(), two.requires_grad_(), three.requires_grad_()


def watched(attention: CompressedAttention, *given: Tensor) -> tuple[Tensor, Tensor]:
    seen: list[Tensor] = []

    def listen(weights: Tensor) -> Tensor:
        seen.append(weights)
        return weights

    attention.weights.attach(listen)
    context = attention(*given)
    attention.weights.detach(listen)
    return context, seen[0]


@pytest.mark.parametrize("length", [1, 2, 17])
def test_stride_one_and_an_identity_kernel_are_full_causal_attention(length: int) -> None:
    attention = build(1)
    with torch.no_grad():
        for convolution in (attention.compress_key, attention.compress_value):
            assert convolution is not None
            torch.nn.init.dirac_(convolution.weight)
            convolution.bias.zero_()  # type: ignore[union-attr]
    given = draw(length)
    full = Attention(ScaledDot(WIDTH, WIDTH))(*given, masks.causal(length)).context
    found = attention(*given)
    torch.testing.assert_close(found, full)
    ours, theirs = (torch.autograd.grad(one.square().sum(), given) for one in (found, full))
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other)


@pytest.mark.parametrize(("length", "stride"), [(2, 3), (20, 3), (8, 4)])
def test_averages_are_a_convolution_whose_kernel_is_the_mean(length: int, stride: int) -> None:
    attention, averaging = build(stride), build(stride, averages=True)
    assert not list(averaging.parameters())
    with torch.no_grad():
        for convolution in (attention.compress_key, attention.compress_value):
            assert convolution is not None
            mean = torch.eye(HEADS * WIDTH)[..., None] / stride
            convolution.weight.copy_(mean.expand_as(convolution.weight))
            convolution.bias.zero_()  # type: ignore[union-attr]
    given = draw(length)
    torch.testing.assert_close(averaging(*given), attention(*given))
    torch.testing.assert_close(watched(averaging, *given)[0], averaging(*given))


@pytest.mark.parametrize(("length", "stride"), [(1, 3), (2, 3), (3, 3), (20, 3), (31, 4), (8, 9)])
def test_fused_and_watched_give_the_same_values_and_gradients(length: int, stride: int) -> None:
    attention, given = build(stride), draw(length)
    fused = attention(*given)
    opened, weights = watched(attention, *given)
    torch.testing.assert_close(fused, opened)
    torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    if length >= stride:
        learned = [*given, *attention.parameters()]
        pairs = (torch.autograd.grad(one.sin().sum(), learned) for one in (fused, opened))
        for mine, other in zip(*pairs, strict=True):
            torch.testing.assert_close(mine, other)


@pytest.mark.parametrize("stride", [1, 2, 3, 5])
def test_no_block_shows_what_comes_after_its_query(stride: int) -> None:
    attention, (query, key, value) = build(stride), draw(13)
    found = attention(query, key, value)
    for place in range(13):
        by_key, by_value = torch.autograd.grad(
            found[:, :, place].sin().sum(), (key, value), retain_graph=True
        )
        assert not by_key[:, :, place + 1 :].any()
        assert not by_value[:, :, place + 1 :].any()
        # All of the blocks that have ended are seen, and the one that is begun is not.
        n_ended = (place + 1) // stride * stride
        assert bool(by_value[:, :, :n_ended].any(-1).all())
        assert not by_value[:, :, n_ended:].any()


def test_before_the_first_block_ends_only_the_null_key_is_seen() -> None:
    attention, given = build(3), draw(7)
    context, weights = watched(attention, *given)
    assert weights.shape == (BATCH, HEADS, 7, 1 + 2)
    torch.testing.assert_close(weights[:, :, :2, 0], torch.ones_like(weights[:, :, :2, 0]))
    assert not context[:, :, :2].any()
    assert not weights[:, :, 2:, 0].any()


def test_impossible_sizes_are_refused() -> None:
    with pytest.raises(SizeError, match="stride of 0"):
        CompressedAttention(12, 3, stride=0)
    with pytest.raises(SizeError, match="width 10 with 3 heads"):
        CompressedAttention(10, 3, stride=3)
