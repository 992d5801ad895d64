"""The middle of the feed-forward network: bias, ReLU or GELU, and dropout in one pass."""

import ctypes
from typing import Any

import torch
from torch import autograd
from torch.nn import functional as F

from regard.engine.native import count, native, pointer
from regard.engine.noise import as_arguments, draw_key, keep_mask
from regard.engine.operation import Forgetful, run
from regard.errors import SizeError
from regard.shapes import Float, Tensor


def bias_relu_dropout(
    inner: Float[Tensor, "N F"], bias: Float[Tensor, "F"], p: float
) -> Float[Tensor, "N F"]:
    """``dropout(max(0, inner + bias))``, written over ``inner``.

    ``inner`` must be the fresh result of a product that nobody else reads.
    """
    _require_fit(inner, bias)
    key = draw_key() if p else 0
    result: Tensor = run(_BiasReluDropout, inner, bias, p, key)
    return result


class _BiasReluDropout(autograd.Function):
    @staticmethod
    def forward(ctx: Any, inner: Tensor, bias: Tensor, p: float, key: int) -> Tensor:
        ctx.lib, ctx.p, ctx.scale = _native(inner, bias), p, 1.0
        if ctx.lib is not None:
            n, d = inner.shape
            ctx.lib.k_bias_relu(
                count(n), count(d), pointer(inner), pointer(bias), *as_arguments(key, p)
            )
        else:
            inner.add_(bias).relu_()
            if p:
                mask, ctx.scale = keep_mask(inner.shape, p, key)
                inner.mul_(mask).mul_(ctx.scale)
        ctx.mark_dirty(inner)
        ctx.save_for_backward(inner)  # what is above zero was kept: no mask is needed
        return inner

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None, None]:
        (result,) = ctx.saved_tensors
        if ctx.lib is not None:
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
        grad_inner = torch.ops.aten.threshold_backward(grad, result, 0)
        if ctx.scale != 1.0:
            grad_inner = grad_inner * ctx.scale
        return grad_inner, grad_inner.sum(0), None, None


def bias_gelu_dropout(
    inner: Float[Tensor, "N F"], bias: Float[Tensor, "F"], p: float
) -> Float[Tensor, "N F"]:
    """``dropout(gelu(inner + bias))``, with ``gelu(z) = z Φ(z)`` exactly (Hendrycks 2016).

    ``inner`` must be the fresh result of a product that nobody else reads: it is written over.
    """
    _require_fit(inner, bias)
    key = draw_key() if p else 0
    result: Tensor = run(_BiasGeluDropout, inner, bias, p, key)
    return result


class _BiasGeluDropout(autograd.Function):
    @staticmethod
    def forward(ctx: Any, inner: Tensor, bias: Tensor, p: float, key: int) -> Tensor:
        ctx.lib, ctx.scale = _native(inner, bias), 1.0
        learns = not isinstance(ctx, Forgetful)
        if ctx.lib is not None:
            n, d = inner.shape
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
            ctx.save_for_backward(inner, None)  # which is its own slope now
            return result
        value, mask = inner + bias, None
        result = F.gelu(value)
        if p:
            mask, ctx.scale = keep_mask(inner.shape, p, key)
            result = result.mul_(mask).mul_(ctx.scale)
        ctx.save_for_backward(value, mask)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None, None]:
        kept, mask = ctx.saved_tensors
        if ctx.lib is not None:
            n, d = kept.shape
            grad_inner, grad_bias = torch.empty_like(kept), kept.new_empty(d)
            ctx.lib.k_bias_gelu_back(
                count(n),
                count(d),
                pointer(grad.contiguous()),
                pointer(kept),
                pointer(grad_inner),
                pointer(grad_bias),
            )
            return grad_inner, grad_bias, None, None
        if mask is not None:
            grad = torch.mul(grad, mask).mul_(ctx.scale)
        grad_inner = torch.ops.aten.gelu_backward(grad, kept)
        return grad_inner, grad_inner.sum(0), None, None


def _native(inner: Tensor, bias: Tensor) -> ctypes.CDLL | None:
    """The kernels, if both lie as they read them."""
    return native(inner, bias) if inner.is_contiguous() and bias.is_contiguous() else None


def _require_fit(inner: Tensor, bias: Tensor) -> None:
    if inner.dim() != 2 or bias.shape != inner.shape[1:]:
        raise SizeError(
            f"inner and bias of shapes {[*inner.shape]} and {[*bias.shape]} do not fit together: "
            "they are (N, F) and (F)"
        )
