"""What stands around the attention of a Transformer: embedding, add & norm, feed-forward."""

import math
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F

from regard.attention import Learned, Probe, Sinusoidal, Unplaced
from regard.errors import UsageError
from regard.shapes import Float, Int, Tensor


def gelu_tanh(value: Tensor) -> Tensor:
    """GELU by a formula with tanh, as GPT-2 computes it."""
    return F.gelu(value, approximate="tanh")


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu-tanh": gelu_tanh,
    "silu": F.silu,
}


class Embedding(nn.Module):
    """``√d · table[id] + position``: a word's vector, made large enough to outweigh its place.

    Where the vectors should stay as small as the table's, ``scale`` is 1 in place of √d.
    """

    def __init__(
        self,
        n_tokens: int,
        d_model: int,
        positions: nn.Module,
        dropout: float,
        padding: int,
        *,
        scale: float | None = None,
    ) -> None:
        super().__init__()
        self.scale = math.sqrt(d_model) if scale is None else scale
        self.padding = padding
        self.weight = nn.Parameter(torch.randn(n_tokens, d_model) / math.sqrt(d_model))
        with torch.no_grad():
            self.weight[padding].zero_()
        self.positions = positions
        self.dropout = nn.Dropout(dropout)
        self.words, self.placed = Probe(), Probe()

    def forward(self, ids: Int[Tensor, "B L"], first: int = 0) -> Float[Tensor, "B L D"]:
        """Embed ids that stand at places ``first``, ``first + 1``, …"""
        words = self.words(F.embedding(ids, self.weight, self.padding) * self.scale)
        placed: Tensor = self.dropout(self.placed(self.positions(words, first)))
        return placed

    def at(self, ids: Int[Tensor, "B"], places: Int[Tensor, "B"]) -> Float[Tensor, "B 1 D"]:
        """Embed one id a row, each row's at a place of its own."""
        words = self.words(F.embedding(ids[:, None], self.weight, self.padding) * self.scale)
        if isinstance(self.positions, Learned | Sinusoidal):
            table = self.positions.prepared(int(places.max()) + 1)
            words = words + table[places][:, None].to(words.dtype)
        placed: Tensor = self.dropout(self.placed(words))
        return placed


def build_positions(name: str, d_model: int, max_length: int) -> nn.Module:
    """Build the positions of that name."""
    match name:
        case "sinusoidal":
            return Sinusoidal(d_model)
        case "learned":
            return Learned(d_model, max_length)
        case "none":
            return Unplaced()
    raise UsageError(f"there are no positions {name!r}: choose sinusoidal, learned or none")


class Residual(nn.Module):
    """Add & norm around a sub-layer.

    ``norm(x + dropout(F(x)))`` as in the paper (post-norm), or ``x + dropout(F(norm(x)))``
    (pre-norm), which trains deep stacks without a careful warm-up (Xiong et al. 2020).
    """

    def __init__(
        self, d_model: int, dropout: float, *, is_pre_norm: bool, norm_epsilon: float = 1e-5
    ) -> None:
        super().__init__()
        self.is_pre_norm = is_pre_norm
        self.norm = nn.LayerNorm(d_model, norm_epsilon)
        self.dropout = nn.Dropout(dropout)
        self.change, self.result = Probe(), Probe()

    def forward(
        self, value: Float[Tensor, "B L D"], layer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "B L D"]:
        """Let the layer change the value."""
        return self.after(value, layer(self.before(value)))

    def before(self, value: Float[Tensor, "B L D"]) -> Float[Tensor, "B L D"]:
        """What the layer reads."""
        return self.norm(value) if self.is_pre_norm else value

    def after(
        self, value: Float[Tensor, "B L D"], change: Float[Tensor, "B L D"]
    ) -> Float[Tensor, "B L D"]:
        """The value with the layer's change."""
        total = value + self.dropout(self.change(change))
        passed: Tensor = self.result(total if self.is_pre_norm else self.norm(total))
        return passed


class FeedForward(nn.Module):
    """``max(0, x W₁ + b₁) W₂ + b₂``, the same for every place."""

    def __init__(self, d_model: int, d_inner: int, activation: str, dropout: float) -> None:
        super().__init__()
        if activation not in ACTIVATIONS:
            raise UsageError(
                f"there is no activation {activation!r}: choose one of {', '.join(ACTIVATIONS)}"
            )
        self.widen = nn.Linear(d_model, d_inner)
        self.narrow = nn.Linear(d_inner, d_model)
        self.activation = ACTIVATIONS[activation]
        self.dropout = nn.Dropout(dropout)
        self.inner = Probe()
        for linear in (self.widen, self.narrow):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, value: Float[Tensor, "B L D"]) -> Float[Tensor, "B L D"]:
        """Change each place by itself."""
        inner = self.inner(self.activation(self.widen(value)))
        narrowed: Tensor = self.narrow(self.dropout(inner))
        return narrowed
