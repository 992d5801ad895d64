"""Words and their places in one pass."""

import ctypes
from typing import Any

import torch
from torch import autograd

from regard.engine.linear import gathers
from regard.engine.native import as_ids, count, pointer, require_ids
from regard.engine.noise import as_arguments, draw_key
from regard.engine.operation import kernels, run
from regard.errors import SizeError
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
    """``dropout(scale · table[id] + positions[place])``; the positions may be learned too."""
    if ids.shape != places.shape or ids.dim() != 1 or table.shape[1] != positions.shape[1]:
        given = ", ".join(str([*one.shape]) for one in (table, ids, positions, places))
        raise SizeError(
            f"table, ids, positions and places of shapes {given} do not fit together: they are "
            "(V, D), (N), (L, D) and (N)"
        )
    ids, places = as_ids(ids), as_ids(places)
    require_ids(ids, len(table))
    require_ids(places, len(positions))
    key = draw_key() if p else 0
    table, positions = table.contiguous(), positions.contiguous()
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
        ctx.lib = kernels(table, positions)
        ctx.table, ctx.positions = table, positions
        ctx.scale, ctx.p, ctx.key = scale, p, key
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
        ctx.save_for_backward(ids, places)
        return embedded

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        ids, places = ctx.saved_tensors
        needs_table, _, needs_positions = ctx.needs_input_grad[:3]
        grad_table = _given(ctx, ctx.table, ids, grad, ctx.scale) if needs_table else None
        grad_positions = _given(ctx, ctx.positions, places, grad, 1.0) if needs_positions else None
        return grad_table, None, grad_positions, None, None, None, None


def _given(ctx: Any, table: Tensor, rows: Tensor, grad: Tensor, scale: float) -> Tensor | None:
    """A table's gradient, of what its rows were used for; ``None`` if it is added where it gathers.

    The kernel draws the mask again.
    """
    total = table.grad if gathers(table) else torch.zeros_like(table)
    assert total is not None
    ctx.lib.k_embed_back(
        count(grad.shape[0]),
        count(grad.shape[1]),
        pointer(rows),
        pointer(grad.contiguous()),
        ctypes.c_float(scale),
        *as_arguments(ctx.key, ctx.p),
        pointer(total),
    )
    return None if gathers(table) else total
