"""REINFORCE against the exact gradient of an expectation, by enumeration of a small policy."""

from collections.abc import Callable
from itertools import product

import pytest
import torch
from torch import Tensor, nn

from regard.errors import SizeError, UsageError
from regard.models.reinforce import MovingAverage, MovingAverages, baseline_loss, reinforce

REWARDS = torch.tensor([[1.0, -2.0, 0.5], [3.0, 7.0, 4.0]], dtype=torch.double)
SCORES = torch.tensor([0.3, -1.0, 0.8, 0.1, -0.4], dtype=torch.double)


def policy(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probabilities of a first draw of two, and of a second of three that depends on it."""
    first = scores[:2].log_softmax(0)
    second = torch.stack([scores[2:] * sign for sign in (1.0, -2.0)]).log_softmax(1)
    return first, second


def exact() -> Tensor:
    """``∇ E[R]``, through the expectation itself."""
    scores = SCORES.clone().requires_grad_()
    first, second = policy(scores)
    ((first[:, None] + second).exp() * REWARDS).sum().backward()  # type: ignore[no-untyped-call]
    assert scores.grad is not None
    return scores.grad


def estimates(baseline: float) -> tuple[Tensor, Tensor]:
    """For each pair of draws the probability, and the gradient that REINFORCE would take."""
    probabilities, gradients = [], []
    for a, b in product(range(2), range(3)):
        scores = SCORES.clone().requires_grad_()
        first, second = policy(scores)
        drawn = torch.stack([first[a], second[a, b]])
        loss = reinforce(drawn, REWARDS[a, b].expand(2), baseline)
        assert float(loss.detach()) == 0
        loss.backward()
        assert scores.grad is not None
        probabilities.append(drawn.sum().exp().detach())
        gradients.append(-scores.grad)
    return torch.stack(probabilities), torch.stack(gradients)


def expected_reward() -> float:
    first, second = policy(SCORES)
    return float(((first[:, None] + second).exp() * REWARDS).sum())


def spread(probabilities: Tensor, gradients: Tensor) -> float:
    mean = probabilities @ gradients
    return float(probabilities @ (gradients - mean).square().sum(1))


@pytest.mark.parametrize("baseline", [0.0, 1.5, -3.0])
def test_its_expectation_is_the_exact_gradient_whatever_the_baseline(baseline: float) -> None:
    probabilities, gradients = estimates(baseline)
    assert float(probabilities.sum()) == pytest.approx(1)
    torch.testing.assert_close(probabilities @ gradients, exact())


def test_a_baseline_that_expects_the_reward_lets_it_vary_less() -> None:
    without, right, wrong = (spread(*estimates(one)) for one in (0.0, expected_reward(), -9.0))
    assert right < 0.75 * without
    assert wrong > 2 * without


def test_only_the_draw_is_learned() -> None:
    drawn = torch.tensor([-0.5, -1.0], requires_grad=True)
    reward, baseline = (torch.tensor([2.0, 3.0], requires_grad=True) for _ in range(2))
    reinforce(drawn, reward * 2, baseline).backward()
    assert drawn.grad is not None
    assert drawn.grad.tolist() == [-2.0, -3.0]
    assert reward.grad is None
    assert baseline.grad is None


def test_entropy_keeps_a_policy_open() -> None:
    scores = SCORES.clone().requires_grad_()
    logs = scores.log_softmax(0)
    entropy = -(logs.exp() * logs).sum()
    still = torch.zeros((), dtype=torch.double)
    reinforce(logs[1], still, entropy=entropy, entropy_weight=0.5).backward()
    assert scores.grad is not None
    after = (SCORES - 0.1 * scores.grad).log_softmax(0)
    before = SCORES.log_softmax(0)
    assert -(after.exp() * after).sum() > -(before.exp() * before).sum()
    again = SCORES.clone().requires_grad_()
    logs = again.log_softmax(0)
    (0.5 * (logs.exp() * logs).sum()).backward()  # type: ignore[no-untyped-call]
    torch.testing.assert_close(scores.grad, again.grad)


def test_a_learned_baseline_comes_to_expect_the_reward_and_changes_nothing_else() -> None:
    state, reward = torch.randn(64, 3, requires_grad=True), torch.randn(64) + 5
    layer = nn.Linear(3, 1)
    optimizer = torch.optim.Adam(layer.parameters(), 0.1)
    for _ in range(300):
        optimizer.zero_grad()
        baseline_loss(layer(state.detach())[:, 0], reward).backward()
        optimizer.step()
    assert float(layer(state).detach().mean()) == pytest.approx(float(reward.mean()), abs=0.05)
    assert state.grad is None
    given = reward.clone().requires_grad_()
    baseline_loss(layer(state)[:, 0], given).backward()
    assert given.grad is None


def test_a_moving_average_knows_what_was_before() -> None:
    average = MovingAverage(decay=0.5)
    told = [float(average(torch.full((3,), reward))) for reward in (4.0, 4.0, 8.0, 0.0)]
    assert told == pytest.approx([0.0, 4.0, 4.0, (8 * 0.5 + 4 * 0.25 + 4 * 0.125) / 0.875])
    average.eval()
    before = average.state_dict()["mean"].clone()
    assert float(average(torch.ones(2))) == float(average(torch.zeros(2)))
    assert before.equal(average.mean)
    again = MovingAverage(decay=0.5)
    again.load_state_dict(average.state_dict())
    assert float(again(torch.ones(1))) == float(average(torch.ones(1)))


@pytest.mark.parametrize(
    ("call", "error", "fact"),
    [
        (lambda: reinforce(torch.zeros(2), torch.zeros(3)), SizeError, r"\(2,\) and \(3,\)"),
        (
            lambda: reinforce(torch.zeros(2), torch.zeros(2), entropy_weight=0.1),
            UsageError,
            "needs the policy's entropy",
        ),
        (lambda: MovingAverage(1.0), UsageError, "not 1.0"),
    ],
)
@pytest.mark.usefixtures("as_users_call")
def test_what_does_not_fit_is_refused(
    call: Callable[[], object], error: type[Exception], fact: str
) -> None:
    with pytest.raises(error, match=fact):
        call()


def test_each_kind_has_a_moving_average_of_its_own() -> None:
    average = MovingAverages(4).train()
    kinds = torch.tensor([1, 1, 2])
    assert average(torch.tensor([-1.0, -3.0, -8.0]), kinds).tolist() == [0.0, 0.0, 0.0]
    # The first rewards count in full; of a kind never seen the mean of the others is expected.
    second = average(torch.tensor([-4.0, -4.0]), torch.tensor([1, 3]))
    assert second.tolist() == pytest.approx([-2.0, -5.0])
    expected = average.eval()(torch.zeros(2), torch.tensor([1, 2]))
    mean = (0.9 * 0.1 * -2 + 0.1 * -4) / (1 - 0.9**2)
    assert expected.tolist() == pytest.approx([mean, -8.0])
    assert average(torch.zeros(2), torch.tensor([1, 2])).tolist() == expected.tolist()
    with pytest.raises(UsageError, match="not 1"):
        MovingAverages(4, decay=1.0)
