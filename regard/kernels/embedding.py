"""Words and their places in one pass."""

import ctypes
from typing import Any

import torch
from torch import autograd

from regard.kernels.linear import gathers
from regard.kernels.native import count, native, pointer, require_ids
from regard.kernels.noise import as_arguments, draw_key, keep_mask
from regard.kernels.operation import run
from regard.shapes import Float, Int, Tensor


def embed(
    table: Float[Tensor, "V D"],
    ids: Int[Tensor, "N"],
    positions: Float[Tensor, "L D"],
    places: Int[Tensor, "N"],
    *,
    scale: float,
    p: float,
) -> Float[Tensor, "N D"]:
    """``dropout(scale · table[id] + positions[place])``; the positions are not learned."""
    ids, places = ids.long().contiguous(), places.long().contiguous()
    require_ids(ids, len(table))
    require_ids(places, len(positions))
    key = draw_key() if p else 0
    embedded: Tensor = run(
        _Embed,
        table,
        ids,
        positions,
        places,
        scale,
        p,
        key,
    )
    return embedded


class _Embed(autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        table: Tensor,
        ids: Tensor,
        positions: Tensor,
        places: Tensor,
        scale: float,
        p: float,
        key: int,
    ) -> Tensor:
        n, d = len(ids), table.shape[1]
        ctx.lib, ctx.table = native(table, positions), table
        ctx.scale, ctx.p, ctx.key = scale, p, key
        mask = None
        if ctx.lib is not None:
            embedded = table.new_empty(n, d)
            ctx.lib.k_embed(
                count(n),
                count(d),
                pointer(ids),
                pointer(places),
                pointer(table),
                pointer(positions),
                ctypes.c_float(scale),
                *as_arguments(key, p),
                pointer(embedded),
            )
        else:
            embedded = torch.add(positions[places].to(table.dtype), table[ids], alpha=scale)
            if p:
                mask, ctx.kept = keep_mask((n, d), p, key)
                embedded.mul_(mask).mul_(ctx.kept)
        ctx.save_for_backward(ids, mask)
        return embedded

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        ids, mask = ctx.saved_tensors
        table = ctx.table
        grad_table = table.grad if gathers(table) else torch.zeros_like(table)
        if ctx.lib is not None:
            ctx.lib.k_embed_back(
                count(grad.shape[0]),
                count(grad.shape[1]),
                pointer(ids),
                pointer(grad.contiguous()),
                ctypes.c_float(ctx.scale),
                *as_arguments(ctx.key, ctx.p),
                pointer(grad_table),
            )
        else:
            if mask is not None:
                grad = torch.mul(grad, mask).mul_(ctx.kept)
            grad_table.index_add_(0, ids, grad, alpha=ctx.scale)
        return None if gathers(table) else grad_table, None, None, None, None, None, None
