"""What the recurrent translators share: sizes, layers with one kind of state, encoder, output."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.attention import Probe, Site, Unplaced
from regard.errors import SizeError, UsageError
from regard.models.sublayers import Embedding
from regard.models.tying import tied_embeddings
from regard.shapes import Float, Int, Tensor

CELLS: dict[str, type[nn.LSTM] | type[nn.GRU]] = {"lstm": nn.LSTM, "gru": nn.GRU}

# What a stack of layers remembers: (h, c) of an LSTM, (h,) of a GRU, each ``L B H``: layer, row,
# width; a bidirectional stack has two for every layer, forwards and backwards.
Remembered = tuple[Tensor, ...]


@dataclass(frozen=True)
class RecurrentSizes:
    """The numbers that the parts of one recurrent translator share."""

    d_embedding: int
    d_hidden: int
    n_layers: int = 1
    dropout: float = 0.0

    def __post_init__(self) -> None:
        if min(self.d_embedding, self.d_hidden, self.n_layers) < 1:
            raise SizeError(
                f"a recurrent model of d_embedding = {self.d_embedding}, d_hidden = "
                f"{self.d_hidden} and n_layers = {self.n_layers} is not possible: each is 1 or more"
            )


class Reader(nn.Module):
    """Something that reads a source one place after the other."""

    looks: tuple[
        str, ...
    ] = ()  # the probes that the weights pass, where it attends, layer by layer

    def read(
        self, value: Float[Tensor, "B S In"], lengths: Int[Tensor, "B"]
    ) -> tuple[Float[Tensor, "B S Out"], Remembered]:
        """Read rows of these lengths from nothing; what stands behind their ends is not read."""
        raise NotImplementedError


class Recurrence(Reader):
    """Recurrent layers, one upon the other: ``hₜ = f(xₜ, hₜ₋₁)``."""

    def __init__(
        self,
        cell: str,
        d_input: int,
        sizes: RecurrentSizes,
        *,
        is_bidirectional: bool = False,
    ) -> None:
        super().__init__()
        if cell not in CELLS:
            raise UsageError(f"there is no cell {cell!r}: choose one of {', '.join(CELLS)}")
        self.layers = CELLS[cell](
            d_input,
            sizes.d_hidden,
            sizes.n_layers,
            batch_first=True,
            # torch drops between layers, and warns where there is no between.
            dropout=sizes.dropout if sizes.n_layers > 1 else 0.0,
            bidirectional=is_bidirectional,
        )

    def forward(
        self, value: Float[Tensor, "B T In"], remembered: Remembered
    ) -> tuple[Float[Tensor, "B T Out"], Remembered]:
        """Go on from what is remembered, one place after the other."""
        start = remembered if len(remembered) > 1 else remembered[0]
        outputs, after = self.layers(value, start)
        return outputs, after if isinstance(after, tuple) else (after,)

    def read(
        self, value: Float[Tensor, "B S In"], lengths: Int[Tensor, "B"]
    ) -> tuple[Float[Tensor, "B S Out"], Remembered]:
        """Read rows of these lengths from nothing; what stands behind their ends is not read."""
        packed = pack_padded_sequence(value, lengths.cpu(), batch_first=True, enforce_sorted=False)
        outputs, after = self.layers(packed)
        outputs, _ = pad_packed_sequence(outputs, batch_first=True, total_length=value.shape[1])
        return outputs, after if isinstance(after, tuple) else (after,)


class Encoded(NamedTuple):
    """A source that was read: a vector a word, and what the layers remember at the end."""

    outputs: Float[Tensor, "B S Out"]
    remembered: Remembered


class RecurrentEncoder(nn.Module):
    """Embeds the source and reads it, backwards if ``reverses_source``; padding is at row ends.

    Whichever way it reads, the vector at a place is that of the word at that place.
    """

    def __init__(
        self, embedding: Embedding, recurrence: Reader, *, reverses_source: bool = False
    ) -> None:
        super().__init__()
        self.embedding = embedding
        self.recurrence = recurrence
        self.reverses_source = reverses_source
        self.outputs = Probe()

    def forward(self, source: Int[Tensor, "B S"]) -> Encoded:
        """Read the source."""
        # A row of nothing but padding is read as one empty word; attention will not see it.
        lengths = (source != self.embedding.padding).sum(1).clamp(min=1)
        if not self.reverses_source:
            outputs, remembered = self.recurrence.read(self.embedding(source), lengths)
            return Encoded(self.outputs(outputs), remembered)
        turned = _turned(lengths, source.shape[1])
        outputs, remembered = self.recurrence.read(
            self.embedding(source.gather(1, turned)), lengths
        )
        outputs = outputs.gather(1, turned[:, :, None].expand_as(outputs))
        return Encoded(self.outputs(outputs), remembered)

    @property
    def sites(self) -> tuple[Site, ...]:
        """Where it attends; none if it reads backwards: rows are then not in the words' order."""
        looks = () if self.reverses_source else self.recurrence.looks
        return tuple(
            Site("encoder", n, f"encoder.recurrence.{name}") for n, name in enumerate(looks)
        )


def _turned(lengths: Int[Tensor, "B"], n_places: int) -> Int[Tensor, "B S"]:
    """For each place the one it changes with when the row is turned round; padding stays."""
    places = torch.arange(n_places, device=lengths.device).expand(len(lengths), n_places)
    across = lengths[:, None] - 1 - places
    return torch.where(across >= 0, across, places)


def build_embeddings(
    n_source_tokens: int, n_target_tokens: int, sizes: RecurrentSizes, *, tie: str, padding: int
) -> tuple[Embedding, Embedding]:
    """The tables of source and target; order is the recurrence's business, not the table's."""

    def embed(n_tokens: int) -> Embedding:
        return Embedding(n_tokens, sizes.d_embedding, Unplaced(), sizes.dropout, padding)

    return tied_embeddings(n_source_tokens, n_target_tokens, embed, tie=tie)
