"""REINFORCE with a baseline: how what is drawn by lot is learned (Williams 1992).

Sampling has no gradient, but the expectation of a reward has one, which samples estimate:
``∇ E[R] = E[(R - b) ∇ log p(a)]``, where a is the action that was drawn and log p the one number of
it. No baseline b that does not depend on a changes that expectation, since ``E[∇ log p(a)] = 0``; a
good one, such as what R was expected to be, makes the estimate vary less.
"""

import torch
from torch import nn

from regard.errors import SizeError, UsageError
from regard.shapes import Float, Tensor


def reinforce(
    log_probability: Float[Tensor, "*N"],
    reward: Float[Tensor, "*N"],
    baseline: Float[Tensor, "*N"] | Float[Tensor, ""] | float = 0.0,
    *,
    entropy: Float[Tensor, "*N"] | None = None,
    entropy_weight: float = 0.0,
) -> Float[Tensor, ""]:
    """A number that is 0, and whose gradient is that of ``-Σ (R - b) log p(a) - λ Σ H``.

    It is added to the loss of a batch: gradient descent on it makes rewards larger, and with λ, the
    ``entropy_weight``, keeps the policy from settling early. Neither reward nor baseline gets a
    gradient: a baseline that is learned learns by :func:`baseline_loss`.
    """
    if log_probability.shape != reward.shape:
        raise SizeError(
            f"every draw has a log-probability and a reward, and there are "
            f"{tuple(log_probability.shape)} and {tuple(reward.shape)} of them"
        )
    baseline = baseline.detach() if isinstance(baseline, Tensor) else baseline
    policy = -((reward.detach() - baseline) * log_probability).sum()
    if entropy_weight:
        if entropy is None:
            raise UsageError(f"entropy_weight = {entropy_weight} needs the policy's entropy")
        policy = policy - entropy_weight * entropy.sum()
    return policy - policy.detach()  # the way to a gradient; as a value it says nothing


def baseline_loss(baseline: Float[Tensor, "*N"], reward: Float[Tensor, "*N"]) -> Float[Tensor, ""]:
    """``½ Σ (R - b)²``: a baseline that is learned comes to expect the reward."""
    return 0.5 * (reward.detach() - baseline).square().sum()


class MovingAverage(nn.Module):
    """Baseline of the rewards so far: ``b ← ρ b + (1 - ρ) R̄`` (Xu et al. 2015, ρ = 0.9).

    A reward is never part of its own baseline. What is remembered is saved with the weights.
    """

    mean: Tensor
    n_seen: Tensor

    def __init__(self, decay: float = 0.9) -> None:
        super().__init__()
        if not 0.0 <= decay < 1.0:
            raise UsageError(f"a moving average decays by 0 or more and less than 1, not {decay}")
        self.decay = decay
        self.register_buffer("mean", torch.zeros(()))
        self.register_buffer("n_seen", torch.zeros((), dtype=torch.long))

    def forward(self, reward: Float[Tensor, "*N"]) -> Float[Tensor, ""]:
        """What was expected before these rewards, which are remembered while training.

        The mean is of what was seen alone: it does not begin at zero and creep up.
        """
        weight = 1 - self.decay ** float(self.n_seen)
        expected = self.mean / weight if weight else self.mean.clone()
        if self.training and reward.numel():
            with torch.no_grad():
                self.mean.mul_(self.decay).add_((1 - self.decay) * reward.detach().mean())
                self.n_seen.add_(1)
        return expected
