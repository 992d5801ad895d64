"""Who may look where: masks are boolean tensors, true = may attend, combined with ``&``.

Every mask here broadcasts to ``B H Q K``. One that allows everything is ``None``.
"""

import torch

from regard.errors import SizeError
from regard.shapes import Bool, Int, Tensor


def padding(lengths: Int[Tensor, "B"], n_keys: int | None = None) -> Bool[Tensor, "B 1 1 K"]:
    """Allow only the first ``lengths[b]`` keys of each example: the rest is padding."""
    n_keys = int(lengths.max()) if n_keys is None else n_keys
    places = torch.arange(n_keys, device=lengths.device)
    return (places < lengths[:, None])[:, None, None, :]


def keeping(is_real: Bool[Tensor, "B K"]) -> Bool[Tensor, "B 1 1 K"]:
    """Allow the keys that are true, as ``ids != PAD`` gives them."""
    return is_real[:, None, None, :]


def causal(
    n_queries: int,
    n_keys: int | None = None,
    *,
    first: int = 0,
    device: torch.device | str | None = None,
) -> Bool[Tensor, "1 1 Q K"]:
    """Allow no key that comes after its query: the lower triangle.

    ``first`` is the place of the first query, for decoding with a cache.
    """
    query, key = _places(n_queries, n_keys, first, device)
    return (key <= query)[None, None]


def window(
    n_queries: int,
    n_keys: int | None = None,
    *,
    reach: int,
    first: int = 0,
    device: torch.device | str | None = None,
) -> Bool[Tensor, "1 1 Q K"]:
    """Allow the keys at most ``reach`` places away: "set the unwanted alpha to 0"."""
    if reach < 0:
        raise SizeError(f"a window's reach is 0 or more places, not {reach}")
    query, key = _places(n_queries, n_keys, first, device)
    return ((key - query).abs() <= reach)[None, None]


def given(
    allowed: Bool[Tensor, "Q K"] | Bool[Tensor, "B Q K"],
) -> Bool[Tensor, "1 1 Q K"] | Bool[Tensor, "B 1 Q K"]:
    """Allow exactly what the matrix says, for all examples or for each its own."""
    return allowed[None, None] if allowed.dim() == 2 else allowed[:, None]


def _places(
    n_queries: int, n_keys: int | None, first: int, device: torch.device | str | None
) -> tuple[Int[Tensor, "Q 1"], Int[Tensor, "1 K"]]:
    n_keys = first + n_queries if n_keys is None else n_keys
    query = torch.arange(first, first + n_queries, device=device)[:, None]
    return query, torch.arange(n_keys, device=device)[None, :]
