"""Whole layers of an encoder, or of GPT, in one call forward and one back."""

import ctypes
from collections.abc import Sequence
from ctypes import c_int64
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import autograd

from regard.engine.attention import Spans
from regard.engine.linear import gathers
from regard.engine.native import addresses, native, pointer
from regard.engine.noise import draw_key
from regard.engine.operation import kernels, run
from regard.errors import SizeError
from regard.shapes import Float, Tensor

_LANES = 16
_N_PARAMETERS = 16  # of a layer


@dataclass(frozen=True)
class LayerOptions:
    """What a layer computes with, beside its parameters; p are probabilities of dropout."""

    n_heads: int
    is_pre_norm: bool
    activation: str  # "relu" or "gelu"
    epsilon: float
    p_attention: float = 0.0
    p_first: float = 0.0  # of what attention adds
    p_inner: float = 0.0
    p_second: float = 0.0  # of what the feed-forward network adds

    def serves(self, parameters: Sequence[Tensor]) -> bool:
        """Whether the C++ kernel can compute with these parameters, on this machine."""
        inner, width = parameters[12].shape
        return (
            self.activation in ("relu", "gelu")
            and len(parameters[2]) == width  # all heads are there
            and (width // self.n_heads) % _LANES == 0
            and inner % _LANES == 0
            and all(one.is_contiguous() for one in parameters)
            and native(*parameters) is not None
        )


class EndNorm(NamedTuple):
    """A layer norm after the last layer."""

    weight: Float[Tensor, "D"]
    bias: Float[Tensor, "D"]
    epsilon: float


def encoder_layers(
    value: Float[Tensor, "N D"],
    spans: Spans,
    options: Sequence[LayerOptions],
    parameters: Sequence[Sequence[Float[Tensor, "..."]]],
    norm: EndNorm | None = None,
) -> Float[Tensor, "N D"]:
    """One layer after the other: self-attention, then feed-forward, each with add & norm, packed.

    A layer's parameters are, weight and bias of each: first norm, query, key, value, output of
    attention, second norm, widening, narrowing; all layers have the same sizes. A norm may end
    them. Only where ``options.serves`` them: elsewhere a layer is composed of the other operations,
    which draw the same noise.
    """
    _require_fit(value, spans, options, parameters)
    keys = [
        [draw_key() if p else 0 for p in (o.p_attention, o.p_first, o.p_inner, o.p_second)]
        for o in options
    ]
    flat = [one for of_layer in parameters for one in of_layer]
    if norm is not None:
        flat += (norm.weight, norm.bias)
    is_kept = torch.is_grad_enabled()
    # Where gradients are added as they come, torch need not follow every parameter by itself.
    followed = [] if value.requires_grad and all(map(gathers, flat)) else flat
    result: Tensor = run(
        _EncoderLayers, value, spans, options, keys, norm, is_kept, flat, *followed
    )
    return result


def _require_fit(
    value: Tensor,
    spans: Spans,
    options: Sequence[LayerOptions],
    parameters: Sequence[Sequence[Tensor]],
) -> None:
    """Refuse what the kernel would read beyond its end."""
    width = value.shape[1]
    if not options or len(options) != len(parameters):
        raise SizeError(f"{len(options)} options are given for {len(parameters)} layers")
    inner = len(parameters[0][12]) if len(parameters[0]) == _N_PARAMETERS else 0
    square, row = (width, width), (width,)
    expected = (
        *(row, row, *(square, row) * 4, row, row),
        *((inner, width), (inner,), (width, inner), row),
    )
    for number, of_layer in enumerate(parameters):
        if tuple(tuple(one.shape) for one in of_layer) != expected or width % options[0].n_heads:
            raise SizeError(
                f"the parameters of layer {number} do not fit vectors of {width} numbers in "
                f"{options[0].n_heads} heads: see encoder_layers for their order"
            )
    spans.require_rows(len(value), len(value))


class _Shape(ctypes.Structure):
    """What ``struct Shape`` of layer.cpp holds."""

    _fields_ = (
        *((name, c_int64) for name in ("rows", "sentences", "width", "inner", "heads")),
        *((name, c_int64) for name in ("is_causal", "is_pre_norm", "is_gelu")),
        *((name, ctypes.c_double) for name in ("epsilon", "p_attention", "p_first")),
        *((name, ctypes.c_double) for name in ("p_inner", "p_second")),
        *((f"key_{i}", ctypes.c_uint64) for i in range(4)),
        ("starts", ctypes.c_void_p),
        ("rooms", ctypes.c_void_p),
    )


class _Norm(ctypes.Structure):
    """What ``struct Norm`` of layer.cpp holds."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("gamma", "beta")),
        ("epsilon", ctypes.c_double),
        *((name, ctypes.c_void_p) for name in ("out", "mean", "rstd")),
    )


class _EncoderLayers(autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        value: Tensor,
        spans: Spans,
        options: Sequence[LayerOptions],
        keys: list[list[int]],
        norm: EndNorm | None,
        is_kept: bool,
        parameters: list[Tensor],
        *followed: Tensor,
    ) -> Tensor:
        lib = kernels(value)
        value = value.contiguous()
        rooms, n_probabilities = spans.rooms(options[0].n_heads)
        n_rows, width = value.shape
        n_layers, inner = len(options), parameters[12].shape[0]
        shapes = (_Shape * n_layers)(
            *(
                _Shape(
                    *(n_rows, rooms.shape[0], width, inner, one.n_heads),
                    *(spans.is_causal, one.is_pre_norm, one.activation == "gelu"),
                    *(one.epsilon, one.p_attention, one.p_first, one.p_inner, one.p_second),
                    *of_layer,
                    spans.query_starts.data_ptr(),
                    rooms.data_ptr(),
                )
                for one, of_layer in zip(options, keys, strict=True)
            )
        )
        # What the way back needs is kept of every layer; if none comes, all take the same room.
        n_kept = n_layers if is_kept else 1
        kept = value.new_empty(n_kept, lib.k_layer_room(shapes))
        probabilities = value.new_empty(n_kept, n_probabilities)
        results = value.new_empty(n_layers, n_rows, width)
        strides = (c_int64(kept.shape[1] * is_kept), c_int64(n_probabilities * is_kept))
        result, end, measured = results[-1], _Norm(), None
        if norm is not None:
            result, measured = torch.empty_like(value), value.new_empty(2, n_rows)
            pointed_at = (norm.weight, norm.bias, result, measured, measured[1])
            weight, bias, *others = (one.data_ptr() for one in pointed_at)
            end = _Norm(weight, bias, norm.epsilon, *others)
        lib.k_layers(
            *(c_int64(n_layers), shapes, addresses(parameters), *strides),
            *(pointer(one) for one in (value, kept, probabilities, results)),
            ctypes.byref(end),
        )
        ctx.save_for_backward(value, kept, probabilities, results, *followed)
        ctx.parameters = None if followed else parameters
        ctx.lib, ctx.shapes, ctx.strides, ctx.end = lib, shapes, strides, end
        ctx.pointed_at = (spans, rooms, measured)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        value, kept, probabilities, results, *followed = ctx.saved_tensors
        parameters = followed or ctx.parameters
        gathered = [one.grad if gathers(one) else None for one in parameters]
        gradients = [
            torch.zeros_like(one) if gradient is None else gradient
            for one, gradient in zip(parameters, gathered, strict=True)
        ]
        grad = grad.contiguous()
        grad_value = torch.empty_like(value)
        ctx.lib.k_layers_back(
            *(c_int64(len(ctx.shapes)), ctx.shapes, addresses(parameters), *ctx.strides),
            *(pointer(one) for one in (value, kept, probabilities, results)),
            ctypes.byref(ctx.end),
            *(pointer(one) for one in (grad, grad_value)),
            addresses(gradients),
        )
        own = [
            one if gradient is None else None
            for one, gradient in zip(gradients, gathered, strict=True)
        ]
        if not followed:
            for parameter, new in zip(parameters, own, strict=True):
                if new is not None:  # what gathered was put aside meanwhile
                    parameter.grad = new
        return grad_value, None, None, None, None, None, None, *(own if followed else ())
