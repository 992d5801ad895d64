"""An LSTM that remembers everything it read: "Long Short-Term Memory-Networks for Machine Reading".

Cheng, Dong and Lapata (2016): attention inside recurrence. Where an LSTM goes on from the one state
before, this goes on from what it finds by attention among all states before.
"""

import torch
from torch import nn

from regard.attention import Attention, Normaliser, masks
from regard.errors import UsageError
from regard.models.recurrent import CELLS, Reader, Recurrence, RecurrentSizes, Remembered
from regard.models.source_attention import PreparedPerceptron
from regard.shapes import Bool, Float, Int, Tensor

READERS = (*CELLS, "lstmn")


class IntraAttention(Attention):
    """Attention to one's own past; what its score makes of a key is made once."""

    score: PreparedPerceptron


class TapeLayer(nn.Module):
    """One layer, with a tape of the states h and c of all places it has read.

    ``aᵢ = vᵀ tanh(W_h hᵢ + W_x xₜ + W_h̃ h̃ₜ₋₁)`` for every i before t, ``s = softmax(a)``,
    ``h̃ₜ = Σᵢ sᵢ hᵢ`` and ``c̃ₜ = Σᵢ sᵢ cᵢ``; then one step of an LSTM from there, whose gates
    see ``[h̃ₜ; xₜ]``, and ``cₜ = f ∘ c̃ₜ + i ∘ ĉₜ``. At the first place the tape is empty, and h̃ and
    c̃ are zeros.

    In attention's words the query is ``[xₜ; h̃ₜ₋₁]``, the keys are the h of the tape, and a value is
    h and c together. The probe ``attention.weights`` is passed at every place with a row as long as
    the whole input, so that joined along the queries the rows are ``B 1 S S``, a lower triangle.
    """

    def __init__(self, d_input: int, d_hidden: int, normaliser: Normaliser | None = None) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(d_input, d_hidden)
        score = PreparedPerceptron(d_input + d_hidden, d_hidden, d_hidden=d_hidden)
        self.attention = IntraAttention(score, normaliser)

    def forward(
        self, value: Float[Tensor, "B S In"], is_real: Bool[Tensor, "B S"]
    ) -> tuple[Float[Tensor, "B S H"], Float[Tensor, "B S H"]]:
        """Read row by row from an empty tape, and give h and c of all places, zeros for padding."""
        n_rows, n_places, _ = value.shape
        d_hidden = self.cell.hidden_size
        nothing = value.new_zeros(n_rows, 2 * d_hidden)
        tape, keys = [nothing] * n_places, [nothing[:, :d_hidden]] * n_places
        found = nothing[:, :d_hidden]
        # Nothing is seen at its own place or later, and from padding nothing at all.
        before = torch.ones(n_places, n_places, device=value.device).tril(-1).bool()
        mask = masks.given(before) & is_real[:, None, :, None]
        for t in range(n_places):
            query = torch.cat([value[:, t], found], -1)[:, None, None]
            looked = self.attention(
                query,
                torch.stack(keys, 1)[:, None],
                torch.stack(tape, 1)[:, None],
                mask[:, :, t : t + 1],
                first=t,
            )
            found, cell = looked.context[:, 0, 0].chunk(2, -1)
            state = torch.cat(self.cell(value[:, t], (found, cell)), -1) * is_real[:, t, None]
            tape[t] = state
            keys[t] = self.attention.score.prepare(state[:, None, None, :d_hidden])[:, 0, 0]
        h, c = torch.stack(tape, 1).chunk(2, -1)
        return h, c


class MemoryNetwork(Reader):
    """Layers with tapes, one upon the other: each reads the h of the one below."""

    def __init__(self, d_input: int, sizes: RecurrentSizes) -> None:
        super().__init__()
        widths = (d_input, *[sizes.d_hidden] * (sizes.n_layers - 1))
        self.layers = nn.ModuleList(TapeLayer(width, sizes.d_hidden) for width in widths)
        self.dropout = nn.Dropout(sizes.dropout)
        self.looks = tuple(f"layers.{n}.attention.weights" for n in range(sizes.n_layers))

    def read(
        self, value: Float[Tensor, "B S In"], lengths: Int[Tensor, "B"]
    ) -> tuple[Float[Tensor, "B S Out"], Remembered]:
        """Read rows of these lengths from nothing; what stands behind their ends is not read."""
        is_real = masks.padding(lengths, value.shape[1])[:, 0, 0]
        ends = torch.arange(len(value), device=value.device), lengths.to(value.device) - 1
        remembered = []
        for n, layer in enumerate(self.layers):
            h, c = layer(self.dropout(value) if n else value, is_real)
            remembered.append((h[ends], c[ends]))
            value = h
        hidden, cells = zip(*remembered, strict=True)
        return value, (torch.stack(hidden), torch.stack(cells))


def build_reader(
    cell: str | None, d_input: int, sizes: RecurrentSizes, *, decoder_cell: str
) -> Reader:
    """What reads a source for a decoder of that cell, which goes on from what it remembers."""
    if cell is None:
        return Recurrence(decoder_cell, d_input, sizes)
    if cell not in READERS:
        raise UsageError(f"there is no encoder cell {cell!r}: choose one of {', '.join(READERS)}")
    needed = "lstm" if cell == "lstmn" else cell
    if decoder_cell != needed:
        raise UsageError(
            f"a decoder of cell {decoder_cell!r} cannot go on from what an encoder of cell "
            f"{cell!r} remembers: choose {needed!r} for the decoder"
        )
    return MemoryNetwork(d_input, sizes) if cell == "lstmn" else Recurrence(cell, d_input, sizes)
