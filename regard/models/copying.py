"""Copying: the next word is one of the vocabulary, or one that stands in the source.

Gu et al. (2016), "Incorporating Copying Mechanism in Sequence-to-Sequence Learning": both ways of
finding it compete in one softmax, so that names which were never learned can be written.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

from regard.attention import Probe
from regard.shapes import Bool, Float, Int, Tensor

_NEVER = -1e9  # a score that adds nothing, whose gradient is 0 and not NaN
_LEAST = 1e-38  # what can be a logarithm


class Copies(NamedTuple):
    """How much each word of the source wants to be written next."""

    scores: Float[Tensor, "N S"]  # padding has none: -1e9
    source: Int[Tensor, "N S"]

    def joined(self, logits: Float[Tensor, "N V"]) -> Float[Tensor, "N V"]:
        """``log(exp zᵥ + Σ exp sᵢ)`` over the places i where v stands: logits of both ways."""
        most = self.scores.amax(-1, keepdim=True).detach()
        shares = (self.scores - most).exp().to(logits.dtype)
        mass = torch.zeros_like(logits).scatter_add(1, self.source, shares)
        return torch.logaddexp(logits, mass.clamp_min(_LEAST).log() + most.to(logits.dtype))

    def loss(
        self, logits: Float[Tensor, "N V"], labels: Int[Tensor, "N"], smoothing: float
    ) -> Float[Tensor, ""]:
        """``-Σ log p(label)``, of which a smoothed part goes to all words of the vocabulary."""
        total = torch.logaddexp(logits.logsumexp(-1), self.scores.logsumexp(-1))
        is_label = self.source == labels[:, None]
        copied = self.scores.masked_fill(~is_label, _NEVER).logsumexp(-1)
        written = logits.gather(1, labels[:, None])[:, 0]
        loss = total - torch.logaddexp(written, copied)
        if smoothing:
            loss = (1 - smoothing) * loss + smoothing * (total - logits.mean(-1))
        return loss.sum()


@dataclass(frozen=True)
class Copyable:
    """What can be copied of sources: their words, and a key for each."""

    key: Float[Tensor, "B S E"]
    source: Int[Tensor, "B S"]
    is_real: Bool[Tensor, "B S"]

    def of(self, rows: Int[Tensor, "R"]) -> "Copyable":
        """Take these rows; one that all share is not copied."""
        if len(self.source) == 1:
            return self
        return Copyable(self.key[rows], self.source[rows], self.is_real[rows])


class CopyHead(nn.Module):
    """``sᵢ = q(h) · k(mᵢ₋₁, mᵢ) / √E``: how much the word at place i of the source wants to follow.

    A key is made of two neighbours, so that it is easy to learn to go on with a phrase: the word
    before says whether it was just written. Scores pass the probe ``weights`` as ``B 1 T S``, as
    shares of all that is copied.
    """

    def __init__(self, d_model: int, d_head: int, padding: int = 0) -> None:
        super().__init__()
        self.padding = padding
        self.query = nn.Linear(d_model, d_head)
        self.key = nn.Conv1d(d_model, d_head, 2)
        self.weights = Probe()

    def keys(self, memory: Float[Tensor, "B S D"], source: Int[Tensor, "B S"]) -> Copyable:
        """What can be copied of sources whose places became these vectors."""
        return Copyable(self.project(memory), source, source != self.padding)

    def project(
        self, memory: Float[Tensor, "B S D"], before: Float[Tensor, "B 1 D"] | None = None
    ) -> Float[Tensor, "B S E"]:
        """The keys alone; ``before`` is the vector of the place before the first."""
        left, own = self.key.weight.unbind(2)
        first = torch.zeros_like(memory[:, :1]) if before is None else before
        neighbours = torch.cat([first, memory[:, :-1]], dim=1)
        return F.linear(memory, own, self.key.bias) + F.linear(neighbours, left)

    def forward(
        self, hidden: Float[Tensor, "B T D"], given: Copyable, is_real: Bool[Tensor, "B T"]
    ) -> Copies:
        """Scores for the places of the target that are real; sources of one row serve all."""
        query = self.query(hidden)
        scores = query @ given.key.transpose(1, 2) / query.shape[-1] ** 0.5
        scores = scores.masked_fill(~given.is_real[:, None], _NEVER)
        if self.weights.is_watched:
            self.weights(scores.softmax(-1)[:, None])
        rows = given.source.expand(len(hidden), -1)[:, None].expand(-1, hidden.shape[1], -1)
        return Copies(scores[is_real], rows[is_real])
