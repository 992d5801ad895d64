"""Dropout whose masks are drawn sixteen bits an element: torch's own is slow on a CPU."""

from typing import Any

import torch
from torch import autograd, nn

from regard.engine.native import count, pointer
from regard.engine.noise import as_arguments, draw_key
from regard.engine.operation import kernels
from regard.shapes import Float, Tensor


class Dropout(nn.Dropout):
    """Zeroes elements with probability p while training, and scales up the rest."""

    def forward(self, value: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Drop, while training."""
        return dropout(value, self.p) if self.training else value


def dropout(value: Float[Tensor, "*shape"], p: float) -> Float[Tensor, "*shape"]:
    """``value · mask / (1 - p)``, where each element of the mask is 0 with probability p."""
    if p == 0.0:
        return value
    dropped: Tensor = _Dropout.apply(value, p, draw_key())  # type: ignore[no-untyped-call]
    return dropped


class _Dropout(autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Tensor, p: float, key: int) -> Tensor:
        ctx.p, ctx.key, ctx.lib = p, key, kernels(value)
        return _multiply(ctx, value)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return _multiply(ctx, grad), None, None


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
