"""Where a word stands: attention alone cannot tell, so a position is added to each embedding."""

import math

import torch
from torch import nn

from regard.errors import SizeError
from regard.shapes import Float, Tensor


def sinusoids(n_positions: int, d_model: int, *, first: int = 0) -> Float[Tensor, "L D"]:
    """The position encoding of "Attention Is All You Need", sine and cosine interleaved.

    ``PE(pos, 2i) = sin(pos / 10000^(2i/d))`` and ``PE(pos, 2i+1) = cos(pos / 10000^(2i/d))``.
    """
    position = torch.arange(first, first + n_positions, dtype=torch.float64)[:, None]
    angle = position * _frequencies(d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2).float()


def shift_matrix(offset: int | float, d_model: int) -> Float[Tensor, "D D"]:
    """The matrix M with ``PE(pos + offset) = M PE(pos)``, the same for every pos.

    Each pair (sine, cosine) is turned by ``offset`` times its frequency, so looking a fixed number
    of places back is a linear map that a head can learn.
    """
    angle = offset * _frequencies(d_model)
    turn = torch.stack([angle.cos(), angle.sin(), -angle.sin(), angle.cos()], dim=-1)
    matrix: Tensor = torch.block_diag(*turn.view(-1, 2, 2))  # type: ignore[no-untyped-call]
    return matrix


class Sinusoidal(nn.Module):
    """Adds the sines and cosines; nothing is learned and no length is too long."""

    table: Float[Tensor, "L D"]

    def __init__(self, d_model: int, n_prepared: int = 512) -> None:
        super().__init__()
        self.register_buffer("table", sinusoids(n_prepared, d_model), persistent=False)

    def forward(self, value: Float[Tensor, "B L D"], first: int = 0) -> Float[Tensor, "B L D"]:
        """Add the encoding of places ``first``, ``first + 1``, …"""
        end = first + value.shape[1]
        return value + self.prepared(end)[first:end].to(value.dtype)

    def prepared(self, length: int) -> Float[Tensor, "L D"]:
        """A table of at least so many places."""
        if length > self.table.shape[0]:
            longer = sinusoids(max(length, 2 * self.table.shape[0]), self.table.shape[1])
            self.table = longer.to(self.table)
        return self.table


class Learned(nn.Module):
    """Adds one trained vector a place, up to ``max_length`` places.

    The same as appending a one-hot vector p of the place to the word x before the first matrix:
    ``W [x; p] = W_x x + W_p p``, and ``W_p p`` is a row of this table.
    """

    def __init__(self, d_model: int, max_length: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(max_length, d_model) / math.sqrt(d_model))

    def forward(self, value: Float[Tensor, "B L D"], first: int = 0) -> Float[Tensor, "B L D"]:
        """Add the vectors of places ``first``, ``first + 1``, …"""
        end = first + value.shape[1]
        return value + self.prepared(end)[first:end]

    def prepared(self, length: int) -> Float[Tensor, "L D"]:
        """The table, if it has so many places."""
        max_length = self.table.shape[0]
        if length > max_length:
            raise SizeError(
                f"this model learned {max_length} positions and was given {length}: "
                "shorten the input, or train with a larger model.max_length"
            )
        return self.table


class Unplaced(nn.Module):
    """Adds nothing: without positions a sentence is a bag of words."""

    def forward(self, value: Float[Tensor, "B L D"], first: int = 0) -> Float[Tensor, "B L D"]:
        """Give the value back."""
        return value


def _frequencies(d_model: int) -> Float[Tensor, "half"]:
    if d_model % 2:
        raise SizeError(
            f"sinusoidal positions pair a sine with a cosine: d_model must be even, not {d_model}"
        )
    exponent = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    return torch.exp(exponent * -math.log(10_000.0))
