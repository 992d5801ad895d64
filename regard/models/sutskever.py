"""The translator of "Sequence to Sequence Learning with Neural Networks".

Sutskever, Vinyals and Le (2014): the whole source in one vector of fixed size.
"""

from dataclasses import dataclass

from torch import nn

from regard.attention import Site
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.lstmn import build_reader
from regard.models.recurrent import (
    Recurrence,
    RecurrentEncoder,
    RecurrentSizes,
    Remembered,
    build_embeddings,
)
from regard.models.sublayers import Embedding
from regard.models.tying import tied_output
from regard.shapes import Float, Int, Tensor


@dataclass(frozen=True)
class SutskeverState:
    """What decoding remembers: the layers' states, which are all there is of the source too."""

    remembered: Remembered

    def reorder(self, rows: Int[Tensor, "N"]) -> "SutskeverState":
        """Take these rows, in this order."""
        return SutskeverState(tuple(part.index_select(1, rows) for part in self.remembered))


class SutskeverDecoder(nn.Module):
    """``hₜ = LSTM(yₜ₋₁, hₜ₋₁)``, where h₀ is the encoder's last state."""

    def __init__(self, embedding: Embedding, sizes: RecurrentSizes, cell: str) -> None:
        super().__init__()
        self.embedding = embedding
        self.recurrence = Recurrence(cell, sizes.d_embedding, sizes)
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(
        self, target: Int[Tensor, "B T"], remembered: Remembered
    ) -> tuple[Float[Tensor, "B T D"], Remembered]:
        """Turn each prefix of the target into the vector that predicts its next word."""
        outputs, after = self.recurrence(self.embedding(target), remembered)
        return self.dropout(outputs), after


class Sutskever(EncoderDecoder):
    """Deep LSTMs; the source's last states are the one fixed vector that all of it must fit into.

    ``p(y₁ … y_T | x₁ … x_S) = Πₜ p(yₜ | v, y₁ … yₜ₋₁)``, where v is what the encoder remembers at
    the end. The paper has four layers and reads the source backwards (``reverses_source``), which
    brings its first words close to the target's first words. An encoder whose ``encoder_cell`` is
    "lstmn" attends to what it has read as it reads (see :mod:`regard.models.lstmn`).
    """

    def __init__(
        self,
        n_source_tokens: int,
        n_target_tokens: int,
        sizes: RecurrentSizes,
        *,
        cell: str = "lstm",
        encoder_cell: str | None = None,
        reverses_source: bool = True,
        tie: str = "none",
        padding: int = 0,
    ) -> None:
        super().__init__(padding)
        source, target = build_embeddings(
            n_source_tokens, n_target_tokens, sizes, tie=tie, padding=padding
        )
        self.encoder = RecurrentEncoder(
            source,
            build_reader(encoder_cell, sizes.d_embedding, sizes, decoder_cell=cell),
            reverses_source=reverses_source,
        )
        self.decoder = SutskeverDecoder(target, sizes, cell)
        self.output = tied_output(target, sizes.d_hidden, tie=tie)

    def hidden(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T D"]:
        """The vectors from which the next words are predicted; ``target`` is shifted right."""
        decoded: Tensor = self.decoder(target, self.encoder(source).remembered)[0]
        return decoded

    def start(self, source: Int[Tensor, "B S"]) -> SutskeverState:
        """Read the source."""
        return SutskeverState(self.encoder(source).remembered)

    def step(
        self, state: SutskeverState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R V"], SutskeverState]:
        """Take one more token a row, and give the logits of the next."""
        decoded, remembered = self.decoder(tokens[:, None], state.remembered)
        return self.logits(self.output(decoded[:, 0])), SutskeverState(remembered)

    @property
    def sites(self) -> tuple[Site, ...]:
        """Where the encoder attends, if it does; the decoder does not."""
        return self.encoder.sites
