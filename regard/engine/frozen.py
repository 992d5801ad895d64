"""The weights of a model that will not change any more, as the kernels read them: a copy.

Matrices are laid out anew for the kernels' own products; tables of words are the model's.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import nn

from regard.engine.decoder_step import Part, StackWeights
from regard.engine.native import native
from regard.engine.panels import Panels, Precision
from regard.engine.reading import ReaderWeights
from regard.models.transformer import DecoderLayer, Encoder, EncoderLayer
from regard.shapes import Tensor

Lay = Callable[[Tensor], Panels]


def reader_weights(
    encoder: Encoder, looking: Sequence[DecoderLayer], precision: Precision = "float32"
) -> ReaderWeights | None:
    """An encoder with what a decoder looks at; ``None`` where the kernels cannot serve it."""
    layers = [layer for layer in encoder.layers if isinstance(layer, EncoderLayer)]
    stack = stack_weights(layers, encoder.norm, precision=precision)
    if stack is None or not all(_is_served(layer) for layer in looking):
        return None
    lay = partial(Panels.of, precision=precision)
    memories = tuple(_linear(lay, layer.cross.key, layer.cross.value) for layer in looking)
    weights = ReaderWeights(stack, memories)
    return weights if weights.can_run else None


def stack_weights(
    layers: Sequence[DecoderLayer | EncoderLayer],
    final: nn.Module,
    output: nn.Linear | None = None,
    precision: Precision = "float32",
) -> StackWeights | None:
    """All of a stack as the kernels read it; ``None`` where they cannot serve it."""
    if not layers or not all(_is_served(layer) for layer in layers):
        return None
    if output is not None and native(output.weight) is None:
        return None
    first, lay = layers[0].around_attention, partial(Panels.of, precision=precision)
    # Most have no bias, whatever torch says of its linear layers.
    bias: Tensor | None = None if output is None else output.bias
    weights = StackWeights(
        layers=tuple(_weights(layer, lay) for layer in layers),
        norm=(final.weight, final.bias) if isinstance(final, nn.LayerNorm) else None,
        output=None if output is None else lay(output.weight),
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


def _weights(layer: DecoderLayer | EncoderLayer, lay: Lay) -> tuple[Part, ...]:
    """In the order of the kernel's struct."""
    attention, feedforward = layer.attention, layer.feedforward
    return (
        *_norm(layer.around_attention.norm),
        *_linear(lay, attention.query, attention.key, attention.value),
        *_linear(lay, attention.output),
        *(_looking(layer, lay) if isinstance(layer, DecoderLayer) else 6 * (None,)),
        *_norm(layer.around_feedforward.norm),
        *_linear(lay, feedforward.widen),
        *_linear(lay, feedforward.narrow),
    )


def _looking(layer: DecoderLayer, lay: Lay) -> tuple[Part, ...]:
    norm, cross = _norm(layer.around_cross.norm), layer.cross
    return *norm, *_linear(lay, cross.query), *_linear(lay, cross.output)


def _norm(norm: nn.LayerNorm) -> tuple[Tensor, Tensor]:
    return norm.weight.detach(), norm.bias.detach()


def _linear(lay: Lay, *parts: nn.Linear) -> tuple[Panels, Tensor]:
    """Several projections of one vector as one."""
    weight = torch.cat([part.weight.detach() for part in parts])
    return lay(weight), torch.cat([part.bias.detach() for part in parts])
