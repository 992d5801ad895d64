"""The best next tokens of many rows without sorting a vocabulary."""

import torch

from regard.engine.native import count, native, pointer
from regard.errors import SizeError
from regard.shapes import Float, Int, Tensor

_MOST = 64  # beyond, inserting into a sorted list is slower than selecting


def log_sum_exp(logits: Float[Tensor, "R V"]) -> Float[Tensor, "R"]:
    """``log Σ exp(x)`` of each row: what turns logits into log-probabilities."""
    _require_columns(logits)
    lib = native(logits)
    if lib is None:
        return logits.logsumexp(-1)
    logits = logits.contiguous()
    sums = logits.new_empty(len(logits))
    lib.k_log_sum_exp(count(len(logits)), count(logits.shape[1]), pointer(logits), pointer(sums))
    return sums


def top(logits: Float[Tensor, "R V"], k: int) -> tuple[Float[Tensor, "R k"], Int[Tensor, "R k"]]:
    """The k largest numbers of each row, largest first, and where they stand."""
    _require_columns(logits)
    if not 1 <= k <= logits.shape[1]:
        raise SizeError(
            f"the {k} largest of {logits.shape[1]} numbers cannot be told: choose 1 to all"
        )
    lib = native(logits) if k <= _MOST else None
    if lib is None:
        values, ids = logits.topk(k, dim=-1)
        return values, ids
    logits = logits.contiguous()
    values = logits.new_empty(len(logits), k)
    ids = torch.empty(len(logits), k, dtype=torch.long)
    lib.k_top(
        count(len(logits)),
        count(logits.shape[1]),
        count(k),
        pointer(logits),
        pointer(values),
        pointer(ids),
    )
    return values, ids


def _require_columns(logits: Tensor) -> None:
    if logits.dim() != 2 or not logits.shape[1]:
        raise SizeError(f"logits are rows of at least one number, not of shape {[*logits.shape]}")
