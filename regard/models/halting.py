"""Adaptive computation time (ACT, Graves 2016): each word decides when it has thought enough."""

from dataclasses import dataclass

import torch

from regard.errors import SizeError
from regard.shapes import Bool, Float, Tensor


@dataclass(frozen=True)
class Depth:
    """How often a layer is repeated.

    Adaptive: until a word's halting probabilities add up to ``threshold`` (1 - ε in the paper),
    and at most ``n_steps`` times; otherwise exactly ``n_steps`` times.
    """

    n_steps: int
    is_adaptive: bool = False
    threshold: float = 0.99

    def __post_init__(self) -> None:
        if self.n_steps < 1:
            raise SizeError(f"a layer is repeated 1 or more times, not {self.n_steps}")
        if not 0 < self.threshold < 1:
            raise SizeError(
                f"a threshold of halting lies between 0 and 1, not at {self.threshold}: "
                "choose 0.99 as in the paper"
            )
        if self.is_adaptive and self.n_steps == 1:
            raise SizeError(
                "adaptive computation time has nothing to decide in 1 step: "
                "allow 2 or more, or choose a fixed number of steps"
            )


@dataclass(frozen=True)
class Halting:
    """The account of ACT, for each word (Graves 2016).

    A word that has run n steps with probabilities pₙ halts at the first N with
    ``p₁ + … + p_N ≥ threshold``, or at the last step. Step n < N has weight pₙ, step N the
    remainder ``R = 1 - Σ_{n<N} pₙ``, so weights sum to one. The word's result is the weighted mean
    of its states, and thinking costs ``N + R``, whose gradient is that of R.
    """

    is_running: Bool[Tensor, "B L"]
    total: Float[Tensor, "B L"]  # of the weights so far
    cost: Float[Tensor, "B L"]
    n_steps: Float[Tensor, "B L"]
    mean: Float[Tensor, "B L D"]

    @classmethod
    def start(cls, value: Float[Tensor, "B L D"], is_real: Bool[Tensor, "B L"]) -> "Halting":
        """Nothing done yet; padding has halted before it began."""
        nothing = torch.zeros_like(value[..., 0])
        return cls(is_real, nothing, nothing, nothing, torch.zeros_like(value))

    def after(
        self,
        value: Float[Tensor, "B L D"],
        probability: Float[Tensor, "B L"],
        threshold: float,
        *,
        is_last: bool,
    ) -> "tuple[Float[Tensor, 'B L'], Halting]":
        """The weight of one more step, and the account with it."""
        is_enough = self.total + probability >= threshold
        halts = self.is_running & (is_enough | is_last)
        weight = torch.where(halts, 1 - self.total, probability) * self.is_running
        after = Halting(
            self.is_running & ~halts,
            self.total + weight,
            self.cost + self.is_running.to(weight.dtype) + weight * halts,
            self.n_steps + self.is_running.to(weight.dtype),
            self.mean + weight[..., None] * value,
        )
        return weight, after
