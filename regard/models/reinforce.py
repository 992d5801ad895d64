"""REINFORCE with a baseline: how what is drawn by lot is learned (Williams 1992).

Sampling has no gradient, but the expectation of a reward has one, which samples estimate:
``∇ E[R] = E[(R - b) ∇ log p(a)]``, where a is the action that was drawn and log p the one number of
it. No baseline b that does not depend on a changes that expectation, since ``E[∇ log p(a)] = 0``; a
good one, such as what R was expected to be, makes the estimate vary less.
"""

import torch
from torch import nn

from regard.errors import SizeError, UsageError
from regard.shapes import Float, Int, Tensor


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


class MovingAverages(nn.Module):
    """Baseline of the rewards so far for each kind of draw, such as the word that was to be said.

    Some words are easy whatever is looked at and some are hard: what all of them share tells little
    of one. No baseline may depend on what was drawn; on what was known before, it may.
    """

    mean: Tensor
    n_seen: Tensor

    def __init__(self, n_kinds: int, decay: float = 0.9) -> None:
        super().__init__()
        if not 0.0 <= decay < 1.0:
            raise UsageError(f"a moving average decays by 0 or more and less than 1, not {decay}")
        self.decay = decay
        self.register_buffer("mean", torch.zeros(n_kinds))
        self.register_buffer("n_seen", torch.zeros(n_kinds, dtype=torch.long))

    @torch.no_grad()
    def forward(self, reward: Float[Tensor, "N"], kind: Int[Tensor, "N"]) -> Float[Tensor, "N"]:
        """What was expected of each kind before these rewards, remembered while training.

        Of a kind that was never seen, as much is expected as of the others on average.
        """
        is_seen = self.n_seen > 0
        weight = 1 - self.decay ** self.n_seen.clamp(min=1).to(self.mean)
        means = self.mean / weight
        usual = means[is_seen].mean() if is_seen.any() else means.new_zeros(())
        expected = means.where(is_seen, usual)[kind]
        if self.training and len(reward):
            there, place, n = torch.unique(kind, return_inverse=True, return_counts=True)
            sums = self.mean.new_zeros(len(there)).index_add(0, place, reward.to(self.mean))
            self.mean[there] = self.decay * self.mean[there] + (1 - self.decay) * sums / n
            self.n_seen[there] += 1
        return expected
