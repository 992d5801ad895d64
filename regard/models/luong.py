"""The translator of "Effective Approaches to Attention-based Neural Machine Translation".

Luong, Pham and Manning (2015): attention after the recurrent step, global or local.
"""

from dataclasses import dataclass, replace

import torch
from torch import nn

from regard.attention import Site
from regard.models.lstmn import build_reader
from regard.models.recurrent import (
    Recurrence,
    RecurrentEncoder,
    RecurrentSizes,
    Remembered,
    build_embeddings,
)
from regard.models.source_attention import (
    Decoded,
    LookingTranslator,
    Memory,
    SourceAttention,
    build_normaliser,
)
from regard.models.sublayers import Embedding
from regard.models.tying import tied_output
from regard.shapes import Float, Int, Tensor


@dataclass(frozen=True)
class LuongState:
    """What decoding remembers: the layers' states, the last h̃, and the source."""

    remembered: Remembered
    fed: Float[Tensor, "R D"]  # h̃ of the step before, zeros at the beginning
    memory: Memory
    n_written: int

    def reorder(self, rows: Int[Tensor, "N"]) -> "LuongState":
        """Take these rows, in this order."""
        return LuongState(
            tuple(part.index_select(1, rows) for part in self.remembered),
            self.fed.index_select(0, rows),
            self.memory.reorder(rows),
            self.n_written,
        )


class LuongDecoder(nn.Module):
    """``hₜ = LSTM(yₜ₋₁, hₜ₋₁)``, a look at the source, ``h̃ₜ = tanh(W_c [cₜ; hₜ])``.

    With input feeding the layers read ``[yₜ₋₁; h̃ₜ₋₁]``, so that a look knows of those before it.
    """

    def __init__(
        self,
        embedding: Embedding,
        sizes: RecurrentSizes,
        attention: SourceAttention,
        *,
        cell: str,
        feeds_input: bool,
    ) -> None:
        super().__init__()
        d_fed = sizes.d_hidden if feeds_input else 0
        self.embedding = embedding
        self.recurrence = Recurrence(cell, sizes.d_embedding + d_fed, sizes)
        self.attention = attention
        self.combine = nn.Linear(2 * sizes.d_hidden, sizes.d_hidden, bias=False)
        self.dropout = nn.Dropout(sizes.dropout)
        self.feeds_input = feeds_input

    def forward(self, target: Int[Tensor, "B T"], state: LuongState) -> tuple[Decoded, LuongState]:
        """Read more of the target, and give the vectors that predict the next words."""
        words = self.embedding(target)
        if self.feeds_input:
            decoded, after = self._fed(words, state)
        else:
            outputs, remembered = self.recurrence(words, state.remembered)
            decoded = self._look(outputs, state.memory, state.n_written)
            after = replace(state, remembered=remembered, fed=decoded.hidden[:, -1])
        after = replace(after, n_written=state.n_written + target.shape[1])
        return decoded._replace(hidden=self.dropout(decoded.hidden)), after

    def _fed(self, words: Float[Tensor, "B T E"], state: LuongState) -> tuple[Decoded, LuongState]:
        """One word after the other, for each waits for the look before it."""
        remembered, fed = state.remembered, state.fed
        looks = []
        for t in range(words.shape[1]):
            value = torch.cat([words[:, t], fed], -1)[:, None]
            output, remembered = self.recurrence(value, remembered)
            decoded = self._look(output, state.memory, state.n_written + t)
            fed = decoded.hidden[:, 0]
            looks.append(decoded)
        return Decoded.joined(looks), replace(state, remembered=remembered, fed=fed)

    def _look(self, outputs: Float[Tensor, "B Q D"], memory: Memory, first: int) -> Decoded:
        found = self.attention.look(outputs, memory, first)
        hidden = torch.tanh(self.combine(torch.cat([found.context, outputs], -1)))
        return Decoded(hidden, outputs, found.choice)


class Luong(LookingTranslator):
    """Stacked LSTMs whose decoder begins where the encoder ended, and looks back at every word.

    ``score`` is any of the eight: the paper's dot, general, and concat, which is "additive" here.
    ``normaliser`` is "soft" (the paper's global attention), "local-m" (a window of ``reach`` to
    each side of the place being written), "local-p" (around a predicted place), or "hard" (one
    place alone, drawn while training and learned by REINFORCE). An encoder whose ``encoder_cell``
    is "lstmn" attends to what it has read as it reads (see :mod:`regard.models.lstmn`).
    """

    def __init__(
        self,
        n_source_tokens: int,
        n_target_tokens: int,
        sizes: RecurrentSizes,
        *,
        cell: str = "lstm",
        encoder_cell: str | None = None,
        score: str = "general",
        normaliser: str = "soft",
        reach: int | None = None,
        feeds_input: bool = True,
        reverses_source: bool = False,
        max_length: int = 512,
        tie: str = "none",
        padding: int = 0,
    ) -> None:
        super().__init__(padding, sizes.d_hidden, draws=normaliser == "hard")
        source, target = build_embeddings(
            n_source_tokens, n_target_tokens, sizes, tie=tie, padding=padding
        )
        self.encoder = RecurrentEncoder(
            source,
            build_reader(encoder_cell, sizes.d_embedding, sizes, decoder_cell=cell),
            reverses_source=reverses_source,
        )
        attention = SourceAttention(
            score,
            sizes.d_hidden,
            sizes.d_hidden,
            build_normaliser(normaliser, sizes.d_hidden, reach),
            max_length=max_length,
        )
        self.decoder = LuongDecoder(target, sizes, attention, cell=cell, feeds_input=feeds_input)
        self.output = tied_output(target, sizes.d_hidden, tie=tie)

    def hidden_and_choices(self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]) -> Decoded:
        """Vectors, and log p of every place that hard attention chose: REINFORCE needs it."""
        decoded: Decoded = self.decoder(target, self.start(source))[0]
        return decoded

    def start(self, source: Int[Tensor, "B S"]) -> LuongState:
        """Read the source."""
        encoded = self.encoder(source)
        memory = self.decoder.attention.remember(encoded.outputs, source != self.padding)
        return LuongState(
            encoded.remembered, torch.zeros_like(encoded.remembered[0][-1]), memory, 0
        )

    def step(
        self, state: LuongState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R V"], LuongState]:
        """Take one more token a row, and give the logits of the next."""
        decoded, after = self.decoder(tokens[:, None], state)
        return self.logits(self.output(decoded.hidden[:, 0])), after

    @property
    def sites(self) -> tuple[Site, ...]:
        """Where the encoder attends, if it does, and one look a word."""
        return (*self.encoder.sites, *super().sites)
