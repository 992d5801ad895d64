"""The four layers of Table 1 (Vaswani et al. 2017), each from n vectors of width d to n others.

They are bare, as the table counts them: the attentions take the vectors themselves as queries, keys
and values. The projections of multi-head attention would add n·d² to both, as the feed-forward
network beside them would.
"""

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F

from regard.attention import Attention, ScaledDot, WindowAttention
from regard.errors import SizeError
from regard.shapes import Float, Tensor

Note = Callable[[Tensor], Tensor]


class Layer(nn.Module):
    """A map of a sequence to one of the same length and width."""

    def forward(self, value: Float[Tensor, "B L D"]) -> Float[Tensor, "B L D"]:
        """Every place of the sequence, renewed."""
        raise NotImplementedError

    def walk(self, value: Float[Tensor, "B L D"], note: Note) -> Float[Tensor, "B L D"]:
        """The layer step by step: what each step gives passes through ``note``.

        A step is what can be computed at once, however long the sequence; this layer is one.
        """
        return note(self(value))


class SelfAttention(Layer):
    """``softmax(X Xᵀ / √d) X`` with one head, its n × n weights in memory as in the paper."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.attention = Attention(ScaledDot(width, width))

    def forward(self, value: Float[Tensor, "B L D"]) -> Float[Tensor, "B L D"]:
        """Every place sees all places."""
        context: Tensor = self.attention(value, value, value).context
        return context


class Recurrent(Layer):
    """``hₜ = tanh(W xₜ + U hₜ₋₁ + b)`` (Elman 1990): two d × d products a place, so n·d².

    An LSTM is the same four times over, and shows no other growth.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.recurrence = nn.RNN(width, width, batch_first=True)

    def forward(self, value: Float[Tensor, "B L D"]) -> Float[Tensor, "B L D"]:
        """Every place sees itself and what the place before has kept."""
        states: Tensor = self.recurrence(value)[0]
        return states

    def walk(self, value: Float[Tensor, "B L D"], note: Note) -> Float[Tensor, "B L D"]:
        """The recurrence step by step: a step is one call of the cell."""
        cell = nn.RNNCell(value.shape[2], value.shape[2], dtype=value.dtype)
        for name, weight in self.recurrence.named_parameters():
            setattr(cell, name.removesuffix("_l0"), weight)
        state, states = torch.zeros_like(value[:, 0]), []
        for place in value.unbind(1):
            state = note(cell(place, state))
            states.append(state)
        return torch.stack(states, dim=1)


class Convolutional(Layer):
    """``yᵢ = Σⱼ Wⱼ xᵢ₊ⱼ`` over the k places around i: k products of d × d a place, so k·n·d²."""

    def __init__(self, width: int, kernel: int) -> None:
        super().__init__()
        if kernel < 1 or kernel % 2 == 0:
            raise SizeError(
                f"a convolution that sees as many places before as after is 1, 3, 5, … places "
                f"wide, not {kernel}: choose an odd kernel"
            )
        self.convolution = nn.Conv1d(width, width, kernel, padding=kernel // 2)

    def forward(self, value: Float[Tensor, "B L D"]) -> Float[Tensor, "B L D"]:
        """Every place sees its neighbours."""
        convolved: Tensor = self.convolution(value.transpose(1, 2)).transpose(1, 2)
        return convolved


class DilatedConvolutional(Layer):
    """``yᵢ = Σⱼ Wⱼ xᵢ₋ⱼₛ``, j = 0 … k - 1: the k places before i that stand s apart.

    In a stack with s = 1, k, k², … the field of view grows k times with every layer, as in ByteNet
    (Kalchbrenner et al. 2016).
    """

    def __init__(self, width: int, kernel: int, dilation: int) -> None:
        super().__init__()
        self.n_before = (kernel - 1) * dilation
        self.convolution = nn.Conv1d(width, width, kernel, dilation=dilation)

    def forward(self, value: Float[Tensor, "B L D"]) -> Float[Tensor, "B L D"]:
        """Every place sees some before it."""
        padded = F.pad(value.transpose(1, 2), (self.n_before, 0))
        convolved: Tensor = self.convolution(padded).transpose(1, 2)
        return convolved


class RestrictedSelfAttention(Layer):
    """Self-attention to the r places on each side: ``n (2r + 1)`` weights in place of n²."""

    def __init__(self, width: int, reach: int) -> None:
        super().__init__()
        self.attention = WindowAttention(ScaledDot(width, width), reach=reach)

    def forward(self, value: Float[Tensor, "B L D"]) -> Float[Tensor, "B L D"]:
        """Every place sees its neighbours."""
        one_head = value[:, None]
        context: Tensor = self.attention(one_head, one_head, one_head)
        return context[:, 0]
