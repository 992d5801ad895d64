"""How well does a key answer a query? The eight alignment scores of the lectures' table.

Each score is a small module with only its own parameters. ``score(query, key)`` takes
``B *H Q E`` and ``B *H K E`` and gives ``B *H Q K``: one number for each query and each key.
Parameters carry one leading axis of ``n_heads``, so that every head learns its own; with one head
that axis broadcasts, and the inputs need no head axis at all.
"""

import math
from typing import Any

import torch
from torch import nn

from regard.errors import SizeError, UsageError
from regard.shapes import Float, Tensor


class Score(nn.Module):
    """A function of a query and a key that grows with how well they fit."""

    formula: str

    def forward(
        self, query: Float[Tensor, "B *H Q Eq"], key: Float[Tensor, "B *H K Ek"]
    ) -> Float[Tensor, "B *H Q K"]:
        """Score every key for every query."""
        raise NotImplementedError


class Dot(Score):
    """``q·k`` (Luong et al. 2015)."""

    formula = "qᵀk"

    def __init__(self, d_query: int, d_key: int, n_heads: int = 1) -> None:
        super().__init__()
        _require_equal_widths(self, d_query, d_key)

    def forward(
        self, query: Float[Tensor, "B *H Q E"], key: Float[Tensor, "B *H K E"]
    ) -> Float[Tensor, "B *H Q K"]:
        """Score every key for every query."""
        return query @ key.transpose(-2, -1)


class ScaledDot(Score):
    """``q·k / √d`` (Vaswani et al. 2017): the spread of ``q·k`` grows with √d; this undoes it."""

    formula = "qᵀk / √d"

    def __init__(self, d_query: int, d_key: int, n_heads: int = 1) -> None:
        super().__init__()
        _require_equal_widths(self, d_query, d_key)

    def forward(
        self, query: Float[Tensor, "B *H Q E"], key: Float[Tensor, "B *H K E"]
    ) -> Float[Tensor, "B *H Q K"]:
        """Score every key for every query."""
        return (query / math.sqrt(query.shape[-1])) @ key.transpose(-2, -1)


class Additive(Score):
    """``vᵀ tanh(W [q; k])`` (Bahdanau et al. 2014): one matrix over query and key end to end."""

    formula = "vᵀ tanh(W [q; k])"

    def __init__(
        self, d_query: int, d_key: int, n_heads: int = 1, d_hidden: int | None = None
    ) -> None:
        super().__init__()
        d_hidden = d_hidden or d_key
        self.d_query = d_query
        self.weight = _parameter(n_heads, d_hidden, d_query + d_key)
        self.v = _parameter(n_heads, d_hidden)

    def forward(
        self, query: Float[Tensor, "B *H Q Eq"], key: Float[Tensor, "B *H K Ek"]
    ) -> Float[Tensor, "B *H Q K"]:
        """Score every key for every query."""
        # W [q; k] = W₁ q + W₂ k: the halves are applied apart, so no pair is ever laid end to end.
        for_query, for_key = self.weight[..., : self.d_query], self.weight[..., self.d_query :]
        return _energies(_apply(for_query, query), _apply(for_key, key), self.v)


class General(Score):
    """``qᵀ W k`` (Luong et al. 2015): also called multiplicative."""

    formula = "qᵀ W k"

    def __init__(self, d_query: int, d_key: int, n_heads: int = 1) -> None:
        super().__init__()
        self.weight = _parameter(n_heads, d_query, d_key)

    def forward(
        self, query: Float[Tensor, "B *H Q Eq"], key: Float[Tensor, "B *H K Ek"]
    ) -> Float[Tensor, "B *H Q K"]:
        """Score every key for every query."""
        return query @ _apply(self.weight, key).transpose(-2, -1)


class Concatenating(Score):
    """``w [q; k]``: linear in both, so the softmax over keys sees only the key's half."""

    formula = "W [q; k]"

    def __init__(self, d_query: int, d_key: int, n_heads: int = 1) -> None:
        super().__init__()
        self.d_query = d_query
        self.weight = _parameter(n_heads, 1, d_query + d_key)

    def forward(
        self, query: Float[Tensor, "B *H Q Eq"], key: Float[Tensor, "B *H K Ek"]
    ) -> Float[Tensor, "B *H Q K"]:
        """Score every key for every query."""
        for_query, for_key = self.weight[..., : self.d_query], self.weight[..., self.d_query :]
        return _apply(for_query, query) + _apply(for_key, key).transpose(-2, -1)


class Perceptron(Score):
    """``vᵀ tanh(W q + U k)``: Bahdanau's energy as his paper writes it, two matrices."""

    formula = "vᵀ tanh(W q + U k)"

    def __init__(
        self, d_query: int, d_key: int, n_heads: int = 1, d_hidden: int | None = None
    ) -> None:
        super().__init__()
        d_hidden = d_hidden or d_key
        self.weight_query = _parameter(n_heads, d_hidden, d_query)
        self.weight_key = _parameter(n_heads, d_hidden, d_key)
        self.v = _parameter(n_heads, d_hidden)

    def forward(
        self, query: Float[Tensor, "B *H Q Eq"], key: Float[Tensor, "B *H K Ek"]
    ) -> Float[Tensor, "B *H Q K"]:
        """Score every key for every query."""
        return _energies(_apply(self.weight_query, query), _apply(self.weight_key, key), self.v)


class Content(Score):
    """``cos(q, k) = q·k / (‖q‖ ‖k‖)`` (Graves et al. 2014): content-based addressing.

    ``strength`` is the Neural Turing Machine's β, which sharpens what lies between -1 and 1.
    """

    formula = "cos(q, k)"

    def __init__(
        self, d_query: int, d_key: int, n_heads: int = 1, *, strength: float = 1.0
    ) -> None:
        super().__init__()
        _require_equal_widths(self, d_query, d_key)
        self.strength = strength

    def forward(
        self, query: Float[Tensor, "B *H Q E"], key: Float[Tensor, "B *H K E"]
    ) -> Float[Tensor, "B *H Q K"]:
        """Score every key for every query."""
        along = nn.functional.normalize
        return self.strength * (along(query, dim=-1) @ along(key, dim=-1).transpose(-2, -1))


class Location(Score):
    """``(W q)ᵢ`` (Luong et al. 2015): the place i alone decides, the key is never looked at."""

    formula = "(W q)ᵢ"

    def __init__(self, d_query: int, d_key: int, n_heads: int = 1, max_length: int = 512) -> None:
        super().__init__()
        self.weight = _parameter(n_heads, max_length, d_query)

    def forward(
        self, query: Float[Tensor, "B *H Q Eq"], key: Float[Tensor, "B *H K Ek"]
    ) -> Float[Tensor, "B *H Q K"]:
        """Score every key for every query."""
        n_keys, max_length = key.shape[-2], self.weight.shape[-2]
        if n_keys > max_length:
            raise SizeError(
                f"location-based attention knows {max_length} places and was given {n_keys} keys: "
                "shorten the input, or train with a larger model.max_length"
            )
        return _apply(self.weight[..., :n_keys, :], query)


SCORES: dict[str, type[Score]] = {
    "dot": Dot,
    "scaled-dot": ScaledDot,
    "additive": Additive,
    "general": General,
    "concatenating": Concatenating,
    "perceptron": Perceptron,
    "content": Content,
    "location": Location,
}


def build_score(name: str, d_query: int, d_key: int, n_heads: int = 1, **options: Any) -> Score:
    """Build the score of that name for queries and keys of these widths."""
    if name not in SCORES:
        raise UsageError(f"there is no score {name!r}: choose one of {', '.join(SCORES)}")
    return SCORES[name](d_query, d_key, n_heads, **options)


def _parameter(n_heads: int, *shape: int) -> nn.Parameter:
    """Uniform within ±1/√(last axis), as torch's Linear is."""
    bound = 1 / math.sqrt(shape[-1])
    return nn.Parameter(torch.empty(n_heads, *shape).uniform_(-bound, bound))


def _apply(
    weight: Float[Tensor, "N Out In"], value: Float[Tensor, "B *H L In"]
) -> Float[Tensor, "B *H L Out"]:
    """Multiply each vector by its head's matrix."""
    n_heads = weight.shape[0]
    # Without this, parameters of several heads would fall on a batch that happens to be as large.
    if n_heads > 1 and (value.dim() < 4 or value.shape[-3] != n_heads):
        raise SizeError(
            f"this score was built for {n_heads} heads and was given a tensor of shape "
            f"{tuple(value.shape)}: its axes must be batch, {n_heads} heads, places, width"
        )
    return value @ weight.transpose(-2, -1)


def _energies(
    query: Float[Tensor, "B *H Q M"], key: Float[Tensor, "B *H K M"], v: Float[Tensor, "N M"]
) -> Float[Tensor, "B *H Q K"]:
    """``vᵀ tanh(q + k)`` for every pair."""
    hidden = torch.tanh(query.unsqueeze(-2) + key.unsqueeze(-3))
    return (hidden @ v[:, None, :, None]).squeeze(-1)


def _require_equal_widths(score: Score, d_query: int, d_key: int) -> None:
    if d_query != d_key:
        raise SizeError(
            f"{type(score).__name__} multiplies query and key number by number, so their widths "
            f"must be equal, not {d_query} and {d_key}: choose general or additive to bridge them"
        )
