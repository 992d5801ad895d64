"""Dropout's masks: as many zeros as asked for, anywhere, and all decided by torch's seed."""

import math

import pytest
import torch
from torch import Tensor

from regard import engine

SIGMAS = 4.5  # one honest generator in 100,000 strays further


def kept(n: int, d: int, p: float, seed: int = 1) -> Tensor:
    """Which elements of a tensor of ones stay."""
    torch.manual_seed(seed)
    return (engine.dropout(torch.ones(n, d), p) != 0).double()


def stray(share: float | Tensor, p: float, n: int) -> Tensor:
    """How many standard deviations of a binomial a share is from 1 - p."""
    return (torch.as_tensor(share) - (1 - p)).abs() / math.sqrt(p * (1 - p) / n)


def correlation(a: Tensor, b: Tensor) -> float:
    return float(torch.corrcoef(torch.stack([a.flatten(), b.flatten()]))[0, 1])


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5])
def test_the_share_that_stays(native: None, p: float) -> None:
    n, d = 700, 300
    mask = kept(n, d, p)
    assert stray(mask.mean(), p, n * d) < SIGMAS
    assert stray(mask.mean(0), p, n).max() < SIGMAS + 1  # columns
    assert stray(mask.mean(1), p, d).max() < SIGMAS + 1  # rows


@pytest.mark.parametrize("width", [1, 7, 16, 127, 128, 129, 200])
def test_the_share_at_every_width(native: None, width: int) -> None:
    n = 40_000 // width
    assert stray(kept(n, width, 0.3).mean(), 0.3, n * width) < SIGMAS


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5])
def test_what_stays_is_scaled_up(native: None, p: float) -> None:
    value = torch.randn(50, 33)
    dropped = engine.dropout(value, p)
    stays = dropped != 0
    torch.testing.assert_close(dropped[stays], value[stays] / (1 - p), rtol=2e-5, atol=0)


@pytest.mark.parametrize("lag", [(0, 1), (1, 0), (0, 4), (0, 16), (0, 64), (0, 128), (3, 5)])
def test_neighbours_are_independent(native: None, lag: tuple[int, int]) -> None:
    mask = kept(400, 300, 0.5)
    down, right = lag
    other = mask[down:, right:]
    here = mask[: mask.shape[0] - down, : mask.shape[1] - right]
    assert abs(correlation(here, other)) < SIGMAS / math.sqrt(here.numel())


def test_two_calls_are_independent(native: None) -> None:
    torch.manual_seed(3)
    first, second = (engine.dropout(torch.ones(300, 200), 0.3) != 0 for _ in range(2))
    assert abs(correlation(first.double(), second.double())) < SIGMAS / math.sqrt(60_000)


def test_the_seed_decides(native: None) -> None:
    assert torch.equal(kept(31, 17, 0.3, seed=5), kept(31, 17, 0.3, seed=5))
    assert not torch.equal(kept(31, 17, 0.3, seed=5), kept(31, 17, 0.3, seed=6))
    near = kept(300, 200, 0.5, seed=5), kept(300, 200, 0.5, seed=6)
    assert abs(correlation(*near)) < SIGMAS / math.sqrt(60_000)


@pytest.mark.parametrize("shape", [(5, 33), (1, 1), (2, 3, 7), (13,), ()])
def test_backward_drops_what_forward_dropped(native: None, shape: tuple[int, ...]) -> None:
    value = torch.rand(shape).add(0.5).requires_grad_()
    dropped = engine.dropout(value, 0.5)
    grad = torch.rand(shape) + 0.5
    dropped.backward(grad)
    assert value.grad is not None
    torch.testing.assert_close(value.grad, grad * (dropped / value).detach())


def test_a_transposed_value_or_gradient(native: None) -> None:
    """Rows of other strides than the kernel's."""
    value = torch.rand(6, 5).add(0.5).t().requires_grad_()
    dropped = engine.dropout(value, 0.5)
    factor = (dropped / value).detach()
    assert set(factor.unique().tolist()) <= {0.0, 2.0}
    (grad,) = torch.autograd.grad(dropped, value, torch.ones(6, 5).t())
    torch.testing.assert_close(grad, factor)


def test_no_dropout_is_the_value_itself(native: None) -> None:
    value = torch.randn(3, 4)
    assert engine.dropout(value, 0.0) is value
    module = engine.Dropout(0.3)
    assert module.eval()(value) is value
    assert not torch.equal(module.train()(value), value)


@pytest.mark.parametrize("p", [1e-7, 0.999, 0.999999])
def test_extreme_shares_give_finite_numbers(native: None, p: float) -> None:
    dropped = engine.dropout(torch.ones(30, 50), p)
    assert dropped.isfinite().all()


def test_noise_inside_other_operations_has_the_same_share(native: None) -> None:
    """Embedding, feed-forward and add & norm draw as dropout does."""
    n, d, p = 500, 130, 0.3
    torch.manual_seed(2)
    ids = torch.randint(11, (n,))
    embedded = engine.embed(
        torch.ones(11, d), ids, torch.zeros(9, d), torch.zeros_like(ids), scale=1.0, p=p
    )
    inner = engine.bias_relu_dropout(torch.ones(n, d), torch.ones(d), p)
    total, _ = engine.add_norm(
        torch.zeros(n, d), torch.ones(n, d), torch.ones(d), torch.zeros(d), p=p
    )
    masks = [(result != 0).double() for result in (embedded, inner, total)]
    for mask in masks:
        assert stray(mask.mean(), p, n * d) < SIGMAS
        assert stray(mask.mean(0), p, n).max() < SIGMAS + 1
        assert stray(mask.mean(1), p, d).max() < SIGMAS + 1
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert abs(correlation(masks[a], masks[b])) < SIGMAS / math.sqrt(n * d)
    torch.testing.assert_close(embedded.max(), torch.tensor(1 / 0.7), rtol=2e-5, atol=0)
    torch.testing.assert_close(inner.max(), torch.tensor(2 / 0.7), rtol=2e-5, atol=0)


@pytest.mark.parametrize("n_keys", [1, 5, 16, 19])
def test_attention_drops_weights(native: None, n_keys: int) -> None:
    """With equal keys and values of ones, a head's output is the share of its weights that stay."""
    n_sentences, n_heads, width, p = 200, 2, 32, 0.3
    starts = torch.arange(n_sentences + 1, dtype=torch.int32) * n_keys
    projected = torch.cat(
        [torch.zeros(n_sentences * n_keys, 2 * width), torch.ones(n_sentences * n_keys, width)], 1
    )
    torch.manual_seed(4)
    context = engine.attend_packed(projected, None, engine.Spans(starts, starts), n_heads, p)
    shares = context.view(-1, n_heads, width // n_heads)
    assert torch.equal(shares, shares[:, :, :1].expand_as(shares))  # one mask for the whole value
    per_head = shares[:, :, 0].double() * (1 - p)
    n_weights = per_head.numel() * n_keys
    assert stray(per_head.mean(), p, n_weights) < SIGMAS
    assert abs(correlation(per_head[:, 0], per_head[:, 1])) < SIGMAS / math.sqrt(len(per_head))
    whole = per_head[:, 0] * n_keys  # a whole number of weights stays
    torch.testing.assert_close(whole, whole.round(), rtol=0, atol=1e-3)
