"""Add & norm as one operation."""

import ctypes
from typing import Any

import torch
from torch import autograd

from regard.engine.native import count, pointer
from regard.engine.noise import as_arguments, draw_key
from regard.engine.operation import kernels, run
from regard.errors import SizeError
from regard.shapes import Float, Tensor


def add_norm(
    value: Float[Tensor, "N D"],
    change: Float[Tensor, "N D"] | None,
    weight: Float[Tensor, "D"],
    bias: Float[Tensor, "D"],
    *,
    p: float = 0.0,
    epsilon: float = 1e-5,
) -> tuple[Float[Tensor, "N D"], Float[Tensor, "N D"]]:
    """``sum = value + dropout(change)`` and ``layer_norm(sum)``; without a change, sum is value."""
    fits = value.dim() == 2 and weight.shape == bias.shape == value.shape[1:]
    if not fits or (change is not None and change.shape != value.shape):
        others = [one for one in (change, weight, bias) if one is not None]
        given = ", ".join(str([*one.shape]) for one in (value, *others))
        raise SizeError(
            f"value, change, weight and bias of shapes {given} do not fit together: they are "
            "(N, D), (N, D) or none, (D) and (D)"
        )
    if change is None:
        p = 0.0
    key = draw_key() if p else 0
    total, normed = run(
        _AddNorm,
        value,
        change,
        weight,
        bias,
        epsilon,
        p,
        key,
    )
    return total, normed


class _AddNorm(autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        value: Tensor,
        change: Tensor | None,
        weight: Tensor,
        bias: Tensor,
        epsilon: float,
        p: float,
        key: int,
    ) -> tuple[Tensor, Tensor]:
        ctx.set_materialize_grads(False)
        n, d = value.shape
        ctx.has_change, ctx.p, ctx.key = change is not None, p, key
        value, weight, bias = value.contiguous(), weight.contiguous(), bias.contiguous()
        ctx.lib = kernels(value, weight, bias)
        change = None if change is None else change.contiguous()
        total = value if change is None else torch.empty_like(value)
        normed, mean, rstd = torch.empty_like(value), value.new_empty(n), value.new_empty(n)
        ctx.lib.k_add_norm(
            count(n),
            count(d),
            pointer(value),
            pointer(change),
            pointer(weight),
            pointer(bias),
            ctypes.c_double(epsilon),
            *as_arguments(key, p),
            pointer(total),
            pointer(normed),
            pointer(mean),
            pointer(rstd),
        )
        ctx.save_for_backward(total, weight, mean, rstd)
        return (total.view_as(total) if change is None else total), normed

    @staticmethod
    def backward(ctx: Any, grad_total: Tensor | None, grad_normed: Tensor | None) -> Any:
        total, weight, mean, rstd = ctx.saved_tensors
        n, d = total.shape
        if grad_normed is None:
            grad_normed = torch.zeros_like(total)
        grad = torch.empty_like(total)
        grad_change = torch.empty_like(total) if ctx.has_change else None
        sums = total.new_empty(2, d)
        ctx.lib.k_add_norm_back(
            count(n),
            count(d),
            pointer(grad_normed.contiguous()),
            pointer(None if grad_total is None else grad_total.contiguous()),
            pointer(total),
            pointer(weight),
            pointer(mean),
            pointer(rstd),
            *as_arguments(ctx.key, ctx.p),
            pointer(grad),
            pointer(grad_change),
            pointer(sums[0]),
            pointer(sums[1]),
            pointer(None),
        )
        return grad, grad_change, sums[0], sums[1], None, None, None
