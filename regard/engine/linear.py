"""A matrix product whose weight gradient is added where gradients gather, without a copy."""

from typing import Any

import torch
from torch import autograd

from regard.engine.native import count, pointer
from regard.engine.operation import kernels, run
from regard.shapes import Float, Tensor


def linear(
    value: Float[Tensor, "N In"],
    weight: Float[Tensor, "Out In"],
    bias: Float[Tensor, "Out"] | None = None,
) -> Float[Tensor, "N Out"]:
    """``value weightᵀ + bias``, as torch's, for packed rows."""
    result: Tensor = run(_Linear, value, weight, bias)
    return result


class _Linear(autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(value, weight)
        ctx.weight = weight
        if bias is None:
            return torch.mm(value, weight.t())
        return torch.addmm(bias, value, weight.t())

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        value, weight = ctx.saved_tensors
        needs_value, needs_weight, needs_bias = ctx.needs_input_grad
        grad = grad.contiguous()
        grad_value = torch.mm(grad, weight) if needs_value else None
        grad_weight = None
        if needs_weight and gathers(ctx.weight):
            ctx.weight.grad.addmm_(grad.t(), value)
        elif needs_weight:
            grad_weight = torch.mm(grad.t(), value)
        return grad_value, grad_weight, _sum_rows(grad) if needs_bias else None


def gathers(weight: Tensor) -> bool:
    """Whether a gradient may be added where the weight's gradients gather, without a copy."""
    grad = weight.grad if weight.is_leaf else None
    return grad is not None and grad.is_contiguous()


def _sum_rows(grad: Float[Tensor, "N Out"]) -> Float[Tensor, "Out"]:
    total = grad.new_empty(grad.shape[1])
    kernels(grad).k_colsum(
        count(grad.shape[0]), count(grad.shape[1]), pointer(grad), pointer(total)
    )
    return total
