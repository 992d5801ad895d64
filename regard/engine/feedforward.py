"""The middle of the feed-forward network: bias, ReLU or GELU, and dropout in one pass."""

import ctypes
from typing import Any

import torch
from torch import autograd

from regard.engine.native import count, pointer
from regard.engine.noise import as_arguments, draw_key
from regard.engine.operation import Forgetful, kernels, run
from regard.errors import SizeError
from regard.shapes import Float, Tensor


def bias_relu_dropout(
    inner: Float[Tensor, "N F"], bias: Float[Tensor, "F"], p: float
) -> Float[Tensor, "N F"]:
    """``dropout(max(0, inner + bias))``, written over ``inner``.

    ``inner`` must be the fresh result of a product that nobody else reads.
    """
    _require_fit(inner, bias)
    bias = bias.contiguous()
    key = draw_key() if p else 0
    result: Tensor = run(_BiasReluDropout, inner, bias, p, key)
    return result


class _BiasReluDropout(autograd.Function):
    @staticmethod
    def forward(ctx: Any, inner: Tensor, bias: Tensor, p: float, key: int) -> Tensor:
        n, d = inner.shape
        ctx.lib, ctx.p = kernels(inner, bias), p
        ctx.lib.k_bias_relu(
            count(n), count(d), pointer(inner), pointer(bias), *as_arguments(key, p)
        )
        ctx.mark_dirty(inner)
        ctx.save_for_backward(inner)  # what is above zero was kept: no mask is needed
        return inner

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None, None]:
        (result,) = ctx.saved_tensors
        n, d = result.shape
        grad_inner, grad_bias = torch.empty_like(result), result.new_empty(d)
        ctx.lib.k_bias_relu_back(
            count(n),
            count(d),
            pointer(grad.contiguous()),
            pointer(result),
            ctypes.c_double(ctx.p),
            pointer(grad_inner),
            pointer(grad_bias),
        )
        return grad_inner, grad_bias, None, None


def bias_gelu_dropout(
    inner: Float[Tensor, "N F"], bias: Float[Tensor, "F"], p: float
) -> Float[Tensor, "N F"]:
    """``dropout(gelu(inner + bias))``, with ``gelu(z) = z Φ(z)`` exactly (Hendrycks 2016).

    ``inner`` must be the fresh result of a product that nobody else reads: it is written over.
    """
    _require_fit(inner, bias)
    bias = bias.contiguous()
    key = draw_key() if p else 0
    result: Tensor = run(_BiasGeluDropout, inner, bias, p, key)
    return result


class _BiasGeluDropout(autograd.Function):
    @staticmethod
    def forward(ctx: Any, inner: Tensor, bias: Tensor, p: float, key: int) -> Tensor:
        n, d = inner.shape
        ctx.lib = kernels(inner, bias)
        learns = not isinstance(ctx, Forgetful)
        result = torch.empty_like(inner)
        ctx.lib.k_bias_gelu(
            count(n),
            count(d),
            pointer(inner),
            pointer(bias),
            *as_arguments(key, p),
            ctypes.c_int(learns),
            pointer(result),
        )
        ctx.save_for_backward(inner)  # which is its own slope now
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None, None]:
        (slope,) = ctx.saved_tensors
        n, d = slope.shape
        grad_inner, grad_bias = torch.empty_like(slope), slope.new_empty(d)
        ctx.lib.k_bias_gelu_back(
            count(n),
            count(d),
            pointer(grad.contiguous()),
            pointer(slope),
            pointer(grad_inner),
            pointer(grad_bias),
        )
        return grad_inner, grad_bias, None, None


def _require_fit(inner: Tensor, bias: Tensor) -> None:
    if not inner.is_contiguous() or inner.dim() != 2 or bias.shape != inner.shape[1:]:
        raise SizeError(
            f"inner and bias of shapes {[*inner.shape]} and {[*bias.shape]} do not fit together: "
            "they are (N, F), row after row, and (F)"
        )
