"""Attention of one query a row to chosen rows of a store: what decoding computes at every step."""

import torch
from torch.nn import functional as F

from regard.engine.native import count, native, pointer
from regard.errors import SizeError
from regard.shapes import Float, Int, Tensor

_LANES = 16


def recall(
    query: Float[Tensor, "R D"],
    key: Float[Tensor, "M D"],
    value: Float[Tensor, "M D"],
    places: Int[Tensor, "R K"],
    n_heads: int,
) -> Float[Tensor, "R D"]:
    """``softmax(q kᵀ / √E) v`` in every head; row r sees rows ``places[r]`` of keys and values.

    A place of -1 is none. Nothing is copied where the C++ kernel serves: hypotheses that share
    a past, or a source, read the same memory. For decoding: no gradient flows. Without heads there
    is nothing.
    """
    if not n_heads and not query.shape[1]:
        return query.new_empty(len(query), 0)
    _require_fit(query, key, value, places, n_heads)
    width = query.shape[1]
    lib = native(query, key, value) if (width // n_heads) % _LANES == 0 else None
    if lib is None:
        return _recall_gathered(query, key, value, places, n_heads)
    assert query.stride(1) == key.stride(1) == value.stride(1) == 1
    places = places.to(torch.int32).contiguous()
    context = query.new_empty(query.shape)
    lib.k_recall(
        count(len(query)),
        count(places.shape[1]),
        count(n_heads),
        count(width // n_heads),
        pointer(query),
        count(query.stride(0)),
        pointer(key),
        count(key.stride(0)),
        pointer(value),
        count(value.stride(0)),
        pointer(places),
        pointer(context),
    )
    return context


def _require_fit(query: Tensor, key: Tensor, value: Tensor, places: Tensor, n_heads: int) -> None:
    """Refuse what the kernel would read beyond its end."""
    (n_rows, width), is_table = query.shape, places.dim() == 2
    is_split = n_heads >= 1 and width % n_heads == 0
    if not is_split or key.shape != value.shape or key.shape[1] != width or not is_table:
        given = ", ".join(str([*one.shape]) for one in (query, key, value, places))
        raise SizeError(
            f"query, key, value and places of shapes {given} do not fit {n_heads} heads: they are "
            "(R, D), (M, D), (M, D) and (R, K), with D a multiple of the heads"
        )
    if len(places) != n_rows:
        raise SizeError(f"{n_rows} queries have {len(places)} rows of places: give each its own")
    if places.is_cpu and places.numel() and int(places.max()) >= len(key):  # a GPU checks itself
        raise SizeError(f"a place is {int(places.max())}, and there are {len(key)} rows of keys")


def _recall_gathered(
    query: Tensor, key: Tensor, value: Tensor, places: Tensor, n_heads: int
) -> Tensor:
    """Recall by torch's operations, on copies."""
    n_rows, n_keys = places.shape
    at = places.clamp(min=0).flatten()

    def heads(rows: Tensor, length: int) -> Tensor:
        return rows.reshape(n_rows, length, n_heads, -1).transpose(1, 2)

    is_real = (places >= 0)[:, None, None, :]
    context = F.scaled_dot_product_attention(
        heads(query, 1),
        heads(key.index_select(0, at), n_keys),
        heads(value.index_select(0, at), n_keys),
        attn_mask=is_real,
    )
    context = context.masked_fill(~is_real.any(-1, keepdim=True), 0.0)
    return context.transpose(1, 2).reshape(n_rows, -1)
