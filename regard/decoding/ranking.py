"""The best next tokens of many rows: what every search asks at every step."""

import torch

from regard.shapes import Float, Int, Tensor

_BLOCK = 64  # tokens


def log_sum_exp(logits: Float[Tensor, "R V"]) -> Float[Tensor, "R"]:
    """``log Σ exp(x)`` of each row: what turns logits into log-probabilities."""
    # By way of torch's softmax, which is faster on a CPU than its own function of this name.
    found = logits.amax(-1) - logits.log_softmax(-1).amax(-1)
    return found.masked_fill(found.isnan(), -torch.inf)  # of a row where nothing is possible


def top(logits: Float[Tensor, "R V"], k: int) -> tuple[Float[Tensor, "R k"], Int[Tensor, "R k"]]:
    """The k largest numbers of each row, largest first, and where they stand.

    They lie in the k blocks with the largest maxima, and a maximum is found several times as fast
    as a place in the order: so blocks are ranked first.
    """
    n_rows, n_tokens = logits.shape
    n_blocks = n_tokens // _BLOCK
    if n_blocks <= k:
        values, ids = logits.topk(k, dim=-1)
        return values, ids
    whole = logits[:, : n_blocks * _BLOCK].view(n_rows, n_blocks, _BLOCK)
    blocks = whole.amax(-1).topk(k, dim=-1).indices
    candidates = whole.gather(1, blocks[..., None].expand(-1, -1, _BLOCK)).flatten(1)
    rest = logits[:, n_blocks * _BLOCK :]
    values, at = torch.cat([candidates, rest], dim=1).topk(k, dim=-1)
    is_in_rest = at >= candidates.shape[1]
    block = blocks.gather(1, (at // _BLOCK).clamp(max=k - 1)) * _BLOCK + at % _BLOCK
    return values, torch.where(is_in_rest, at - candidates.shape[1] + n_blocks * _BLOCK, block)
