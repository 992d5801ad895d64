"""Layers over packed rows: the real words of a batch end to end, without padding.

Each function walks the modules of a model, with the numbers of its ``forward``; noise is drawn
otherwise (:mod:`regard.engine.noise`). A layer that is taught where to look computes its attention
in the open, on a padded copy.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

from regard.attention import MultiHeadAttention
from regard.engine.attention import Spans, attend_packed
from regard.engine.dropout import dropout
from regard.engine.embedding import embed
from regard.engine.feedforward import bias_gelu_dropout, bias_relu_dropout
from regard.engine.layer import EndNorm, LayerOptions, encoder_layers
from regard.engine.linear import linear
from regard.engine.norm import add_norm
from regard.engine.packing import Packed
from regard.engine.words import words_of
from regard.models.sublayers import Embedding, FeedForward, Residual
from regard.models.transformer import Decoder, DecoderLayer, Encoder, EncoderLayer
from regard.shapes import Float, Tensor

_FUSED = {F.relu: bias_relu_dropout, F.gelu: bias_gelu_dropout}


def active(noise: nn.Dropout) -> float:
    """The probability of dropout now: 0 when not training."""
    return noise.p if noise.training else 0.0


def embedded(embedding: Embedding, rows: Packed) -> Float[Tensor, "N D"]:
    """The vectors of packed words."""
    p = active(embedding.dropout)
    words = words_of(embedding, rows.layout.longest)
    if words.positions is None:
        return dropout(F.embedding(rows.ids, words.table) * words.scale, p)
    return embed(words.table, rows.ids, words.positions, rows.layout.places, scale=words.scale, p=p)


@dataclass(frozen=True)
class Stream:
    """Packed rows on their way through a stack, and a change that is not added yet.

    The next norm adds it, drops from it and normalises in one pass over the memory.
    """

    value: Float[Tensor, "N D"]
    change: Float[Tensor, "N D"] | None = None
    p: float = 0.0

    def normed(self, norm: nn.LayerNorm) -> tuple[Float[Tensor, "N D"], Float[Tensor, "N D"]]:
        """The sum, and the sum normalised."""
        return add_norm(self.value, self.change, norm.weight, norm.bias, p=self.p, epsilon=norm.eps)

    def around(self, residual: Residual, layer: Callable[[Tensor], Tensor]) -> "Stream":
        """The residual around a layer."""
        p = active(residual.dropout)
        if residual.is_pre_norm:
            total, normed = self.normed(residual.norm)
            return Stream(total, layer(normed), p)
        return Stream(Stream(self.value, layer(self.value), p).normed(residual.norm)[1])

    def finished(self, norm: nn.Module) -> Float[Tensor, "N D"]:
        """What leaves a stack: the last change is added, and the sum normalised if it ends so."""
        if isinstance(norm, nn.LayerNorm):
            return self.normed(norm)[1]
        return self.value if self.change is None else self.value + dropout(self.change, self.p)


def attended(
    attention: MultiHeadAttention,
    query: Float[Tensor, "N D"],
    memory: Float[Tensor, "M D"] | None,
    spans: Spans,
) -> Float[Tensor, "N D"]:
    """Attention of packed rows; without memory it is self-attention."""
    if attention.n_heads and not attention.is_fused:
        return _openly(attention, query, memory, spans)
    if memory is None:
        projected = _projected(query, attention.query, attention.key, attention.value)
        remembered = None
    else:
        projected = _projected(query, attention.query)
        remembered = _projected(memory, attention.key, attention.value)
    p = active(attention.dropout)
    context = attend_packed(projected, remembered, spans, attention.n_heads, p)
    return linear(context, attention.output.weight, attention.output.bias)


def _openly(
    attention: MultiHeadAttention,
    query: Float[Tensor, "N D"],
    memory: Float[Tensor, "M D"] | None,
    spans: Spans,
) -> Float[Tensor, "N D"]:
    """Past the probes, which a head that is taught needs of its layer."""
    padding, n_sentences = spans.padding, len(spans.query_starts) - 1
    queries, keys = (
        rows.index_select(0, layout.packed_row).view(n_sentences, -1, rows.shape[1])
        for rows, layout in (
            (query, padding.query),
            (query if memory is None else memory, padding.key),
        )
    )
    found = attention(queries, keys, keys, padding.allowed)
    return found.flatten(0, 1).index_select(0, padding.query.padded_place)  # type: ignore[no-any-return]


def _projected(value: Float[Tensor, "N D"], *parts: nn.Linear) -> Float[Tensor, "N P"]:
    """Several projections side by side, as one product."""
    if len(parts) == 1:
        return linear(value, parts[0].weight, parts[0].bias)
    weight = torch.cat([part.weight for part in parts])
    return linear(value, weight, torch.cat([part.bias for part in parts]))


def _fed(feedforward: FeedForward, value: Float[Tensor, "N D"]) -> Float[Tensor, "N D"]:
    p, widen, narrow = active(feedforward.dropout), feedforward.widen, feedforward.narrow
    fused = _FUSED.get(feedforward.activation)
    if fused is not None:
        inner = fused(linear(value, widen.weight), widen.bias, p)
    else:
        inner = dropout(feedforward.activation(linear(value, widen.weight, widen.bias)), p)
    return linear(inner, narrow.weight, narrow.bias)


class PackedEncoder:
    """Encoder, or GPT's decoder, over packed rows: all layers in one call where that serves."""

    def __init__(self, encoder: Encoder) -> None:
        self._norm = encoder.norm
        self._layers = [one for one in encoder.layers if isinstance(one, EncoderLayer)]
        # Looked up once: torch finds a module's parts slowly, and they are needed every update.
        self._parts = [Parts.of(layer) for layer in self._layers]

    def __call__(self, value: Float[Tensor, "N D"], spans: Spans) -> Float[Tensor, "N D"]:
        """The layers, over words that are embedded, and the norm."""
        if (finished := self._at_once(value, spans)) is not None:
            return finished
        stream = Stream(value)
        for layer in self._layers:
            stream = _with_self_attention(layer, stream, spans)
            stream = _thought(layer, stream)
        return stream.finished(self._norm)

    def _at_once(self, value: Float[Tensor, "N D"], spans: Spans) -> Float[Tensor, "N D"] | None:
        """All layers in one call; ``None`` where the kernel does not serve them."""
        options = [parts.options for parts in self._parts]
        parameters = [parts.parameters() for parts in self._parts]
        are_served = all(o.serves(p) for o, p in zip(options, parameters, strict=True))
        if not are_served or not all(parts.attention.is_fused for parts in self._parts):
            return None
        norm = self._norm
        end = EndNorm(norm.weight, norm.bias, norm.eps) if isinstance(norm, nn.LayerNorm) else None
        return encoder_layers(value, spans, options, parameters, end)


class PackedDecoder:
    """Decoder over packed rows, and the packed rows of what it looks at."""

    def __init__(self, decoder: Decoder) -> None:
        self._norm = decoder.norm
        self._layers = [one for one in decoder.layers if isinstance(one, DecoderLayer)]

    def __call__(
        self,
        value: Float[Tensor, "N D"],
        spans: Spans,
        memory: Float[Tensor, "M D"],
        memory_spans: Spans,
    ) -> Float[Tensor, "N D"]:
        """The layers, over words that are embedded, and the norm."""
        stream = Stream(value)
        for layer in self._layers:
            stream = _with_self_attention(layer, stream, spans)
            stream = _looked(layer, stream, memory, memory_spans)
            stream = _thought(layer, stream)
        return stream.finished(self._norm)


def _with_self_attention(
    layer: EncoderLayer | DecoderLayer, stream: Stream, spans: Spans
) -> Stream:
    return stream.around(
        layer.around_attention, lambda x: attended(layer.attention, x, None, spans)
    )


def _looked(
    layer: DecoderLayer, stream: Stream, memory: Float[Tensor, "M D"], spans: Spans
) -> Stream:
    return stream.around(layer.around_cross, lambda x: attended(layer.cross, x, memory, spans))


def _thought(layer: EncoderLayer | DecoderLayer, stream: Stream) -> Stream:
    return stream.around(layer.around_feedforward, lambda x: _fed(layer.feedforward, x))


class Parts(NamedTuple):
    """What an encoder's layer is put together of."""

    attention: MultiHeadAttention
    first: Residual
    epsilon: float
    feedforward: FeedForward
    dropouts: tuple[nn.Dropout, ...]
    learned: Sequence[nn.Module]  # in the order the kernel takes them

    @classmethod
    def of(cls, layer: EncoderLayer) -> "Parts":
        """Of a layer."""
        attention, feedforward = layer.attention, layer.feedforward
        first, second = layer.around_attention, layer.around_feedforward
        return cls(
            attention,
            first,
            first.norm.eps,
            feedforward,
            (attention.dropout, first.dropout, feedforward.dropout, second.dropout),
            (
                *(first.norm, attention.query, attention.key, attention.value, attention.output),
                *(second.norm, feedforward.widen, feedforward.narrow),
            ),
        )

    @property
    def options(self) -> LayerOptions:
        """How the layer computes."""
        of_attention, first, inner, second = map(active, self.dropouts)
        return LayerOptions(
            n_heads=self.attention.n_heads,
            is_pre_norm=self.first.is_pre_norm,
            activation=self.feedforward.activation.__name__,
            epsilon=self.epsilon,
            p_attention=of_attention,
            p_first=first,
            p_inner=inner,
            p_second=second,
        )

    def parameters(self) -> list[Tensor]:
        """Weight and bias of each part."""
        named = [part._parameters for part in self.learned]
        listed = [one[name] for one in named for name in ("weight", "bias")]
        return [one for one in listed if one is not None]
