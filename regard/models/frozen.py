"""Layers of a decoder whose weights will not change, for the kernel that runs them in one call.

Nothing is copied that lies as the kernel reads it, which is what ``laid_out`` is for.
"""

from collections.abc import Sequence

from torch import nn

from regard.attention import Store
from regard.kernels.decoder_step import DecoderWeights, decoder_step
from regard.models.decoder import DecoderLayer
from regard.models.encoder import EncoderLayer
from regard.shapes import Float, Int, Tensor


class FrozenStack:
    """The same numbers as the layers step by step and the output after them, far sooner."""

    def __init__(self, weights: DecoderWeights, bias: Float[Tensor, "V"] | None) -> None:
        self.weights, self.bias = weights, bias

    @classmethod
    def of(
        cls, layers: Sequence[DecoderLayer | EncoderLayer], final: nn.Module, output: nn.Linear
    ) -> "FrozenStack | None":
        """The frozen form of a decoder's layers; ``None`` where the kernel cannot serve it."""
        if not all(_is_served(layer) for layer in layers):
            return None
        first = layers[0].around_attention
        weights = DecoderWeights(
            layers=tuple(_weights(layer) for layer in layers),
            norm=(final.weight, final.bias) if isinstance(final, nn.LayerNorm) else None,
            output=output.weight.detach().t().contiguous(),
            n_heads=layers[0].attention.n_heads,
            is_pre_norm=first.is_pre_norm,
            activation=layers[0].feedforward.activation.__name__,
            epsilon=first.norm.eps,
        )
        # Most have no bias, whatever torch says of its linear layers.
        bias = None if output.bias is None else output.bias.detach()  # type: ignore[redundant-expr]
        return cls(weights, bias) if weights.can_run else None

    def step(
        self,
        embedded: Float[Tensor, "R D"],
        written: Sequence[Store],
        places: Int[Tensor, "R T"],
        memory: Sequence[Store] = (),
        memory_places: Int[Tensor, "R S"] | None = None,
    ) -> tuple[Float[Tensor, "R V"], tuple[Store, ...]]:
        """Take one more word a row: the logits of the next, and the longer stores.

        ``places`` has the new words' places already; ``embedded`` is written over.
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
        if self.bias is not None:
            logits += self.bias
        return logits, stores


def _is_served(layer: DecoderLayer | EncoderLayer) -> bool:
    is_standard = layer.attention.is_standard
    return is_standard and (isinstance(layer, EncoderLayer) or layer.cross.is_standard)


def _weights(layer: DecoderLayer | EncoderLayer) -> tuple[Tensor | None, ...]:
    """In the order of the kernel's struct."""
    attention, feedforward = layer.attention, layer.feedforward
    joined = attention.joined()
    return (
        *_norm(layer.around_attention.norm),
        *(joined.weight.t().contiguous(), joined.bias),
        *_linear(attention.output),
        *(_looking(layer) if isinstance(layer, DecoderLayer) else 6 * (None,)),
        *_norm(layer.around_feedforward.norm),
        *_linear(feedforward.widen),
        *_linear(feedforward.narrow),
    )


def _looking(layer: DecoderLayer) -> tuple[Tensor, ...]:
    cross = layer.cross
    return *_norm(layer.around_cross.norm), *_linear(cross.query), *_linear(cross.output)


def _norm(norm: nn.LayerNorm) -> tuple[Tensor, Tensor]:
    return norm.weight.detach(), norm.bias.detach()


def _linear(linear: nn.Linear) -> tuple[Tensor, Tensor]:
    return linear.weight.detach().t().contiguous(), linear.bias.detach()
