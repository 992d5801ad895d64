"""Adam in one pass over all weights of a model, which lie end to end."""

import ctypes
import math
from dataclasses import dataclass

import torch
from torch import nn

from regard.engine.native import count, native, pointer
from regard.errors import SizeError
from regard.shapes import Float, Tensor


@dataclass(frozen=True)
class Adam:
    """Adam with decoupled weight decay (Loshchilov and Hutter 2017)."""

    betas: tuple[float, float]
    epsilon: float
    weight_decay: float


def gradient_norm(gradient: Float[Tensor, "N"]) -> float:
    """How long it is."""
    lib = native(gradient) if gradient.is_contiguous() else None
    if lib is not None:
        return math.sqrt(lib.k_squares(count(len(gradient)), pointer(gradient)))
    return float(torch.linalg.vector_norm(gradient))


def adam_step(
    adam: Adam,
    weights: Float[Tensor, "N"],
    gradient: Float[Tensor, "N"],
    moments: tuple[Float[Tensor, "N"], Float[Tensor, "N"]],
    *,
    factor: float,
    rate: float,
    step: int,
) -> None:
    """Take a step along ``factor · gradient``; weights and moments change, the gradient is zero.

    ``step`` counts from 1.
    """
    given = (weights, gradient, *moments)
    if any(one.shape != weights.shape for one in given) or weights.dim() != 1 or step < 1:
        raise SizeError(
            f"weights, gradient and moments of {', '.join(str([*one.shape]) for one in given)} "
            f"numbers at step {step} do not fit together: all are (N), and steps count from 1"
        )
    lib = native(*given) if all(one.is_contiguous() for one in given) else None
    if lib is not None:
        lib.k_adam(
            count(len(weights)),
            *(pointer(one) for one in (weights, gradient, *moments)),
            *(ctypes.c_double(one) for one in (factor, rate, *adam.betas)),
            *(ctypes.c_double(one) for one in (adam.epsilon, adam.weight_decay)),
            count(step),
        )
        return
    gradient.mul_(factor)
    flat = nn.Parameter(weights)
    flat.grad = gradient
    is_fused = weights.device.type in ("cpu", "cuda")
    torchs_own = torch.optim.AdamW(
        [flat],
        lr=rate,
        betas=adam.betas,
        eps=adam.epsilon,
        weight_decay=adam.weight_decay,
        fused=is_fused,
    )
    taken = torch.tensor(float(step - 1), device=weights.device if weights.is_cuda else "cpu")
    torchs_own.state[flat] = {"step": taken, "exp_avg": moments[0], "exp_avg_sq": moments[1]}
    torchs_own.step()
    gradient.zero_()
