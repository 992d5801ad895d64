"""The energies of additive attention as one operation."""

from typing import Any

import torch
from torch import autograd

from regard.engine.native import count, pointer
from regard.engine.operation import kernels, run
from regard.errors import SizeError
from regard.shapes import Float, Tensor


def energies(
    query: Float[Tensor, "B Q M"], key: Float[Tensor, "B K M"], v: Float[Tensor, "M"]
) -> Float[Tensor, "B Q K"]:
    """``vᵀ tanh(q + k)`` for every pair (Bahdanau et al. 2014), in the precision of v.

    Of a source of S places and T steps there are T × S × M hyperbolic tangents: they are never
    kept, for computing them again is sooner done than reading them.
    """
    fits = query.dim() == key.dim() == 3 and query.shape[::2] == key.shape[::2]
    if not fits or v.shape != query.shape[2:]:
        given = ", ".join(str([*one.shape]) for one in (query, key, v))
        raise SizeError(
            f"query, key and v of shapes {given} do not fit together: they are (B, Q, M), "
            "(B, K, M) and (M)"
        )
    query, key = query.to(v.dtype), key.to(v.dtype)
    found: Tensor = run(_Energies, query.contiguous(), key.contiguous(), v.contiguous())
    return found


class _Energies(autograd.Function):
    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, v: Tensor) -> Tensor:
        ctx.save_for_backward(query, key, v)
        found = query.new_empty(*query.shape[:2], key.shape[1])
        lib = kernels(query, key, v)
        ctx.call = lib.k_energies_grad
        lib.k_energies(*_sizes(query, key), *map(pointer, (query, key, v, found)))
        return found

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        query, key, v = ctx.saved_tensors
        gradients = torch.empty_like(query), torch.empty_like(key), torch.empty_like(v)
        given = (query, key, v, grad.contiguous(), *gradients)
        ctx.call(*_sizes(query, key), *map(pointer, given))
        return gradients


def _sizes(query: Tensor, key: Tensor) -> list[Any]:
    return [count(n) for n in (*query.shape[:2], *key.shape[1:])]
