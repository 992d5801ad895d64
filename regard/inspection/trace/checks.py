"""What must hold of recorded weights, and what is worth knowing about them."""

import numpy as np

from regard.errors import TraceError
from regard.shapes import Float

TOLERANCE = 1e-3  # rows in half precision, read as float32, are this near to one
NEARLY_UNIFORM = 0.95  # of the largest possible entropy


def check_rows(name: str, weights: Float[np.ndarray, "H Q K"], *, sums_to_one: bool) -> None:
    """Every row holds finite shares of one whole (at most one where a window fades out).

    A row that may see nothing, as a window beyond the end of its sentence, is all zeros.
    """
    if not np.isfinite(weights).all() or (weights < -TOLERANCE).any():
        raise TraceError(f"the weights at {name} are not shares: some are negative or not finite")
    totals = weights.sum(-1, dtype=np.float64)
    is_whole = np.abs(totals - 1) <= TOLERANCE if sums_to_one else totals <= 1 + TOLERANCE
    is_whole |= (weights == 0).all(-1)
    if not is_whole.all():
        head, row = (int(i) for i in np.argwhere(~is_whole)[0])
        raise TraceError(
            f"the weights at {name}, head {head}, row {row} sum to {totals[head, row]:.4f}, not to "
            "one: something replaced them"
        )


def uniform_heads(weights: Float[np.ndarray, "H Q K"], *, is_causal: bool) -> tuple[bool, ...]:
    """Of each head, whether the mean of ``H(row) / log n`` over its rows is 0.95 or more.

    n counts the places a row may see: all, or those up to its own. A row that sees one place has no
    choice and does not count.
    """
    shares = weights.astype(np.float64)
    n_rows, n_columns = shares.shape[1:]
    seen = (
        np.minimum(np.arange(1, n_rows + 1), n_columns) if is_causal else np.full(n_rows, n_columns)
    )
    counted = seen > 1
    if not counted.any():
        return (False,) * len(shares)
    entropy = -(shares * np.log(np.maximum(shares, 1e-300))).sum(-1)
    evenness = (entropy[:, counted] / np.log(seen[counted])).mean(-1)
    return tuple(bool(one >= NEARLY_UNIFORM) for one in evenness)
