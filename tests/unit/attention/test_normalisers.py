"""Soft and local normalisers against the papers' equations, and what they refuse."""

import math

import pytest
import torch
from torch import Tensor

from regard.attention import LocalMonotonic, LocalPredictive, Soft, masked_softmax, masks
from regard.errors import SizeError

BATCH, HEADS, QUERIES, KEYS, WIDTH = 2, 3, 4, 7, 5


def random(*shape: int, requires_grad: bool = False) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=requires_grad)


def softmax_over(scores: Tensor, places: list[int]) -> dict[int, float]:
    total = sum(math.exp(float(scores[s])) for s in places)
    return {s: math.exp(float(scores[s])) / total for s in places}


def test_soft_is_the_softmax() -> None:
    scores = random(BATCH, HEADS, QUERIES, KEYS)
    torch.testing.assert_close(
        Soft()(scores).weights, scores.exp() / scores.exp().sum(-1)[..., None]
    )


def test_soft_survives_scores_that_would_overflow() -> None:
    scores = torch.tensor([[[1e4, -1e4, 1e4]]])
    assert Soft()(scores).weights.tolist() == [[[0.5, 0.0, 0.5]]]


def test_masked_softmax_is_the_softmax_of_what_is_seen() -> None:
    scores, mask = random(BATCH, 1, QUERIES, KEYS), torch.rand(BATCH, 1, QUERIES, KEYS) > 0.5
    mask[..., 0] = True
    weights = masked_softmax(scores, mask)
    for b in range(BATCH):
        for t in range(QUERIES):
            seen = [s for s in range(KEYS) if mask[b, 0, t, s]]
            wanted = softmax_over(scores[b, 0, t], seen)
            for s in range(KEYS):
                assert float(weights[b, 0, t, s]) == pytest.approx(wanted.get(s, 0.0), abs=1e-12)


def test_rows_that_see_nothing_are_zero_with_zero_gradient() -> None:
    scores = random(1, 2, 3, requires_grad=True)
    mask = torch.tensor([[True, False, True], [False, False, False]])
    weights = masked_softmax(scores, mask)
    assert weights[0, 1].tolist() == [0, 0, 0]
    (gradient,) = torch.autograd.grad((weights * random(1, 2, 3)).sum(), scores)
    assert gradient[0, 1].tolist() == [0, 0, 0]
    assert gradient[0, 0, 1] == 0
    assert gradient[0, 0, 0] != 0


def test_scores_that_are_minus_infinity_outside_the_mask_do_no_harm() -> None:
    scores = torch.tensor([[[-math.inf, 1.0, 2.0]]])
    weights = masked_softmax(scores, torch.tensor([[[False, True, True]]]))
    assert torch.isfinite(weights).all()


def test_a_mask_with_heads_for_scores_without_is_refused() -> None:
    with pytest.raises(SizeError) as refusal:
        masked_softmax(random(2, 4, 7), torch.ones(2, 3, 4, 7, dtype=torch.bool))
    assert str(refusal.value) == (
        "a mask of shape (2, 3, 4, 7) does not fit scores of shape (2, 4, 7): its axes are batch, "
        "heads, queries, keys, and the heads are 1 where the scores have none"
    )


@pytest.mark.parametrize("reach", [1, 2, 3])
@pytest.mark.parametrize("first", [0, 2])
@pytest.mark.parametrize("is_masked", [False, True])
def test_local_monotonic_is_luongs_equation(reach: int, first: int, is_masked: bool) -> None:
    """``pₜ = t``: the softmax over the window ``[t - D, t + D]`` and nothing else."""
    scores = random(BATCH, HEADS, QUERIES, KEYS)
    lengths = torch.tensor([KEYS - 3, KEYS])
    mask = masks.padding(lengths, KEYS) if is_masked else None
    weights = LocalMonotonic(reach)(scores, mask, first=first).weights
    for b in range(BATCH):
        length = int(lengths[b]) if is_masked else KEYS
        for h in range(HEADS):
            for t in range(QUERIES):
                centre = first + t
                window = [s for s in range(length) if centre - reach <= s <= centre + reach]
                wanted = softmax_over(scores[b, h, t], window)
                for s in range(KEYS):
                    assert float(weights[b, h, t, s]) == pytest.approx(wanted.get(s, 0), abs=1e-12)


def test_local_monotonic_beyond_the_last_key_is_zero() -> None:
    weights = LocalMonotonic(1)(random(1, 3, 4), first=10).weights
    assert (weights == 0).all()


@pytest.mark.parametrize("reach", [1, 2, 4])
@pytest.mark.parametrize("is_masked", [False, True])
@pytest.mark.parametrize("n_heads", [None, HEADS])
def test_local_predictive_is_luongs_equation(
    reach: int, is_masked: bool, n_heads: int | None
) -> None:
    """``pₜ = S sigmoid(vᵀ tanh(W hₜ))``, ``aₜ(s) = align(hₜ, hₛ) exp(-(s - pₜ)² / 2σ²)``."""
    normaliser = LocalPredictive(WIDTH, reach, n_heads or 1).double()
    heads = () if n_heads is None else (n_heads,)
    query, scores = random(BATCH, *heads, QUERIES, WIDTH), random(BATCH, *heads, QUERIES, KEYS)
    lengths = torch.tensor([KEYS - 3, KEYS])
    mask = masks.padding(lengths, KEYS) if is_masked else None
    weights = normaliser(scores, mask, query=query).weights.detach()
    assert weights.shape == scores.shape
    if n_heads is None:
        query, scores, weights = query[:, None], scores[:, None], weights[:, None]
    matrix, vector = normaliser.weight.detach(), normaliser.v.detach()
    for b in range(BATCH):
        length = int(lengths[b]) if is_masked else KEYS
        for h in range(n_heads or 1):
            for t in range(QUERIES):
                hidden = torch.tanh(matrix[h] @ query[b, h, t])
                place = length / (1 + math.exp(-float(vector[h, :, 0] @ hidden)))
                window = [s for s in range(length) if place - reach <= s <= place + reach]
                aligned = softmax_over(scores[b, h, t], window)
                for s in range(KEYS):
                    sigma = reach / 2
                    wanted = aligned.get(s, 0.0) * math.exp(-((s - place) ** 2) / (2 * sigma**2))
                    assert float(weights[b, h, t, s]) == pytest.approx(wanted, abs=1e-12)


def test_local_predictive_learns_its_place() -> None:
    """The Gaussian carries a gradient to W and v: that is why the paper has it."""
    normaliser = LocalPredictive(WIDTH, 2)
    weights = normaliser(torch.randn(1, 3, KEYS), query=torch.randn(1, 3, WIDTH)).weights
    weights[..., 2].sum().backward()
    for parameter in normaliser.parameters():
        assert parameter.grad is not None
        assert parameter.grad.abs().sum() > 0


@pytest.mark.parametrize("is_masked", [False, True])
@pytest.mark.parametrize("name", ["soft", "local-m", "local-p"])
def test_gradients(name: str, is_masked: bool) -> None:
    scores = random(1, 2, 3, 5, requires_grad=True)
    query = random(1, 2, 3, 4, requires_grad=True)
    mask = masks.causal(3, 5) & masks.padding(torch.tensor([4]), 5) if is_masked else None
    normaliser = {
        "soft": Soft(),
        "local-m": LocalMonotonic(2),
        "local-p": LocalPredictive(4, 3, 2).double(),
    }[name]
    parameters = tuple(normaliser.parameters())

    def normalised(scores: Tensor, query: Tensor, *_parameters: Tensor) -> Tensor:
        weights: Tensor = normaliser(scores, mask, query=query).weights
        return weights

    assert torch.autograd.gradcheck(normalised, (scores, query, *parameters), fast_mode=True)


@pytest.mark.parametrize("reach", [0, -1])
def test_reach_that_reaches_nothing_is_refused(reach: int) -> None:
    message = f"local attention reaches 1 or more places to each side, not {reach}"
    with pytest.raises(SizeError, match=message):
        LocalMonotonic(reach)
    with pytest.raises(SizeError, match=message):
        LocalPredictive(4, reach)


def test_local_predictive_needs_the_query() -> None:
    with pytest.raises(SizeError) as refusal:
        LocalPredictive(4, 1)(random(1, 2, 3))
    assert str(refusal.value) == "local-p predicts its place from the query: pass query= along"
