"""A translator with a memory of slots: "Neural Turing Machines".

Graves, Wayne and Danihelka (2014). It reads the source while it writes to its memory, and writes
the target while it reads from its memory: what it knows of the source is what it put there.
"""

from dataclasses import dataclass, replace

import torch
from torch import nn

from regard.attention import Content, Probe, Soft
from regard.errors import SizeError, UsageError
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.recurrent import RecurrentSizes, build_embeddings
from regard.models.sublayers import Embedding
from regard.models.tying import tied_output
from regard.shapes import Bool, Float, Int, Tensor

ADDRESSINGS = ("content", "full")
EMPTY = 1e-6  # what a slot holds at first: a small constant learns best (Collier and Beel 2018)
_TINY = 1e-12  # so that the logarithm of no weight at all is a number


@dataclass(frozen=True)
class Slots:
    """How large the memory is, and how it is addressed."""

    n_slots: int = 128
    d_slot: int = 20
    addressing: str = "full"
    reach: int = 1  # how many slots a head moves at most, from one step to the next

    def __post_init__(self) -> None:
        if self.addressing not in ADDRESSINGS:
            raise UsageError(
                f"there is no addressing {self.addressing!r}: choose {' or '.join(ADDRESSINGS)}"
            )
        if min(self.n_slots, self.d_slot, self.reach) < 1:
            raise SizeError(
                f"a memory of n_slots = {self.n_slots}, d_slot = {self.d_slot} and reach = "
                f"{self.reach} is not possible: each is 1 or more"
            )
        if self.addressing == "full" and 2 * self.reach + 1 > self.n_slots:
            raise SizeError(
                f"a head that moves {self.reach} to each side needs {2 * self.reach + 1} slots or "
                f"more, not {self.n_slots}: make n_slots larger, or reach smaller"
            )


class MemoryHead(nn.Module):
    """Where in the memory to read or write, from what the controller says: weights over slots.

    By content, ``w_c = softmaxᵢ(β cos(k, Mᵢ))``. Full addressing goes on from there:
    ``w_g = g w_c + (1 - g) wₜ₋₁`` (or stay where it was), ``w̃ᵢ = Σⱼ w_g(i - j) s(j)`` (move, the
    last slot being beside the first) and ``w = w̃^γ / Σ w̃^γ`` (sharpen what moving has blurred).
    """

    origins: Tensor

    def __init__(self, d_controller: int, slots: Slots) -> None:
        super().__init__()
        self.is_full = slots.addressing == "full"
        moves = torch.arange(-slots.reach, slots.reach + 1)
        location = [1, len(moves), 1] if self.is_full else []
        self.widths = [slots.d_slot, 1, *location]  # of k, β, g, s, γ
        self.say = nn.Linear(d_controller, sum(self.widths))
        self.score = Content(slots.d_slot, slots.d_slot)
        self.normaliser = Soft()
        self.scores, self.by_content, self.weights = Probe(), Probe(), Probe()
        # Of each slot, whence a head has come that is there now, by each of the moves.
        origins = (torch.arange(slots.n_slots)[:, None] - moves) % slots.n_slots
        self.register_buffer("origins", origins, persistent=False)

    def forward(
        self,
        controller: Float[Tensor, "B H"],
        memory: Float[Tensor, "B 1 K E"],
        before: Float[Tensor, "B 1 1 K"],
        is_real: Bool[Tensor, "B 1 1 1"] | None = None,
    ) -> Float[Tensor, "B 1 1 K"]:
        """Turn to slots, having been at those ``before``; a row that is not real turns to none."""
        said: Tensor = self.say(controller)[:, None, None]
        key, strength, *location = torch.split(said, self.widths, -1)
        scores = nn.functional.softplus(strength) * self.score(torch.tanh(key), memory)
        weights = self.by_content(self.normaliser(self.scores(scores)).weights)
        if self.is_full:
            weights = self._moved(weights, before, *location)
        turned: Tensor = self.weights(weights if is_real is None else weights * is_real)
        return turned

    def _moved(
        self,
        by_content: Float[Tensor, "B 1 1 K"],
        before: Float[Tensor, "B 1 1 K"],
        gate: Float[Tensor, "B 1 1 1"],
        move: Float[Tensor, "B 1 1 M"],
        sharpness: Float[Tensor, "B 1 1 1"],
    ) -> Float[Tensor, "B 1 1 K"]:
        """Interpolate, move round, sharpen."""
        weights = torch.lerp(before, by_content, torch.sigmoid(gate))
        shares = self.normaliser(move).weights[..., None]
        weights = (weights[..., self.origins] @ shares)[..., 0]
        # w^γ / Σ w^γ = softmax(γ log w), which cannot underflow.
        power = 1 + nn.functional.softplus(sharpness)
        sharp: Tensor = self.normaliser(power * torch.log(weights + _TINY)).weights
        return sharp


@dataclass(frozen=True)
class NeuralTuringState:
    """What the machine is in the middle of: its controller, its reading head, its memory."""

    controller: tuple[Float[Tensor, "R H"], Float[Tensor, "R H"]]  # h and c
    read: Float[Tensor, "R E"]  # what was read last
    reading: Float[Tensor, "R 1 1 K"]  # and where
    memory: Float[Tensor, "R 1 K E"]

    def reorder(self, rows: Int[Tensor, "N"]) -> "NeuralTuringState":
        """Take these rows, in this order."""
        h, c = self.controller
        return NeuralTuringState(
            (h.index_select(0, rows), c.index_select(0, rows)),
            self.read.index_select(0, rows),
            self.reading.index_select(0, rows),
            self.memory.index_select(0, rows),
        )


class TuringEncoder(nn.Module):
    """Reads a word, writes to the memory, looks into it: ``hₜ = LSTM([xₜ; rₜ₋₁], hₜ₋₁)``.

    Writing erases and adds: ``Mₜ(i) = Mₜ₋₁(i) ∘ (1 - w(i) e) + w(i) a``; ``r = Σᵢ w(i) M(i)``.
    """

    empty: Tensor  # what the slots hold at first

    def __init__(self, embedding: Embedding, sizes: RecurrentSizes, slots: Slots) -> None:
        super().__init__()
        self.embedding = embedding
        self.cell = nn.LSTMCell(sizes.d_embedding + slots.d_slot, sizes.d_hidden)
        self.write, self.read = MemoryHead(sizes.d_hidden, slots), MemoryHead(sizes.d_hidden, slots)
        self.change = nn.Linear(sizes.d_hidden, 2 * slots.d_slot)
        self.memory = Probe()
        empty = torch.full((slots.n_slots, slots.d_slot), EMPTY)
        # Slots that hold the same get the same from a head that looks at content alone, for ever.
        if slots.addressing == "content":
            self.empty = nn.Parameter(torch.randn_like(empty))
        else:
            self.register_buffer("empty", empty, persistent=False)

    def begin(self, n_rows: int) -> NeuralTuringState:
        """An empty memory, both heads at its first slot."""
        nothing = self.empty.new_zeros(n_rows, self.cell.hidden_size)
        at_first = self.empty.new_zeros(n_rows, 1, 1, len(self.empty))
        at_first[..., 0] = 1.0
        memory = self.empty.expand(n_rows, 1, *self.empty.shape)
        read = self.empty.new_zeros(n_rows, self.empty.shape[1])
        return NeuralTuringState((nothing, nothing), read, at_first, memory)

    def forward(self, source: Int[Tensor, "B S"]) -> NeuralTuringState:
        """Read the source into the memory; padding is not read."""
        words, is_real = self.embedding(source), source != self.embedding.padding
        state = self.begin(len(source))
        writing = state.reading
        for t in range(source.shape[1]):
            state, writing = self._read_word(words[:, t], is_real[:, t], state, writing)
        return replace(state, memory=self.memory(state.memory))

    def _read_word(
        self,
        word: Float[Tensor, "B D"],
        is_real: Bool[Tensor, "B"],
        state: NeuralTuringState,
        writing: Float[Tensor, "B 1 1 K"],
    ) -> tuple[NeuralTuringState, Float[Tensor, "B 1 1 K"]]:
        h, c = self.cell(torch.cat([word, state.read], -1), state.controller)
        is_row, is_slot = is_real[:, None], is_real[:, None, None, None]
        writing = self.write(h, state.memory, writing, is_slot)
        erase, add = self.change(h)[:, None, None].chunk(2, -1)
        at = writing.mT
        memory = state.memory * (1 - at * torch.sigmoid(erase)) + at * add
        reading = self.read(h, memory, state.reading, is_slot)
        after = NeuralTuringState(
            (h.where(is_row, state.controller[0]), c.where(is_row, state.controller[1])),
            (reading @ memory)[:, 0, 0].where(is_row, state.read),
            reading.where(is_slot, state.reading),
            memory,
        )
        return after, writing


class TuringDecoder(nn.Module):
    """``hₜ = LSTM([yₜ₋₁; rₜ₋₁], hₜ₋₁)``, a look into the memory, ``h̃ₜ = tanh(W [hₜ; rₜ])``."""

    def __init__(self, embedding: Embedding, sizes: RecurrentSizes, slots: Slots) -> None:
        super().__init__()
        self.embedding = embedding
        self.cell = nn.LSTMCell(sizes.d_embedding + slots.d_slot, sizes.d_hidden)
        self.read = MemoryHead(sizes.d_hidden, slots)
        self.combine = nn.Linear(sizes.d_hidden + slots.d_slot, sizes.d_hidden)
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(
        self, target: Int[Tensor, "B T"], state: NeuralTuringState
    ) -> tuple[Float[Tensor, "B T D"], NeuralTuringState]:
        """Read more of the target, and give the vectors that predict the next words."""
        words, known = self.embedding(target), []
        for t in range(target.shape[1]):
            h, c = self.cell(torch.cat([words[:, t], state.read], -1), state.controller)
            reading = self.read(h, state.memory, state.reading)
            read = (reading @ state.memory)[:, 0, 0]
            state = NeuralTuringState((h, c), read, reading, state.memory)
            known.append(torch.cat([h, read], -1))
        return self.dropout(torch.tanh(self.combine(torch.stack(known, 1)))), state


class NeuralTuring(EncoderDecoder):
    """A controller with a memory, which is all that the decoder can look at: no word of the source.

    ``addressing`` "full" is the paper's; its heads begin at the first slot, as on a tape. With
    "content" alone a head cannot tell slots apart that hold the same, so that what they hold at
    first is learned, and with it every place: what was learned of short sources hardly serves
    longer ones.
    """

    def __init__(
        self,
        n_source_tokens: int,
        n_target_tokens: int,
        sizes: RecurrentSizes,
        slots: Slots | None = None,
        *,
        tie: str = "none",
        padding: int = 0,
    ) -> None:
        if sizes.n_layers != 1:
            raise SizeError(
                f"a Neural Turing Machine's controller has one layer, not {sizes.n_layers}: choose "
                "n_layers = 1, and a larger d_hidden or memory if it has too little room"
            )
        super().__init__(padding)
        slots = slots or Slots()
        source, target = build_embeddings(
            n_source_tokens, n_target_tokens, sizes, tie=tie, padding=padding
        )
        self.encoder = TuringEncoder(source, sizes, slots)
        self.decoder = TuringDecoder(target, sizes, slots)
        self.output = tied_output(target, sizes.d_hidden, tie=tie)

    def hidden(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T D"]:
        """The vectors from which the next words are predicted; ``target`` is shifted right."""
        decoded: Tensor = self.decoder(target, self.encoder(source))[0]
        return decoded

    def start(self, source: Int[Tensor, "B S"]) -> NeuralTuringState:
        """Read the source into the memory."""
        state: NeuralTuringState = self.encoder(source)
        return state

    def step(
        self, state: NeuralTuringState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R V"], NeuralTuringState]:
        """Take one more token a row, and give the logits of the next."""
        decoded, after = self.decoder(tokens[:, None], state)
        return self.logits(self.output(decoded[:, 0])), after
