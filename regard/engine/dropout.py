"""Dropout whose masks are drawn sixteen bits an element: torch's own is slow on a CPU."""

from typing import Any

import torch
from torch import autograd, nn
from torch.nn import functional as F

from regard.engine.native import count, native, pointer
from regard.engine.noise import as_arguments, draw_key, keep_mask
from regard.shapes import Float, Tensor


class Dropout(nn.Module):
    """Zeroes elements with probability p while training, and scales up the rest."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, value: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Drop, while training."""
        return dropout(value, self.p) if self.training else value

    @property
    def active_p(self) -> float:
        """The probability now: 0 when not training."""
        return self.p if self.training else 0.0

    def extra_repr(self) -> str:
        """How it is printed."""
        return f"p={self.p}"


def dropout(value: Float[Tensor, "*shape"], p: float) -> Float[Tensor, "*shape"]:
    """``value · mask / (1 - p)``, where each element of the mask is 0 with probability p."""
    if p == 0.0:
        return value
    if value.device.type != "cpu":
        return F.dropout(value, p)
    dropped: Tensor = _Dropout.apply(value, p, draw_key())  # type: ignore[no-untyped-call]
    return dropped


class _Dropout(autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Tensor, p: float, key: int) -> Tensor:
        ctx.p, ctx.key, ctx.lib = p, key, native(value)
        if ctx.lib is not None:
            return _multiply(ctx, value)
        mask, ctx.scale = keep_mask(value.shape, p, key)
        ctx.save_for_backward(mask)
        return torch.mul(value, mask).mul_(ctx.scale)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        if ctx.lib is not None:
            return _multiply(ctx, grad), None, None
        (mask,) = ctx.saved_tensors
        return torch.mul(grad, mask).mul_(ctx.scale), None, None


def _multiply(ctx: Any, value: Tensor) -> Tensor:
    """No mask is kept: the same key gives the same noise again."""
    value = value.contiguous()
    dropped = torch.empty_like(value)
    width = value.shape[-1] if value.dim() else 1
    rows = value.numel() // max(1, width)
    ctx.lib.k_dropout(
        count(rows),
        count(width),
        pointer(value),
        *as_arguments(ctx.key, ctx.p),
        pointer(dropped),
    )
    return dropped
