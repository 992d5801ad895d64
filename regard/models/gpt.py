"""The decoder alone: GPT, "Language Models are Unsupervised Multitask Learners" (Radford 2019).

A Transformer's encoder under a causal mask: every word gathers from itself and the words before it,
and says which word comes next. Pre-norm, a norm at the end, learned positions, GELU.
"""

import math
from dataclasses import dataclass, replace

import torch
from torch import nn

from regard.attention import Keeping, Probe, Site, Store, longer_places, masks, taken_rows
from regard.engine import Spans, linear
from regard.errors import SizeError
from regard.models.encoder import Encoder, EncoderLayer, Sizes
from regard.models.frozen import FrozenStack
from regard.models.model import Model, Predicted
from regard.models.packing import Packed, pack, packed_places
from regard.models.sublayers import Embedding, Stream, build_positions
from regard.models.tying import tied_output
from regard.shapes import Bool, Float, Int, Tensor


@dataclass(frozen=True)
class GptState:
    """What writing remembers: every layer's keys and values of the words so far.

    Rows of the stores are shared: ``places`` says which belong to whom, and -1 is none.
    """

    written: tuple[Store, ...]
    places: Int[Tensor, "R T"]
    lengths: Int[Tensor, "R"]  # words each row has read and written
    prompted: Float[Tensor, "R D"] | None  # what the prompt ends with, until writing begins
    probes: tuple[Probe, ...]

    @property
    def is_watched(self) -> bool:
        """Whether anyone listens, so that no fused path must hide a tensor."""
        return any(probe.is_watched for probe in self.probes)

    def with_new_places(self) -> "GptState":
        """State with room for one more word a row, at the end of the stores."""
        places = longer_places(self.places, self.written[0].length)
        return replace(self, places=places, lengths=self.lengths + 1)

    def reorder(self, rows: Int[Tensor, "N"]) -> "GptState":
        """Take these rows, in this order."""
        prompted = self.prompted
        return replace(
            self,
            places=taken_rows(self.places, rows),
            lengths=taken_rows(self.lengths, rows),
            prompted=None if prompted is None else prompted.index_select(0, rows),
        )


class Block(EncoderLayer):
    """An encoder layer that can also read a prompt, and then one word at a time."""

    def read(self, stream: Stream, spans: Spans) -> tuple[Stream, Store]:
        """What the layer makes of packed rows, and their keys and values."""
        kept = Keeping(lambda x: self.attention.read_packed(x, spans))
        stream = self.around_attention.packed(stream, kept)
        return self.around_feedforward.packed(stream, self.feedforward.packed), kept.store

    def read_watched(
        self,
        value: Float[Tensor, "B L D"],
        mask: Bool[Tensor, "1 1 L L"],
        is_real: Bool[Tensor, "B L"],
    ) -> tuple[Float[Tensor, "B L D"], Store]:
        """Padded rows past every probe, and their keys and values."""
        kept = Keeping(lambda x: self.attention.read(x, mask, is_real))
        value = self.around_attention(value, kept)
        return self.around_feedforward(value, self.feedforward), kept.store

    def step(
        self, stream: Stream, written: Store, places: Int[Tensor, "R T"]
    ) -> tuple[Stream, Store]:
        """One new word a row; what was written before comes from the store."""
        grown = Keeping(lambda x: self.attention.extend(x, written, places))
        stream = self.around_attention.packed(stream, grown)
        return self.around_feedforward.packed(stream, self.feedforward.packed), grown.store

    def step_watched(
        self, value: Float[Tensor, "R 1 D"], written: Store, places: Int[Tensor, "R T"]
    ) -> tuple[Float[Tensor, "R 1 D"], Store]:
        """One new word a row, past every probe."""
        grown = Keeping(lambda x: self.attention.extend(x[:, 0], written, places))
        value = self.around_attention(value, lambda x: grown(x)[:, None])
        return self.around_feedforward(value, self.feedforward), grown.store


class Gpt(Model):
    """Says of every word which comes next, from it and the words before it.

    ``tie`` says whether the table of embeddings is the output's too ("two-way") or not ("none").
    A bias of the output is a number a word, added to its logit.
    """

    def __init__(
        self,
        n_tokens: int,
        sizes: Sizes,
        *,
        n_layers: int,
        context: int,
        positions: str = "learned",
        tie: str = "two-way",
        has_output_bias: bool = False,
        padding: int = 0,
    ) -> None:
        super().__init__(padding)
        placed = build_positions(positions, sizes.d_model, context)
        # Sines are as large as one: where they are added, words must be as large.
        scale = None if positions == "sinusoidal" else 1.0
        embedding = Embedding(
            n_tokens, sizes.d_model, placed, sizes.embedding_dropout, padding, scale=scale
        )
        self.context = context
        self._frozen: FrozenStack | None = None
        self.decoder = Encoder(embedding, n_layers, sizes, layer=Block)
        self.output = tied_output(embedding, sizes.d_model, tie=tie)
        if has_output_bias:
            self.output.bias = nn.Parameter(torch.zeros(n_tokens))
        for block in self._blocks():
            # Each layer adds to a sum: the more layers, the less each may add at the beginning.
            for linear_ in (block.attention.output, block.feedforward.narrow):
                with torch.no_grad():
                    linear_.weight.div_(math.sqrt(2 * n_layers))

    def hidden(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """The vectors from which the next words are predicted."""
        mask = masks.causal(ids.shape[1], device=ids.device)
        hidden: Tensor = self.decoder(ids, mask)
        return hidden

    def hidden_packed(self, rows: Packed) -> Float[Tensor, "N D"]:
        """Vectors of packed rows: what training on a CPU computes."""
        return self.decoder.through_packed(self.decoder.embedding.packed(rows), rows.backwards)

    def predict(self, ids: Int[Tensor, "B T"], is_real: Bool[Tensor, "B T"] | None) -> Predicted:
        """The vectors of the places that are real, which come before the padding; or of all."""
        if not self.is_packable:
            hidden = self.hidden(ids)
            return Predicted(hidden.flatten(0, 1) if is_real is None else hidden[is_real])
        return Predicted(self.hidden_packed(pack(ids, is_real)))

    def vectors(self, ids: Int[Tensor, "B T"], chosen: Bool[Tensor, "B T"]) -> Float[Tensor, "N D"]:
        """The vectors of the chosen places, of a frozen model too."""
        return self.hidden(ids)[chosen]

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """The logits of the word after each."""
        logits: Tensor = self.logits(self.output(self.hidden(ids)))
        return logits

    def start(self, source: Int[Tensor, "B S"]) -> GptState:
        """Read prompts, padded on the right; an empty one is <BOS> alone."""
        is_real = source != self.padding
        if not bool(is_real.any(1).all()):
            raise SizeError("a prompt has no words: give at least one, or <BOS> for none")
        lengths = is_real.sum(1)
        if self.is_packable:
            last, stores = self._read_packed(pack(source, is_real))
        else:
            last, stores = self._read_watched(source, is_real)
        probes = tuple(module for module in self.modules() if isinstance(module, Probe))
        return GptState(tuple(stores), packed_places(is_real), lengths, last, probes)

    def _read_packed(self, rows: Packed) -> tuple[Float[Tensor, "B D"], list[Store]]:
        stream = Stream(self.decoder.embedding.packed(rows))
        stores: list[Store] = []
        for block in self._blocks():
            stream, store = block.read(stream, rows.backwards)
            stores.append(store)
        hidden = stream.finished(self.decoder.norm)
        return hidden.index_select(0, rows.layout.starts[1:].long() - 1), stores

    def _read_watched(
        self, source: Int[Tensor, "B S"], is_real: Bool[Tensor, "B S"]
    ) -> tuple[Float[Tensor, "B D"], list[Store]]:
        value = self.decoder.embedding(source)
        mask = masks.causal(source.shape[1], device=source.device)
        stores: list[Store] = []
        for block in self._blocks():
            value, store = block.read_watched(value, mask, is_real)
            stores.append(store)
        rows = torch.arange(len(source), device=source.device)
        return self.decoder.norm(value)[rows, is_real.sum(1) - 1], stores

    def step(
        self, state: GptState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R V"], GptState]:
        """Take one more token a row, and give the logits of the next.

        The first token of every search is <BOS>, which says "begin": here writing goes on where
        the prompt ends, so it is not read.
        """
        if state.prompted is not None:
            hidden, after = state.prompted, replace(state, prompted=None)
        elif self._frozen is not None and not state.is_watched:
            return self._step_frozen(self._frozen, state, tokens)
        else:
            hidden, after = self._step(state, tokens)
        return self.logits(linear(hidden, self.output.weight, self.output.bias)), after

    def _step_frozen(
        self, frozen: FrozenStack, state: GptState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R V"], GptState]:
        embedded = self.decoder.embedding.packed(Packed.column(tokens, state.lengths))
        grown = state.with_new_places()
        logits, written = frozen.step(embedded, state.written, grown.places)
        return logits, replace(grown, written=written)

    def _step(
        self, state: GptState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R D"], GptState]:
        places, state = state.lengths, state.with_new_places()
        per_block = zip(self._blocks(), state.written, strict=True)
        embedding, norm = self.decoder.embedding, self.decoder.norm
        grown: list[Store] = []
        if state.is_watched:
            value = embedding.at(tokens, places)
            for block, written in per_block:
                value, store = block.step_watched(value, written, state.places)
                grown.append(store)
            return norm(value)[:, 0], replace(state, written=tuple(grown))
        stream = Stream(embedding.packed(Packed.column(tokens, places)))
        for block, written in per_block:
            stream, store = block.step(stream, written, state.places)
            grown.append(store)
        return stream.finished(norm), replace(state, written=tuple(grown))

    def freeze(self) -> None:
        """Promise that the weights will not change: they are laid out as writing reads them best.

        Only ``start``, ``step`` and ``forward`` are for a frozen model.
        """
        super().freeze()
        self.lay_out()
        self._frozen = FrozenStack.of(self._blocks(), self.decoder.norm, self.output)

    @property
    def sites(self) -> tuple[Site, ...]:
        """Its layers' self-attention."""
        return self._attending("decoder", "decoder")

    def _blocks(self) -> list[Block]:
        return [block for block in self.decoder.layers if isinstance(block, Block)]
