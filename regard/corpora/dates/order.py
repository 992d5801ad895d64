"""All numbers below n in a shuffled order, without holding them in memory."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

_BLOCK = 4_096
_ROUNDS = 4
_ODD = 0x9E3779B97F4A7C15  # 2^64 / golden ratio: its multiples are spread evenly

Words = npt.NDArray[np.uint64]


def shuffled(n: int, seed: int) -> Iterator[int]:
    """Every number below n once, in an order that follows from the seed.

    A Feistel network permutes the numbers of 2b bits, whatever its rounds compute (Luby and
    Rackoff 1988); those that are too large are left out.
    """
    half = max(1, ((n - 1).bit_length() + 1) // 2)
    keys = np.random.default_rng([seed, n]).integers(0, 2**63, _ROUNDS, dtype=np.uint64)
    for start in range(0, 1 << 2 * half, _BLOCK):
        stop = min(start + _BLOCK, 1 << 2 * half)
        numbers = _permute(np.arange(start, stop, dtype=np.uint64), half, keys)
        yield from numbers[numbers < n].tolist()


def _permute(numbers: Words, half: int, keys: Words) -> Words:
    mask = np.uint64((1 << half) - 1)
    left, right = numbers >> np.uint64(half), numbers & mask
    for key in keys:
        left, right = right, left ^ (_scramble(right ^ key) & mask)
    return (left << np.uint64(half)) | right


def _scramble(numbers: Words) -> Words:
    """Bits that have little to do with the bits given; overflow is meant."""
    for shift in (31, 29):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(_ODD)
    return numbers ^ (numbers >> np.uint64(32))
