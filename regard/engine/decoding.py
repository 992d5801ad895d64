"""Decoding, sooner: a frozen copy of a model that starts, steps, reorders and searches beams.

What a hypothesis has written is a list of places in stores of keys and values: taking, copying and
dropping hypotheses moves no keys. Whoever watches a model gets the model itself: probes are looked
at when a search starts, and a search that began watched stays so.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from regard.attention import Learned, Probe
from regard.engine.beams import search_beams, serves_beam
from regard.engine.decoder_step import StackWeights, decoder_step
from regard.engine.embedding import embed
from regard.engine.frozen import reader_weights, stack_weights
from regard.engine.panels import Panels, Precision, checked_precision
from regard.engine.places import longer_places
from regard.engine.reading import ReaderWeights, read_sentences
from regard.engine.shortlist import Shortlist
from regard.engine.stores import FrozenCopyingState, FrozenState, Store
from regard.engine.training import for_training
from regard.engine.words import WordTable, words_of
from regard.errors import UsageError
from regard.models import BeamQuestion, CopyingTransformer, Ended, Gpt, Model, Transformer
from regard.models.gpt import GptState
from regard.models.sublayers import Embedding
from regard.models.transformer import DecoderLayer, EncoderLayer
from regard.shapes import Float, Int, Tensor


def for_decoding(
    model: Model, precision: Precision = "float32", shortlist: Shortlist | None = None
) -> Any:
    """What decodes for a model whose weights will not change any more, and is sooner done.

    A frozen copy of a Transformer or a GPT where the kernels serve it; of other models, and of
    those that do not write, what :func:`for_training` gives; or the model itself. ``int8`` makes
    all products those of 8-bit integers, and is refused where there is no frozen copy; so is a
    shortlist, which beams are searched with.
    """
    precision = checked_precision(precision)
    frozen: FrozenTransformer | FrozenGpt | None = None
    if type(model) is Transformer:  # others that are made of it step by themselves
        frozen = FrozenTransformer.of(model, precision, shortlist)
    elif type(model) is CopyingTransformer and precision == "float32":
        frozen = FrozenCopyingTransformer.of_copying(model)
    elif isinstance(model, Gpt):
        frozen = FrozenGpt.of(model, precision)
    if frozen is None and precision != "float32":
        raise UsageError(
            f"{precision} is computed by the C++ kernels, on a CPU, for a standard Transformer or "
            "a GPT, which this is not: leave out the precision"
        )
    if shortlist is not None and type(frozen) is not FrozenTransformer:
        raise UsageError(
            "shortlists are for the C++ kernels, on a CPU, and a standard Transformer, which this "
            "is not: leave out the shortlist"
        )
    return for_training(model) if frozen is None else frozen


class Frozen:
    """Frozen layers that write one token a row at a time."""

    def __init__(self, model: Transformer | Gpt, weights: StackWeights) -> None:
        self.model, self.weights = model, weights
        self._probes = tuple(part for part in model.modules() if isinstance(part, Probe))

    @property
    def is_watched(self) -> bool:
        """Whether anyone listens to the model, so that it must compute itself."""
        return any(probe.is_watched for probe in self._probes)

    def step(self, state: Any, tokens: Int[Tensor, "R"]) -> tuple[Float[Tensor, "R V"], Any]:
        """Take one more token a row, and give the logits of the next."""
        if not isinstance(state, FrozenState):
            return self.model.step(state, tokens)
        if state.prompted is not None:
            return state.prompted.clone(), replace(state, prompted=None)
        first = state.written[0].length
        stores = tuple(store.with_room(len(tokens)) for store in state.written)
        grown = replace(
            state,
            written=stores,
            places=longer_places(state.places, first),
            lengths=state.lengths + 1,
        )
        logits = decoder_step(
            self.weights,
            _embedded(self.model.decoder.embedding, tokens, state.lengths),
            [store.memory for store in stores],
            first,
            grown.places,
            [store.memory for store in state.memory],
            state.memory_places,
        )
        return logits, grown

    def reorder(self, state: Any, rows: Int[Tensor, "N"]) -> Any:
        """Take these rows, in this order."""
        return state.reorder(rows)


class FrozenTransformer(Frozen):
    """Frozen Transformer: reads in one call, steps in one call, and searches beams by itself."""

    model: Transformer

    def __init__(
        self,
        model: Transformer,
        weights: StackWeights,
        reader: ReaderWeights,
        shortlist: Shortlist | None = None,
    ) -> None:
        super().__init__(model, weights)
        self._reader, self._shortlist = reader, shortlist

    @classmethod
    def of(
        cls,
        model: Transformer,
        precision: Precision = "float32",
        shortlist: Shortlist | None = None,
    ) -> "FrozenTransformer | None":
        """The frozen form of a model; ``None`` where the kernels cannot serve it."""
        layers = [layer for layer in model.decoder.layers if isinstance(layer, DecoderLayer)]
        weights = stack_weights(layers, model.decoder.norm, model.output, precision)
        reader = reader_weights(model.encoder, layers, precision)
        if weights is None or reader is None or not cls.can_embed(model):
            return None
        return cls(model, weights, reader, shortlist)

    @staticmethod
    def can_embed(model: Transformer) -> bool:
        """Whether the kernels serve its tables of words."""
        tables = model.encoder.embedding, model.decoder.embedding
        return all(words_of(one, 1).can_run for one in tables)

    def start(self, source: Int[Tensor, "B S"]) -> Any:
        """Read the source."""
        if self.is_watched:
            return self.model.start(source)
        ids = source.numpy()  # which gives the interpreter to no other thread meanwhile
        is_real = ids != self.model.padding
        starts = np.zeros(len(ids) + 1, dtype=np.int32)
        np.cumsum(is_real.sum(1), out=starts[1:])
        places = np.where(is_real, np.cumsum(is_real).reshape(ids.shape) - 1, -1)
        words = self._words_of(self.model.encoder.embedding, source.shape[1])
        rows = read_sentences(self._reader, words, torch.from_numpy(ids[is_real]), starts)
        layers = self.model.decoder.layers
        widths = [2 * heads * self.weights.d_head for heads, _ in self.weights.heads]
        assert len(widths) == len(layers)
        return FrozenState(
            tuple(Store.of(rows[0].new_empty(0, width)) for width in widths),
            torch.from_numpy(np.empty((len(ids), 0), dtype=np.int32)),
            tuple(map(Store.of, rows)),
            torch.from_numpy(places.astype(np.int32)),
            torch.from_numpy(np.zeros(len(ids), dtype=np.int64)),
        )

    def _words_of(self, embedding: Embedding, n_places: int) -> WordTable:
        """From the output layer, where it is the table: the memory of one is enough."""
        panels = self.weights.output
        is_tied = embedding.weight is self.model.output.weight
        has_table = is_tied and panels is not None and panels.scales is None
        return words_of(embedding, n_places, panels if has_table else None)

    def beams(self, source: Int[Tensor, "B S"], asked: BeamQuestion) -> Iterator[Ended] | None:
        """A beam search without coming back to Python at every step, where that is possible."""
        embedding = self.model.decoder.embedding
        is_served = serves_beam(asked) and _reaches(embedding, asked.most)
        if self.is_watched or not is_served:
            return None
        state = self.start(source)
        rows = [store.memory for store in state.memory]
        words, weights, tokens = self._words_of(embedding, asked.most), self.weights, None
        if self._shortlist is not None:
            tokens = self._shortlist.tokens(source.numpy(), asked.prefixes)
            weights = weights.with_tokens(self.model.output.weight, tokens)
        return search_beams(weights, words, rows, state.memory_places, asked, tokens)


class FrozenCopyingTransformer(FrozenTransformer):
    """Frozen Transformer that can copy: the kernels read and write, its head says what to copy.

    The vectors that the head needs leave the kernels as products with an identity, which are exact.
    """

    model: CopyingTransformer

    @classmethod
    def of_copying(cls, model: CopyingTransformer) -> "FrozenCopyingTransformer | None":
        """The frozen form of a model; ``None`` where the kernels cannot serve it."""
        layers = [layer for layer in model.decoder.layers if isinstance(layer, DecoderLayer)]
        width = model.output.in_features
        same = nn.Linear(width, width, bias=False, device="meta")  # which draws no numbers
        same.weight = nn.Parameter(torch.eye(width), requires_grad=False)
        weights = stack_weights(layers, model.decoder.norm, same)
        reader = reader_weights(model.encoder, layers)
        if weights is None or reader is None or not cls.can_embed(model):
            return None
        memory = Panels.of(same.weight), torch.zeros(width)
        return cls(model, weights, replace(reader, memories=(*reader.memories, memory)))

    def start(self, source: Int[Tensor, "B S"]) -> Any:
        """Read the source."""
        state = super().start(source)
        if not isinstance(state, FrozenState):
            return state
        read = state.memory[-1].memory
        padded = read.new_zeros(*source.shape, read.shape[1])
        padded[source != self.model.padding] = read
        given = self.model.copying.keys(padded, source)
        return FrozenCopyingState(state, given, torch.arange(len(source)))

    def step(self, state: Any, tokens: Int[Tensor, "R"]) -> tuple[Float[Tensor, "R V"], Any]:
        """Take one more token a row, and give the logits of the next."""
        if not isinstance(state, FrozenCopyingState):
            return self.model.step(state, tokens)
        hidden, written = super().step(state.written, tokens)
        is_real = tokens.new_ones(len(tokens), 1).bool()
        copies = self.model.copying(hidden[:, None], state.given.of(state.rows), is_real)
        logits = self.model.logits(copies.joined(self.model.output(hidden)))
        return logits, replace(state, written=written)

    def _words_of(self, embedding: Embedding, n_places: int) -> WordTable:
        """From the model's table: the kernels' output layer is none."""
        return words_of(embedding, n_places)

    def beams(self, source: Int[Tensor, "B S"], asked: BeamQuestion) -> None:
        """Not by itself."""


class FrozenGpt(Frozen):
    """Frozen GPT: the model reads prompts, the kernels write on."""

    model: Gpt

    @classmethod
    def of(cls, model: Gpt, precision: Precision = "float32") -> "FrozenGpt | None":
        """The frozen form of a model; ``None`` where the kernels cannot serve it."""
        layers = [layer for layer in model.decoder.layers if isinstance(layer, EncoderLayer)]
        weights = stack_weights(layers, model.decoder.norm, model.output, precision)
        return None if weights is None else cls(model, weights)

    def start(self, source: Int[Tensor, "B S"]) -> Any:
        """Read prompts, padded on the right; an empty one is <BOS> alone."""
        state = self.model.start(source)
        return state if self.is_watched else self._frozen(state)

    def _frozen(self, state: GptState) -> FrozenState:
        """What the model has read, real words alone, as rows of stores."""
        is_real = state.is_real
        assert state.prompted is not None
        rows = [
            torch.cat([heads.transpose(1, 2).flatten(2)[is_real] for heads in pair], dim=1)
            for pair in ((cache.key, cache.value) for cache in state.caches)
        ]
        places = (is_real.flatten().cumsum(0) - 1).view(is_real.shape).masked_fill(~is_real, -1)
        return FrozenState(
            written=tuple(map(Store.of, rows)),
            places=places.int(),
            memory=(),
            memory_places=None,
            lengths=state.lengths,
            prompted=self.model.output(state.prompted),
        )


def _embedded(
    embedding: Embedding, tokens: Int[Tensor, "R"], places: Int[Tensor, "R"]
) -> Float[Tensor, "R D"]:
    words = words_of(embedding, int(places.max()) + 1)
    if words.positions is None:
        return torch.nn.functional.embedding(tokens, words.table) * words.scale
    return embed(words.table, tokens, words.positions, places, scale=words.scale, p=0.0)


def _reaches(embedding: Embedding, n_places: int) -> bool:
    """Whether there is a position for each of so many places."""
    positions = embedding.positions
    return not isinstance(positions, Learned) or n_places <= len(positions.table)
