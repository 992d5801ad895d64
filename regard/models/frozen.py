"""A decoder whose weights will not change, for the kernel that runs it in one call.

Nothing is copied that lies as the kernel reads it, which is what ``laid_out`` is for.
"""

from dataclasses import replace

from torch import nn
from torch.nn import functional as F

from regard.attention import MultiHeadAttention
from regard.kernels.decoder_step import DecoderWeights, decoder_step
from regard.models.decoder import Decoder, DecoderLayer, DecoderState
from regard.models.packing import Packed
from regard.shapes import Float, Int, Tensor


class FrozenDecoder:
    """The same numbers as ``Decoder.step`` and the output after it, several times as soon."""

    def __init__(
        self, decoder: Decoder, weights: DecoderWeights, bias: Float[Tensor, "V"] | None
    ) -> None:
        self.decoder, self.weights, self.bias = decoder, weights, bias

    @classmethod
    def of(cls, decoder: Decoder, output: nn.Linear) -> "FrozenDecoder | None":
        """The frozen form of a decoder; ``None`` where the kernel cannot serve it."""
        layers = [layer for layer in decoder.layers if isinstance(layer, DecoderLayer)]
        if not all(_is_served(layer) for layer in layers):
            return None
        final, first = decoder.norm, layers[0].around_attention
        weights = DecoderWeights(
            layers=tuple(_weights(layer) for layer in layers),
            norm=(final.weight, final.bias) if isinstance(final, nn.LayerNorm) else None,
            output=output.weight.detach().t().contiguous(),
            n_heads=layers[0].attention.n_heads,
            is_pre_norm=first.is_pre_norm,
            epsilon=first.norm.eps,
        )
        # Most have no bias, whatever torch says of its linear layers.
        bias = None if output.bias is None else output.bias.detach()  # type: ignore[redundant-expr]
        return cls(decoder, weights, bias) if weights.can_run else None

    def step(
        self, state: DecoderState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R V"], DecoderState]:
        """Take one more token a row, and give the logits of the next."""
        column = Packed.column(tokens, state.places.shape[1])
        embedded = self.decoder.embedding.packed(column).contiguous()
        first = state.written[0].length
        grown = state.with_new_places()
        stores = tuple(store.with_room(len(tokens)) for store in state.written)
        logits = decoder_step(
            self.weights,
            embedded,
            [store.memory for store in stores],
            first,
            grown.places,
            [store.memory for store in state.memory],
            state.memory_places,
        )
        if self.bias is not None:
            logits += self.bias
        return logits, replace(grown, written=stores)


def _is_served(layer: DecoderLayer) -> bool:
    attentions: tuple[MultiHeadAttention, ...] = (layer.attention, layer.cross)
    return all(one.is_standard for one in attentions) and layer.feedforward.activation is F.relu


def _weights(layer: DecoderLayer) -> tuple[Tensor, ...]:
    """In the order of the kernel's struct."""
    attention, cross, feedforward = layer.attention, layer.cross, layer.feedforward
    joined = attention.joined()
    return (
        *_norm(layer.around_attention.norm),
        *(joined.weight.t().contiguous(), joined.bias),
        *_linear(attention.output),
        *_norm(layer.around_cross.norm),
        *_linear(cross.query),
        *_linear(cross.output),
        *_norm(layer.around_feedforward.norm),
        *_linear(feedforward.widen),
        *_linear(feedforward.narrow),
    )


def _norm(norm: nn.LayerNorm) -> tuple[Tensor, Tensor]:
    return norm.weight.detach(), norm.bias.detach()


def _linear(linear: nn.Linear) -> tuple[Tensor, Tensor]:
    return linear.weight.detach().t().contiguous(), linear.bias.detach()
