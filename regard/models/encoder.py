"""The encoder of "Attention Is All You Need": every word gathers from all words of its sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from torch import nn

from regard.attention import MultiHeadAttention
from regard.engine import Dropout, EndNorm, LayerOptions, Spans, encoder_layers
from regard.models.packing import Packed
from regard.models.sublayers import Embedding, FeedForward, Residual, Stream
from regard.shapes import Bool, Float, Int, Tensor


@dataclass(frozen=True)
class Sizes:
    """The numbers that the layers of one Transformer share."""

    d_model: int
    n_heads: int
    d_feedforward: int
    is_pre_norm: bool = False
    activation: str = "relu"
    dropout: float = 0.1
    attention_dropout: float = 0.1
    feedforward_dropout: float = 0.1
    embedding_dropout: float = 0.1
    norm_epsilon: float = 1e-5  # added to the variance, so that nothing is divided by zero

    def attention(self) -> MultiHeadAttention:
        """Build a multi-head attention of these sizes."""
        return MultiHeadAttention(self.d_model, self.n_heads, dropout=self.attention_dropout)

    def feedforward(self) -> FeedForward:
        """Build a feed-forward network of these sizes."""
        return FeedForward(
            self.d_model, self.d_feedforward, self.activation, self.feedforward_dropout
        )

    def residual(self) -> Residual:
        """Build an add & norm of these sizes."""
        return Residual(
            self.d_model,
            self.dropout,
            is_pre_norm=self.is_pre_norm,
            norm_epsilon=self.norm_epsilon,
        )

    def norm(self) -> nn.LayerNorm:
        """Build a norm of these sizes."""
        return nn.LayerNorm(self.d_model, self.norm_epsilon)

    def final_norm(self) -> nn.Module:
        """Pre-norm leaves the last sum without a norm, so a stack ends with one."""
        return self.norm() if self.is_pre_norm else nn.Identity()


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each with add & norm."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.attention, self.around_attention = sizes.attention(), sizes.residual()
        self.feedforward, self.around_feedforward = sizes.feedforward(), sizes.residual()

    def forward(
        self, value: Float[Tensor, "B S D"], mask: Bool[Tensor, "#B 1 #S S"]
    ) -> Float[Tensor, "B S D"]:
        """Let each word gather from all words it may see, then think by itself."""
        value = self.around_attention(value, lambda x: self.attention(x, x, x, mask))
        result: Tensor = self.around_feedforward(value, self.feedforward)
        return result

    def packed(self, stream: Stream, spans: Spans) -> Stream:
        """The layer over packed rows."""
        return at_once([self], stream, spans) or self._composed(stream, spans)

    def _composed(self, stream: Stream, spans: Spans) -> Stream:
        stream = self.around_attention.packed(
            stream, lambda x: self.attention.packed(x, None, spans)
        )
        return self.around_feedforward.packed(stream, self.feedforward.packed)

    @property
    def options(self) -> LayerOptions:
        """How the layer computes, for the kernel that does all of it at once."""
        parts = self._parts
        attention, first, inner, second = (part.active_p for part in parts.dropouts)
        return LayerOptions(
            n_heads=parts.attention.n_heads,
            is_pre_norm=parts.first.is_pre_norm,
            activation=parts.feedforward.activation.__name__,
            epsilon=parts.norm.eps,
            p_attention=attention,
            p_first=first,
            p_inner=inner,
            p_second=second,
        )

    def listed_parameters(self) -> list[Tensor]:
        """Weight and bias of each of its parts, in the order the kernel takes them."""
        named = [part._parameters for part in self._parts.learned]
        listed = [one[name] for one in named for name in ("weight", "bias")]
        return [one for one in listed if one is not None]

    @cached_property
    def _parts(self) -> "_Parts":
        """Looked up once: torch finds a module's parts slowly, and they are needed every update."""
        attention, feedforward = self.attention, self.feedforward
        first, second = self.around_attention, self.around_feedforward
        return _Parts(
            attention,
            first,
            first.norm,
            feedforward,
            (attention.dropout, first.dropout, feedforward.dropout, second.dropout),
            (
                *(first.norm, attention.query, attention.key, attention.value, attention.output),
                *(second.norm, feedforward.widen, feedforward.narrow),
            ),
        )


class _Parts(NamedTuple):
    """What a layer is put together of."""

    attention: MultiHeadAttention
    first: Residual
    norm: nn.LayerNorm
    feedforward: FeedForward
    dropouts: tuple[Dropout, ...]
    learned: tuple[nn.LayerNorm | nn.Linear, ...]  # in the order the kernel takes them


def at_once(
    layers: Sequence[EncoderLayer], stream: Stream, spans: Spans, norm: nn.Module | None = None
) -> Stream | None:
    """All these layers in one call, and the norm; ``None`` where the kernel does not serve them."""
    options = [layer.options for layer in layers]
    parameters = [layer.listed_parameters() for layer in layers]
    are_served = all(o.serves(p) for o, p in zip(options, parameters, strict=True))
    are_served = are_served and all(layer.attention.is_fused for layer in layers)
    if stream.change is not None or not layers or not are_served:
        return None
    end = EndNorm(norm.weight, norm.bias, norm.eps) if isinstance(norm, nn.LayerNorm) else None
    return Stream(encoder_layers(stream.value, spans, options, parameters, end))


class Encoder(nn.Module):
    """A stack of encoder layers over embedded words."""

    def __init__(
        self,
        embedding: Embedding,
        n_layers: int,
        sizes: Sizes,
        *,
        layer: type[EncoderLayer] = EncoderLayer,
    ) -> None:
        super().__init__()
        self.embedding = embedding
        self.layers = nn.ModuleList(layer(sizes) for _ in range(n_layers))
        self.norm = sizes.final_norm()

    def forward(
        self, source: Int[Tensor, "B S"], mask: Bool[Tensor, "#B 1 #S S"]
    ) -> Float[Tensor, "B S D"]:
        """Turn ids into vectors that know their context."""
        return self.through(self.embedding(source), mask)

    def through(
        self, value: Float[Tensor, "B S D"], mask: Bool[Tensor, "#B 1 #S S"]
    ) -> Float[Tensor, "B S D"]:
        """The layers alone, over words that are embedded."""
        for layer in self.layers:
            value = layer(value, mask)
        normed: Tensor = self.norm(value)
        return normed

    def packed(self, source: Packed) -> Float[Tensor, "M D"]:
        """The encoder over packed rows."""
        return self.through_packed(self.embedding.packed(source), source.among_themselves)

    def through_packed(self, value: Float[Tensor, "M D"], spans: Spans) -> Float[Tensor, "M D"]:
        """The layers alone, over packed rows that are embedded."""
        layers = [layer for layer in self.layers if isinstance(layer, EncoderLayer)]
        stream = Stream(value)
        if (finished := at_once(layers, stream, spans, self.norm)) is not None:
            return finished.value
        for layer in layers:
            stream = layer.packed(stream, spans)
        return stream.finished(self.norm)
