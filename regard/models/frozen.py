"""Layers whose weights will not change, for the kernels that run them in one call.

The kernels have a copy of the matrices, laid out for their own products. The modules keep theirs:
they serve whoever watches.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import nn

from regard.attention import Store
from regard.engine import BeamQuestion, Ended, WordTable
from regard.engine.beams import search_beams
from regard.engine.decoder_step import Part, StackWeights, decoder_step
from regard.engine.native import native
from regard.engine.panels import Panels
from regard.engine.reading import ReaderWeights, read_sentences
from regard.models.decoder import DecoderLayer, DecoderState
from regard.models.encoder import Encoder, EncoderLayer
from regard.shapes import Float, Int, Tensor


class FrozenStack:
    """Frozen layers and output: the numbers of the layers step by step, far sooner."""

    def __init__(self, weights: StackWeights) -> None:
        self.weights = weights

    @classmethod
    def of(
        cls, layers: Sequence[DecoderLayer | EncoderLayer], final: nn.Module, output: nn.Linear
    ) -> "FrozenStack | None":
        """The frozen form of a decoder's layers; ``None`` where the kernel cannot serve it."""
        weights = _stack(layers, final, output)
        return None if weights is None else cls(weights)

    def step(
        self,
        embedded: Float[Tensor, "R D"],
        written: Sequence[Store],
        places: Int[Tensor, "R T"],
        memory: Sequence[Store] = (),
        memory_places: Int[Tensor, "R S"] | None = None,
    ) -> tuple[Float[Tensor, "R V"], tuple[Store, ...]]:
        """Take one more word a row: the logits of the next, and the longer stores.

        ``places`` has the new words' places already.
        """
        stores = tuple(store.with_room(len(embedded)) for store in written)
        logits = decoder_step(
            self.weights,
            embedded.contiguous(),
            [store.memory for store in stores],
            written[0].length,
            places,
            [store.memory for store in memory],
            memory_places,
        )
        return logits, stores

    def beams(self, words: WordTable, state: DecoderState, asked: BeamQuestion) -> Iterator[Ended]:
        """A whole beam search from a state that has begun."""
        rows = [store.memory for store in state.memory]
        return search_beams(self.weights, words, rows, state.memory_places, asked)


class FrozenReader:
    """Frozen encoder, with the keys and values that the decoder's layers look at."""

    def __init__(self, weights: ReaderWeights, encoder: Encoder) -> None:
        self._weights, self._embedding = weights, encoder.embedding

    @classmethod
    def of(cls, encoder: Encoder, looking: Sequence[DecoderLayer]) -> "FrozenReader | None":
        """The frozen form of an encoder; ``None`` where the kernel cannot serve it."""
        layers = [layer for layer in encoder.layers if isinstance(layer, EncoderLayer)]
        stack = _stack(layers, encoder.norm)
        if stack is None or not all(_is_served(layer) for layer in looking):
            return None
        joined = [layer.cross.joined_memory() for layer in looking]
        memories = tuple((Panels.of(one.weight), one.bias) for one in joined)
        weights = ReaderWeights(stack, memories)
        return cls(weights, encoder) if weights.can_run else None

    def read(
        self, source: Int[Tensor, "B S"], padding: int
    ) -> tuple[tuple[Store, ...], Int[Tensor, "B S"]] | None:
        """Keys and values of every real word for each layer, and which of them are whose.

        ``None`` where the kernel cannot serve these tables.
        """
        words = self._embedding.words_for(source.shape[1])
        if not words.can_run:
            return None
        ids = source.numpy()  # which gives the interpreter to no other thread meanwhile
        is_real = ids != padding
        starts = np.zeros(len(ids) + 1, dtype=np.int32)
        np.cumsum(is_real.sum(1), out=starts[1:])
        places = np.where(is_real, np.cumsum(is_real).reshape(ids.shape) - 1, -1)
        rows = read_sentences(self._weights, words, torch.from_numpy(ids[is_real]), starts)
        return tuple(map(Store.of, rows)), torch.from_numpy(places.astype(np.int32))


def _stack(
    layers: Sequence[DecoderLayer | EncoderLayer], final: nn.Module, output: nn.Linear | None = None
) -> StackWeights | None:
    """All of a stack as the kernels read it; ``None`` where they cannot serve it."""
    if not layers or not all(_is_served(layer) for layer in layers):
        return None
    if output is not None and native(output.weight) is None:
        return None
    first = layers[0].around_attention
    # Most have no bias, whatever torch says of its linear layers.
    bias: Tensor | None = None if output is None else output.bias
    weights = StackWeights(
        layers=tuple(_weights(layer) for layer in layers),
        norm=(final.weight, final.bias) if isinstance(final, nn.LayerNorm) else None,
        output=None if output is None else Panels.of(output.weight),
        bias=None if bias is None else bias.detach(),
        heads=tuple(_n_heads(layer) for layer in layers),
        d_head=layers[0].attention.d_head,
        is_pre_norm=first.is_pre_norm,
        activation=layers[0].feedforward.activation.__name__,
        epsilon=first.norm.eps,
    )
    return weights if weights.can_run else None


def _is_served(layer: DecoderLayer | EncoderLayer) -> bool:
    is_standard = layer.attention.is_standard and native(*layer.parameters()) is not None
    return is_standard and (isinstance(layer, EncoderLayer) or layer.cross.is_standard)


def _n_heads(layer: DecoderLayer | EncoderLayer) -> tuple[int, int]:
    looking = layer.cross.n_heads if isinstance(layer, DecoderLayer) else 0
    return layer.attention.n_heads, looking


def _weights(layer: DecoderLayer | EncoderLayer) -> tuple[Part, ...]:
    """In the order of the kernel's struct."""
    attention, feedforward = layer.attention, layer.feedforward
    joined = attention.joined()
    return (
        *_norm(layer.around_attention.norm),
        *(Panels.of(joined.weight), joined.bias),
        *_linear(attention.output),
        *(_looking(layer) if isinstance(layer, DecoderLayer) else 6 * (None,)),
        *_norm(layer.around_feedforward.norm),
        *_linear(feedforward.widen),
        *_linear(feedforward.narrow),
    )


def _looking(layer: DecoderLayer) -> tuple[Part, ...]:
    cross = layer.cross
    return *_norm(layer.around_cross.norm), *_linear(cross.query), *_linear(cross.output)


def _norm(norm: nn.LayerNorm) -> tuple[Tensor, Tensor]:
    return norm.weight.detach(), norm.bias.detach()


def _linear(linear: nn.Linear) -> tuple[Panels, Tensor]:
    return Panels.of(linear.weight), linear.bias.detach()
