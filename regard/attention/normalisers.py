"""From scores to weights: soft over all places, hard on one, local around one.

A normaliser gets the scores ``B *H Q K``, the mask, the queries they came from and the place of the
first query, and gives :class:`Weights`. A query that may see nothing gets zeros, never NaN.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import nn

from regard.attention.probe import Probe
from regard.errors import SizeError
from regard.shapes import Bool, Float, Int, Tensor

Mask = Bool[Tensor, "..."] | None
_TINY = 1e-30


class Choice(NamedTuple):
    """How probable sampled places were, and how undecided what they were sampled from, in nats."""

    log_probability: Float[Tensor, "*B Q"]
    entropy: Float[Tensor, "*B Q"]


class Weights(NamedTuple):
    """How much each query takes of each value; for sampled weights, what was chosen."""

    weights: Float[Tensor, "B *H Q K"]
    choice: Choice | None = None


class Normaliser(nn.Module):
    """Turns scores into weights."""

    def forward(
        self,
        scores: Float[Tensor, "B *H Q K"],
        mask: Mask = None,
        *,
        query: Float[Tensor, "B *H Q E"] | None = None,
        first: int = 0,
    ) -> Weights:
        """Give the weights of each query over the keys."""
        raise NotImplementedError


class Soft(Normaliser):
    """``αᵢ = exp(eᵢ) / Σⱼ exp(eⱼ)``: every place counts, and each row sums to one."""

    def forward(
        self,
        scores: Float[Tensor, "B *H Q K"],
        mask: Mask = None,
        *,
        query: Float[Tensor, "B *H Q E"] | None = None,
        first: int = 0,
    ) -> Weights:
        """Give the weights of each query over the keys."""
        return Weights(masked_softmax(scores, mask))


class Patterned(Soft):
    """Some heads look at a fixed offset and have nothing to learn; the others are soft.

    A place that is not there, or hidden, leaves the query with itself (Raganato et al. 2020).
    """

    def __init__(self, offsets: Mapping[int, int]) -> None:
        super().__init__()
        self.offsets = dict(offsets)  # of the head to what it looks at: -1 is the place before

    def forward(
        self,
        scores: Float[Tensor, "B H Q K"],
        mask: Mask = None,
        *,
        query: Float[Tensor, "B H Q E"] | None = None,
        first: int = 0,
    ) -> Weights:
        """Give the weights of each query over the keys."""
        soft = masked_softmax(scores, mask)
        n_queries, n_keys = scores.shape[-2:]
        own = (first + torch.arange(n_queries, device=scores.device)).clamp(max=n_keys - 1)
        allowed = torch.ones_like(soft[:, 0], dtype=torch.bool)
        if mask is not None:
            allowed = allowed & mask.expand(scores.shape)[:, 0]
        weights = list(soft.unbind(1))
        for head, offset in self.offsets.items():
            place = (own + offset).clamp(0, n_keys - 1).expand(len(scores), -1)[..., None]
            place = torch.where(allowed.gather(-1, place), place, own[:, None])
            weights[head] = torch.zeros_like(weights[head]).scatter(-1, place, 1.0) * allowed
        return Weights(torch.stack(weights, dim=1))


class Hard(Normaliser):
    """One place alone: sampled from the softmax while training, the best one afterwards.

    Sampling has no gradient, so the log-probability of the sample comes along, which REINFORCE
    needs: ``∇ E[R] = E[R ∇ log p(place)]`` (Xu et al. 2015). With the probability ``expectation``
    a query that learns gets the softmax itself in place of a sample, through which gradients pass:
    then nothing was chosen, and the log-probability is 0. What is sampled from passes the probe
    ``distribution``.
    """

    def __init__(
        self, generator: torch.Generator | None = None, *, expectation: float = 0.0
    ) -> None:
        super().__init__()
        self.generator = generator
        self.expectation = expectation
        self.distribution = Probe()

    def forward(
        self,
        scores: Float[Tensor, "B *H Q K"],
        mask: Mask = None,
        *,
        query: Float[Tensor, "B *H Q E"] | None = None,
        first: int = 0,
    ) -> Weights:
        """Give the weights of each query over the keys."""
        probability = self.distribution(masked_softmax(scores, mask))
        sees_something = (probability.sum(-1, keepdim=True) > 0).detach()
        place = self._place(probability.detach(), sees_something)
        chosen = torch.zeros_like(probability).scatter(-1, place, 1.0) * sees_something
        at_place = probability.gather(-1, place).where(
            sees_something, torch.ones_like(scores[..., :1])
        )
        log_probability = at_place.log()
        if self.training and self.expectation:
            coin = torch.rand(place.shape, generator=self.generator, device=scores.device)
            is_expected = coin < self.expectation
            chosen = torch.where(is_expected, probability, chosen)
            log_probability = log_probability.masked_fill(is_expected, 0.0)
        # The slope of p log p at 0 has no end, and 0 is what a softmax may underflow to.
        entropy = -(probability * probability.clamp_min(_TINY).log()).sum(-1)
        return Weights(chosen, Choice(log_probability.squeeze(-1), entropy))

    def _place(
        self, probability: Float[Tensor, "B *H Q K"], sees_something: Bool[Tensor, "B *H Q 1"]
    ) -> Int[Tensor, "B *H Q 1"]:
        if not self.training:
            return probability.argmax(-1, keepdim=True)
        # A row without any probability cannot be sampled from: it gets even odds, then zeros.
        odds = torch.where(sees_something, probability, torch.ones_like(probability))
        flat = odds.reshape(-1, odds.shape[-1])
        place = torch.multinomial(flat, 1, generator=self.generator)
        return place.view(*odds.shape[:-1], 1)


class LocalMonotonic(Normaliser):
    """Soft over the window ``[t - D, t + D]`` around the query's own place t (Luong's local-m)."""

    def __init__(self, reach: int) -> None:
        super().__init__()
        self.reach = _checked_reach(reach)

    def forward(
        self,
        scores: Float[Tensor, "B *H Q K"],
        mask: Mask = None,
        *,
        query: Float[Tensor, "B *H Q E"] | None = None,
        first: int = 0,
    ) -> Weights:
        """Give the weights of each query over the keys."""
        n_queries, n_keys = scores.shape[-2:]
        centre = torch.arange(first, first + n_queries, device=scores.device)[:, None]
        near = (torch.arange(n_keys, device=scores.device) - centre).abs() <= self.reach
        return Weights(masked_softmax(scores, _both(mask, near)))


class LocalPredictive(Normaliser):
    """Soft over a window around a predicted place, and less the farther from it (Luong's local-p).

    ``p = S · sigmoid(vᵀ tanh(W q))`` with S the last place that may be seen, plus one, and
    ``α(s) = softmax(e)(s) · exp(-(s - p)² / 2σ²)`` with ``σ = D/2`` inside ``[p - D, p + D]``.
    As in the paper the rows are not made to sum to one again: they sum to at most one.
    """

    def __init__(self, d_query: int, reach: int, n_heads: int = 1) -> None:
        super().__init__()
        self.reach = _checked_reach(reach)
        bound = 1 / math.sqrt(d_query)
        self.weight = nn.Parameter(torch.empty(n_heads, d_query, d_query).uniform_(-bound, bound))
        self.v = nn.Parameter(torch.empty(n_heads, d_query, 1).uniform_(-bound, bound))

    def predict_place(
        self, query: Float[Tensor, "B *H Q E"], n_seen: Int[Tensor, "..."]
    ) -> Float[Tensor, "B *H Q 1"]:
        """Predict the place among ``n_seen`` keys that each query wants."""
        share = torch.sigmoid(torch.tanh(query @ self.weight.transpose(-2, -1)) @ self.v)
        return n_seen * share

    def forward(
        self,
        scores: Float[Tensor, "B *H Q K"],
        mask: Mask = None,
        *,
        query: Float[Tensor, "B *H Q E"] | None = None,
        first: int = 0,
    ) -> Weights:
        """Give the weights of each query over the keys."""
        if query is None:
            raise SizeError("local-p predicts its place from the query: pass query= along")
        mask = _fit(mask, scores)
        n_keys = scores.shape[-1]
        places = torch.arange(n_keys, device=scores.device)
        if mask is None:
            n_seen = torch.full_like(scores[..., :1], n_keys, dtype=torch.long)
        else:
            # The last place that may be seen, plus one: the sentence's length under a padding mask.
            n_seen = ((places + 1) * mask).amax(-1, keepdim=True)
        distance = places - self.predict_place(query, n_seen)
        near = distance.detach().abs() <= self.reach
        closeness = torch.exp(-(distance**2) / (2 * (self.reach / 2) ** 2))
        return Weights(masked_softmax(scores, _both(mask, near)) * closeness)


NORMALISERS: dict[str, type[Normaliser]] = {
    "soft": Soft,
    "hard": Hard,
    "local-m": LocalMonotonic,
    "local-p": LocalPredictive,
}


def masked_softmax(scores: Float[Tensor, "*any K"], mask: Mask) -> Float[Tensor, "*any K"]:
    """Softmax over what may be seen; a row that may see nothing is all zeros, gradient included."""
    mask = _fit(mask, scores)
    if mask is None:
        return scores.softmax(-1)
    sees_something = mask.any(-1, keepdim=True)
    # -inf hides a place; a wholly hidden row stays finite instead, and is zeroed after the softmax.
    hidden = scores.masked_fill(~mask & sees_something, -math.inf)
    return hidden.softmax(-1) * sees_something


def _fit(mask: Mask, scores: Float[Tensor, "*any K"]) -> Mask:
    """Masks have an axis of heads; where the scores have none, theirs falls away."""
    if mask is None or mask.dim() <= scores.dim():
        return mask
    if mask.dim() == scores.dim() + 1 and mask.shape[-3] == 1:
        return mask.squeeze(-3)
    raise SizeError(
        f"a mask of shape {tuple(mask.shape)} does not fit scores of shape {tuple(scores.shape)}: "
        "its axes are batch, heads, queries, keys, and the heads are 1 where the scores have none"
    )


def _both(mask: Mask, other: Bool[Tensor, "..."]) -> Bool[Tensor, "..."]:
    return other if mask is None else mask & other


def _checked_reach(reach: int) -> int:
    if reach < 1:
        raise SizeError(f"local attention reaches 1 or more places to each side, not {reach}")
    return reach
