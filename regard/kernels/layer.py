"""A whole layer of an encoder, or of GPT, in one call forward and one back."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import autograd

from regard.kernels.attention import Spans
from regard.kernels.linear import gathers
from regard.kernels.native import addresses, native, pointer
from regard.kernels.noise import draw_key
from regard.kernels.operation import run
from regard.shapes import Float, Tensor

_LANES = 16


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
            and (width // self.n_heads) % _LANES == 0
            and inner % _LANES == 0
            and all(one.is_contiguous() for one in parameters)
            and native(*parameters) is not None
        )


def encoder_layer(
    value: Float[Tensor, "N D"],
    spans: Spans,
    options: LayerOptions,
    parameters: Sequence[Float[Tensor, "..."]],
) -> Float[Tensor, "N D"]:
    """Self-attention, then feed-forward, each with add & norm, over packed rows.

    The parameters are, weight and bias of each: first norm, query, key, value, output of attention,
    second norm, widening, narrowing. Only where ``options.serves`` them: elsewhere a layer is
    composed of the other operations, which draw the same noise.
    """
    keys = [
        draw_key() if p else 0
        for p in (options.p_attention, options.p_first, options.p_inner, options.p_second)
    ]
    result: Tensor = run(_EncoderLayer, value, spans, options, keys, *parameters)
    return result


class _Shape(ctypes.Structure):
    """What ``struct Shape`` of layer.cpp holds."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("rows", "sentences", "width", "inner", "heads")),
        *((name, ctypes.c_int64) for name in ("is_causal", "is_pre_norm", "is_gelu")),
        *((name, ctypes.c_double) for name in ("epsilon", "p_attention", "p_first")),
        *((name, ctypes.c_double) for name in ("p_inner", "p_second")),
        *((f"key_{i}", ctypes.c_uint64) for i in range(4)),
        ("starts", ctypes.c_void_p),
        ("rooms", ctypes.c_void_p),
    )


class _EncoderLayer(autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        value: Tensor,
        spans: Spans,
        options: LayerOptions,
        keys: list[int],
        *parameters: Tensor,
    ) -> Tensor:
        lib = native(value)
        assert lib is not None
        value = value.contiguous()
        rooms, n_probabilities = spans.rooms(options.n_heads)
        shape = _Shape(
            *value.shape[:1],
            *(len(rooms), value.shape[1], len(parameters[12]), options.n_heads),
            *(spans.is_causal, options.is_pre_norm, options.activation == "gelu"),
            *(options.epsilon, options.p_attention, options.p_first),
            *(options.p_inner, options.p_second),
            *keys,
            spans.query_starts.data_ptr(),
            rooms.data_ptr(),
        )
        kept = value.new_empty(lib.k_layer_room(ctypes.byref(shape)))
        probabilities = value.new_empty(n_probabilities)
        result = torch.empty_like(value)
        lib.k_layer(
            ctypes.byref(shape),
            addresses(parameters),
            *(pointer(one) for one in (value, kept, probabilities, result)),
        )
        ctx.save_for_backward(value, kept, probabilities, *parameters)
        ctx.lib, ctx.shape, ctx.pointed_at = lib, shape, (spans, rooms)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        value, kept, probabilities, *parameters = ctx.saved_tensors
        are_gathering = [gathers(one) for one in parameters]
        gradients = [
            one.grad if is_gathering else torch.zeros_like(one)
            for one, is_gathering in zip(parameters, are_gathering, strict=True)
        ]
        grad_value = torch.empty_like(value)
        ctx.lib.k_layer_back(
            ctypes.byref(ctx.shape),
            addresses(parameters),
            *(pointer(one) for one in (value, kept, probabilities, grad.contiguous(), grad_value)),
            addresses(gradients),
        )
        returned = (
            None if is_gathering else one
            for one, is_gathering in zip(gradients, are_gathering, strict=True)
        )
        return grad_value, None, None, None, *returned
