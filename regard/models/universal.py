"""The Universal Transformer (Dehghani et al. 2018): one layer, repeated over depth.

A Transformer's layers are here one layer with one set of weights, run several times; each time the
place of the word and the number of the step are added. With adaptive computation time (ACT, Graves
2016) every word decides for itself how many times is enough.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import nn

from regard.attention import Cache, Probe, Sinusoidal, Site, Unplaced, masks
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.halting import Depth, Halting
from regard.models.model import Predicted
from regard.models.sublayers import Embedding
from regard.models.transformer import DecoderLayer, DecoderState, EncoderLayer, Sizes
from regard.models.tying import tied_embeddings, tied_output
from regard.shapes import Bool, Float, Int, Tensor


class Thought(NamedTuple):
    """What a word became, and what it cost."""

    value: Float[Tensor, "B L D"]
    cost: Float[Tensor, "B L"]


class Repeated(nn.Module):
    """One layer repeated: ``hᵗ = layer(hᵗ⁻¹ + P + Pᵗ)`` with P of the place and Pᵗ of the step.

    A word that has halted keeps its state: it is copied from step to step, as in the paper, so the
    keys that others see of it are those of ``h^N + P + Pᵗ``. The state stands, the clock goes on.

    ``pₙ = σ(w·hⁿ + b)`` is asked of the state after the step, as Graves does. ``steps`` passes how
    many steps each word took, ``halting`` the weight of each step.
    """

    def __init__(self, embedding: Embedding, depth: Depth, sizes: Sizes) -> None:
        super().__init__()
        self.embedding = embedding
        self.depth = depth
        self.signal = Sinusoidal(sizes.d_model)
        self.norm = sizes.final_norm()
        self.halt = nn.Linear(sizes.d_model, 1) if depth.is_adaptive else None
        if self.halt is not None:
            nn.init.ones_(self.halt.bias)  # a fresh model thinks briefly, and learns to think on
        self.steps, self.halting = Probe(), Probe()

    def placed(
        self, value: Float[Tensor, "B L D"], step: int, first: int = 0
    ) -> Float[Tensor, "B L D"]:
        """Add the signals of places ``first``, ``first + 1``, … and of the step, from 1."""
        now = self.signal.prepared(step + 1)[step].to(value.dtype)
        placed: Tensor = self.signal(value, first) + now
        return placed

    def repeat(
        self,
        ids: Int[Tensor, "B L"],
        layer: Callable[[Tensor, int], Tensor],
        *,
        first: int = 0,
        is_whole: bool = True,
    ) -> Thought:
        """Repeat the layer until every word has halted, or to the last step if not ``is_whole``.

        Words to come may think longer than those of now, and need the keys of every step.
        """
        value = self.embedding(ids)
        account, weights = Halting.start(value, ids != self.embedding.padding), []
        for step in range(1, self.depth.n_steps + 1):
            changed = layer(self.placed(value, step, first), step)
            value = torch.where(account.is_running[..., None], changed, value)
            weight, account = account.after(
                value,
                self._probability(value),
                self.depth.threshold,
                is_last=step == self.depth.n_steps,
            )
            weights.append(weight)
            if is_whole and not account.is_running.any():
                break
        self.steps(account.n_steps)
        self.halting(torch.stack(weights, dim=-1))
        cost = account.cost if self.halt is not None else torch.zeros_like(account.cost)
        return Thought(self.norm(account.mean), cost)

    def _probability(self, value: Float[Tensor, "B L D"]) -> Float[Tensor, "B L"]:
        """Of halting now; with fixed steps it is 0, and the last step has all the weight."""
        if self.halt is None:
            return torch.zeros_like(value[..., 0])
        return torch.sigmoid(self.halt(value)[..., 0])


class RepeatedEncoder(Repeated):
    """One encoder layer, repeated over embedded words."""

    def __init__(self, embedding: Embedding, depth: Depth, sizes: Sizes) -> None:
        super().__init__(embedding, depth, sizes)
        self.layer = EncoderLayer(sizes)

    def forward(self, source: Int[Tensor, "B S"], mask: Bool[Tensor, "B 1 1 S"]) -> Thought:
        """Turn ids into vectors that know their context."""
        return self.repeat(source, lambda x, _: self.layer(x, mask))


class RepeatedDecoder(Repeated):
    """One decoder layer, repeated over the words written so far."""

    def __init__(self, embedding: Embedding, depth: Depth, sizes: Sizes) -> None:
        super().__init__(embedding, depth, sizes)
        self.layer = DecoderLayer(sizes)

    def forward(
        self,
        target: Int[Tensor, "B T"],
        memory: Float[Tensor, "B S D"],
        memory_mask: Bool[Tensor, "B 1 1 S"],
    ) -> Thought:
        """Turn each prefix of the target into the vector that predicts its next word."""
        mask = masks.causal(target.shape[1], device=target.device)
        return self.repeat(target, lambda x, _: self.layer(x, mask, memory, memory_mask))

    def start(
        self, memory: Float[Tensor, "B S D"], memory_mask: Bool[Tensor, "B 1 1 S"]
    ) -> DecoderState:
        """Project the source once, for all steps; what is written has keys for each step."""
        remembered = self.layer.cross.project(memory, memory)
        return DecoderState((None,) * self.depth.n_steps, (remembered,), memory_mask)

    def step(
        self, state: DecoderState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R D"], DecoderState]:
        """Take one more token a row, and give the vector that predicts the next."""
        grown: list[Cache] = []

        def layer(value: Tensor, step: int) -> Tensor:
            past, (memory,) = state.written[step - 1], state.memory
            changed, seen = self.layer.step(value, past, memory, state.memory_mask)
            grown.append(seen)
            return changed

        first = state.n_written
        thought = self.repeat(tokens[:, None], layer, first=first, is_whole=False)
        return thought.value[:, 0], replace(state, written=tuple(grown), n_written=first + 1)


class UniversalTransformer(EncoderDecoder):
    """Encoder and decoder of one layer each, repeated; ``tie`` is as in the Transformer.

    ``ponder`` is what a step costs in training, where words decide how many they take.
    """

    def __init__(
        self,
        n_source_tokens: int,
        n_target_tokens: int,
        sizes: Sizes,
        *,
        depth: Depth,
        decoder_depth: Depth | None = None,
        ponder: float = 0.01,
        tie: str = "three-way",
        padding: int = 0,
    ) -> None:
        super().__init__(padding)

        def embed(n_tokens: int) -> Embedding:
            dropout = sizes.embedding_dropout
            return Embedding(n_tokens, sizes.d_model, Unplaced(), dropout, padding)

        source, target = tied_embeddings(n_source_tokens, n_target_tokens, embed, tie=tie)
        self.encoder = RepeatedEncoder(source, depth, sizes)
        self.decoder = RepeatedDecoder(target, decoder_depth or depth, sizes)
        self.output = tied_output(target, sizes.d_model, tie=tie)
        self.ponder = ponder

    def hidden_and_ponder(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> tuple[Float[Tensor, "B T D"], Float[Tensor, ""]]:
        """The vectors that predict the next words, and what thinking cost, for a loss to add.

        The cost is the mean of ``N + R`` over source words plus the mean over target words; with
        fixed steps there is nothing to save, and it is zero.
        """
        is_real = source != self.padding
        mask = masks.keeping(is_real)
        read = self.encoder(source, mask)
        written = self.decoder(target, read.value, mask)
        n_source, n_target = is_real.sum(), (target != self.padding).sum()
        ponder = read.cost.sum() / n_source.clamp(min=1)
        return written.value, ponder + written.cost.sum() / n_target.clamp(min=1)

    def predict(
        self,
        source: Int[Tensor, "B S"],
        target: Int[Tensor, "B T"],
        is_real: Bool[Tensor, "B T"],
    ) -> Predicted:
        """The vectors of the places that are real, and the cost of thinking about them."""
        hidden, ponder = self.hidden_and_ponder(source, target)
        return Predicted(hidden[is_real], self.ponder * ponder)

    @property
    def sites(self) -> tuple[Site, ...]:
        """Every repetition of every attention; with halting, later ones may not come about."""
        steps = range(self.decoder.depth.n_steps)
        return (
            *(
                Site("encoder", i, "encoder.layer.attention.weights", i)
                for i in range(self.encoder.depth.n_steps)
            ),
            *(Site("decoder", i, "decoder.layer.attention.weights", i) for i in steps),
            *(Site("cross", i, "decoder.layer.cross.weights", i) for i in steps),
        )

    def hidden(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T D"]:
        """The vectors from which the next words are predicted; ``target`` is shifted right."""
        return self.hidden_and_ponder(source, target)[0]

    def start(self, source: Int[Tensor, "B S"]) -> DecoderState:
        """Read the source."""
        mask = masks.keeping(source != self.padding)
        return self.decoder.start(self.encoder(source, mask).value, mask)

    def step(
        self, state: DecoderState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R V"], DecoderState]:
        """Take one more token a row, and give the logits of the next."""
        hidden, after = self.decoder.step(state, tokens)
        return self.logits(self.output(hidden)), after
