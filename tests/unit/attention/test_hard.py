"""Hard attention: what it samples, how probable it says that was, and REINFORCE on top of it."""

import copy

import pytest
import torch

from regard.attention import Hard, masks

SCORES = torch.tensor([0.3, -1.2, 1.1, 0.0, -0.4], dtype=torch.float64)


def hard(seed: int = 7) -> Hard:
    return Hard(torch.Generator().manual_seed(seed))


def test_evaluating_takes_the_best_place_that_may_be_seen() -> None:
    normaliser = hard().eval()
    scores = SCORES.expand(1, 2, 5)
    mask = torch.tensor([[True] * 5, [True, True, False, True, True]])
    weights, choice = normaliser(scores, mask)
    assert choice is not None
    log_probability = choice.log_probability
    assert weights.argmax(-1).tolist() == [[2, 0]]
    assert log_probability is not None
    torch.testing.assert_close(log_probability[0, 0], SCORES.log_softmax(0)[2])
    seen = SCORES[[0, 1, 3, 4]].log_softmax(0)
    torch.testing.assert_close(log_probability[0, 1], seen[0])


def test_sampling_follows_the_softmax() -> None:
    """Pearson's χ² with 4 degrees of freedom stays below the 99.9 % point, 18.47."""
    n = 20_000
    weights = hard()(SCORES.expand(n, 1, 5)).weights
    counts, wanted = weights.sum((0, 1)), n * SCORES.softmax(0)
    assert ((counts - wanted) ** 2 / wanted).sum() < 18.47


def test_sampling_never_falls_on_a_masked_place() -> None:
    mask = masks.padding(torch.tensor([3]), 5)
    weights = hard()(SCORES.expand(2000, 1, 1, 5), mask).weights
    assert (weights[..., 3:] == 0).all()
    assert (weights.sum(-1) == 1).all()


def test_log_probability_is_that_of_the_sample() -> None:
    scores = torch.randn(3, 2, 4, 5, dtype=torch.float64)
    weights, choice = hard()(scores)
    assert choice is not None
    log_probability = choice.log_probability
    torch.testing.assert_close(log_probability, (scores.log_softmax(-1) * weights).sum(-1))


def test_gradient_of_the_log_probability_is_the_analytic_one() -> None:
    """``∂ log p(place) / ∂e = onehot(place) - softmax(e)``, and none on what is masked."""
    scores = torch.randn(3, 2, 4, 5, dtype=torch.float64, requires_grad=True)
    mask = masks.padding(torch.tensor([5, 3, 1])) & masks.causal(4, 5)
    weights, choice = hard()(scores, mask)
    assert choice is not None
    log_probability = choice.log_probability
    assert log_probability is not None
    (gradient,) = torch.autograd.grad(log_probability.sum(), scores)
    softmax = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    torch.testing.assert_close(gradient, weights - softmax)
    assert not weights.requires_grad


def test_generator_decides_what_is_sampled() -> None:
    scores = torch.randn(8, 9, 5)
    first, again, other = (hard(seed)(scores).weights for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    before = torch.get_rng_state()
    hard()(scores)
    assert torch.equal(torch.get_rng_state(), before), "the shared generator was touched"


def test_without_a_generator_torch_seeds_it() -> None:
    scores = torch.randn(8, 9, 5)
    draws = []
    for _ in range(2):
        torch.manual_seed(3)
        draws.append(Hard()(scores).weights)
    assert torch.equal(*draws)


def test_a_row_that_sees_nothing_is_zero_with_zero_gradient() -> None:
    scores = torch.randn(1, 2, 3, requires_grad=True)
    mask = torch.tensor([[True, True, True], [False, False, False]])
    for normaliser in (hard(), hard().eval()):
        weights, choice = normaliser(scores, mask)
        assert choice is not None
        log_probability = choice.log_probability
        assert weights[0, 1].tolist() == [0, 0, 0]
        assert log_probability is not None
        assert log_probability[0, 1] == 0
        (gradient,) = torch.autograd.grad(log_probability.sum(), scores)
        assert torch.isfinite(gradient).all()
        assert gradient[0, 1].tolist() == [0, 0, 0]


def test_can_be_copied_with_its_generator() -> None:
    original = hard()
    duplicate = copy.deepcopy(original)
    scores = torch.randn(8, 9, 5)
    assert torch.equal(original(scores).weights, duplicate(scores).weights)


@pytest.mark.parametrize("baseline", [0.0, 0.5])
def test_reinforce_agrees_with_the_exact_gradient(baseline: float) -> None:
    """``E[(R - b) ∇ log p] = ∇ Σ p R`` within four standard errors."""
    n = 20_000
    reward = torch.tensor([1.0, 0.2, -0.5, 2.0, 0.7], dtype=torch.float64)
    exact_scores = SCORES.clone().requires_grad_()
    (exact,) = torch.autograd.grad((exact_scores.softmax(0) * reward).sum(), exact_scores)

    scores = SCORES.repeat(n, 1, 1).requires_grad_()
    weights, choice = hard()(scores)
    assert choice is not None
    log_probability = choice.log_probability
    assert log_probability is not None
    earned = (weights * reward).sum(-1) - baseline
    (each,) = torch.autograd.grad((earned * log_probability).sum(), scores)
    each = each[:, 0]
    error = each.std(0) / n**0.5
    assert ((each.mean(0) - exact).abs() < 4 * error).all()


def test_half_of_the_queries_get_the_expectation_while_learning() -> None:
    scores = torch.randn(20, 100, 5, requires_grad=True)
    normaliser = Hard(torch.Generator().manual_seed(3), expectation=0.5)
    found = normaliser(scores)
    assert found.choice is not None
    is_expected = ((found.weights > 0) & (found.weights < 1)).any(-1)
    assert 0.45 < is_expected.float().mean() < 0.55
    torch.testing.assert_close(found.weights[is_expected], scores.softmax(-1)[is_expected])
    assert (found.choice.log_probability[is_expected] == 0).all()  # nothing was chosen
    assert (found.choice.log_probability[~is_expected] < 0).all()
    (found.weights * torch.arange(5)).sum().backward()
    assert scores.grad is not None
    assert (scores.grad[~is_expected] == 0).all()
    assert (scores.grad[is_expected] != 0).any()
    assert set(normaliser.eval()(scores).weights.unique().tolist()) == {0.0, 1.0}


def test_entropy_is_that_of_the_distribution_and_has_a_slope_everywhere() -> None:
    scores = torch.tensor([[[0.0, 0.0], [0.0, 500.0]]], requires_grad=True)
    found = Hard()(scores)
    assert found.choice is not None
    assert found.choice.entropy[0].tolist() == pytest.approx([0.6931472, 0.0])
    found.choice.entropy.sum().backward()
    assert scores.grad is not None
    assert scores.grad.isfinite().all()
