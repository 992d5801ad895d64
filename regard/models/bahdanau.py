"""The translator of "Neural Machine Translation by Jointly Learning to Align and Translate".

Bahdanau, Cho and Bengio (2014), where attention began. In the words of its general form the query
is the decoder's state sᵢ₋₁, and keys and values are both the encoder's states hⱼ.
"""

from dataclasses import dataclass

import torch
from torch import nn

from regard.errors import SizeError, UsageError
from regard.models.recurrent import (
    Encoded,
    Recurrence,
    RecurrentEncoder,
    RecurrentSizes,
    build_embeddings,
)
from regard.models.source_attention import (
    Decoded,
    Found,
    LookingTranslator,
    Memory,
    SourceAttention,
    build_normaliser,
)
from regard.models.sublayers import Embedding
from regard.models.tying import tied_output
from regard.shapes import Float, Int, Tensor

READOUTS = ("maxout", "tanh")


@dataclass(frozen=True)
class BahdanauState:
    """What decoding remembers: the state sᵢ, the source, and how many words were written."""

    state: Float[Tensor, "R H"]
    memory: Memory
    n_written: int

    def reorder(self, rows: Int[Tensor, "N"]) -> "BahdanauState":
        """Take these rows, in this order."""
        state = self.state.index_select(0, rows)
        return BahdanauState(state, self.memory.reorder(rows), self.n_written)


class GatedUnit(nn.Module):
    """The paper's gated recurrent unit, with a context (its appendix A.1.1 and A.2.2).

    ``z = σ(W_z y + U_z s + C_z c)``, ``r = σ(W_r y + U_r s + C_r c)``,
    ``s̃ = tanh(W y + U [r ∘ s] + C c)`` and ``s' = (1 - z) ∘ s + z ∘ s̃``. The three W are one
    matrix here, as are the three C and the two U that are applied to s itself.
    """

    def __init__(self, d_word: int, d_context: int, d_hidden: int) -> None:
        super().__init__()
        self.word = nn.Linear(d_word, 3 * d_hidden)
        self.context = nn.Linear(d_context, 3 * d_hidden, bias=False)
        self.gates = nn.Linear(d_hidden, 2 * d_hidden, bias=False)
        self.candidate = nn.Linear(d_hidden, d_hidden, bias=False)

    def forward(
        self,
        of_word: Float[Tensor, "R H3"],
        context: Float[Tensor, "R C"],
        state: Float[Tensor, "R H"],
    ) -> Float[Tensor, "R H"]:
        """The next state, from what ``word`` made of the word: that part needs no waiting."""
        d_hidden = state.shape[1]
        given = of_word + self.context(context)
        gates = torch.sigmoid(given[:, : 2 * d_hidden] + self.gates(state))
        update, reset = gates.chunk(2, dim=1)
        candidate = torch.tanh(given[:, 2 * d_hidden :] + self.candidate(reset * state))
        return torch.lerp(state, candidate, update)


class Readout(nn.Module):
    """``t = maxout(U s + V y + C c)``, the vector that predicts a word, or tanh for maxout.

    Maxout keeps the larger of each two neighbours: ``tⱼ = max(t̃₂ⱼ₋₁, t̃₂ⱼ)``.
    """

    def __init__(
        self, readout: str, d_hidden: int, d_word: int, d_context: int, d_output: int
    ) -> None:
        super().__init__()
        if readout not in READOUTS:
            raise UsageError(f"there is no readout {readout!r}: choose {' or '.join(READOUTS)}")
        self.is_maxout = readout == "maxout"
        width = 2 * d_output if self.is_maxout else d_output
        self.state = nn.Linear(d_hidden, width)
        self.word = nn.Linear(d_word, width, bias=False)
        self.context = nn.Linear(d_context, width, bias=False)

    def forward(
        self,
        state: Float[Tensor, "*B H"],
        word: Float[Tensor, "*B E"],
        context: Float[Tensor, "*B C"],
    ) -> Float[Tensor, "*B D"]:
        """Put together what is known of the next word."""
        together: Tensor = self.state(state) + self.word(word) + self.context(context)
        if not self.is_maxout:
            return together.tanh()
        return together.view(*together.shape[:-1], -1, 2).amax(-1)


class BahdanauDecoder(nn.Module):
    """At every step: look at the source, go on to the next state, read out what comes.

    ``cᵢ = Σⱼ αᵢⱼ hⱼ`` with ``αᵢⱼ = softmaxⱼ a(sᵢ₋₁, hⱼ)``, then ``sᵢ = f(sᵢ₋₁, yᵢ₋₁, cᵢ)``.
    """

    def __init__(
        self,
        embedding: Embedding,
        sizes: RecurrentSizes,
        attention: SourceAttention,
        *,
        readout: str,
        d_output: int,
    ) -> None:
        super().__init__()
        d_word, d_hidden, d_context = sizes.d_embedding, sizes.d_hidden, 2 * sizes.d_hidden
        self.embedding = embedding
        self.first = nn.Linear(d_hidden, d_hidden)
        self.attention = attention
        self.unit = GatedUnit(d_word, d_context, d_hidden)
        self.readout = Readout(readout, d_hidden, d_word, d_context, d_output)
        self.dropout = nn.Dropout(sizes.dropout)

    def start(self, encoded: Encoded) -> Float[Tensor, "B H"]:
        """``s₀ = tanh(W_s ←h₁)``: what the encoder knows when it has read back to the beginning."""
        backwards = encoded.remembered[0][-1]
        return torch.tanh(self.first(backwards))

    def forward(
        self, target: Int[Tensor, "B T"], memory: Memory, state: Float[Tensor, "B H"], first: int
    ) -> tuple[Decoded, Float[Tensor, "B H"]]:
        """Read more of the target, from place ``first`` on; give the vectors and the last state."""
        words = self.embedding(target)
        of_words = self.unit.word(words)
        looks: list[Found] = []
        before, states = [], []
        for t in range(target.shape[1]):
            before.append(state)
            looks.append(self.attention.look(state[:, None], memory, first + t))
            state = self.unit(of_words[:, t], looks[-1].context[:, 0], state)
            states.append(state)
        found = Found.joined(looks)
        read = self.readout(torch.stack(states, 1), words, found.context)
        return Decoded(self.dropout(read), torch.stack(before, 1), found.choice), state


class Bahdanau(LookingTranslator):
    """A bidirectional encoder, and a decoder that looks at all of its states before every word.

    The energy a(sᵢ₋₁, hⱼ) is the paper's ``vᵀ tanh(W sᵢ₋₁ + U hⱼ)``, or another ``score``. The next
    word comes from ``g(yᵢ₋₁, sᵢ, cᵢ)`` as equation 4 has it; appendix A.2.2 writes sᵢ₋₁ where it
    spells out g.
    ``d_output`` is the width of the readout, as wide as an embedding unless told.
    """

    def __init__(
        self,
        n_source_tokens: int,
        n_target_tokens: int,
        sizes: RecurrentSizes,
        *,
        score: str = "perceptron",
        normaliser: str = "soft",
        reach: int | None = None,
        readout: str = "maxout",
        d_output: int | None = None,
        max_length: int = 512,
        tie: str = "none",
        padding: int = 0,
    ) -> None:
        if sizes.n_layers != 1:
            raise SizeError(
                f"Bahdanau's translator has one layer each way, not {sizes.n_layers}: choose "
                "n_layers = 1, or Luong's or Sutskever's translator, which stack them"
            )
        super().__init__(padding, sizes.d_hidden, draws=normaliser == "hard")
        d_output = d_output or sizes.d_embedding
        source, target = build_embeddings(
            n_source_tokens, n_target_tokens, sizes, tie=tie, padding=padding
        )
        recurrence = Recurrence("gru", sizes.d_embedding, sizes, is_bidirectional=True)
        self.encoder = RecurrentEncoder(source, recurrence)
        attention = SourceAttention(
            score,
            sizes.d_hidden,
            2 * sizes.d_hidden,
            build_normaliser(normaliser, sizes.d_hidden, reach),
            d_energy=sizes.d_hidden,
            max_length=max_length,
        )
        self.decoder = BahdanauDecoder(target, sizes, attention, readout=readout, d_output=d_output)
        self.output = tied_output(target, d_output, tie=tie)

    def hidden_and_choices(self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]) -> Decoded:
        """The vectors that predict the next words, and log p of every place that was drawn."""
        begun = self.start(source)
        decoded: Decoded = self.decoder(target, begun.memory, begun.state, begun.n_written)[0]
        return decoded

    def start(self, source: Int[Tensor, "B S"]) -> BahdanauState:
        """Read the source."""
        encoded = self.encoder(source)
        memory = self.decoder.attention.remember(encoded.outputs, source != self.padding)
        return BahdanauState(self.decoder.start(encoded), memory, 0)

    def step(
        self, state: BahdanauState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R V"], BahdanauState]:
        """Take one more token a row, and give the logits of the next."""
        decoded, after = self.decoder(tokens[:, None], state.memory, state.state, state.n_written)
        logits = self.logits(self.output(decoded.hidden[:, 0]))
        return logits, BahdanauState(after, state.memory, state.n_written + 1)
