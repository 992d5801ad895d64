"""A set of 64-bit hashes in 8 bytes each; a Python set of numbers takes eight times that.

Kept as a few sorted arrays, each at least twice as long as the next, merged as they grow.
"""

import hashlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]


def hash_pairs(pairs: Iterable[tuple[str, str]]) -> Hashes:
    """A hash of each pair; two of three million different pairs agree once in four million runs."""
    digest = b"".join(
        hashlib.blake2b(f"{source}\0{target}".encode(errors="replace"), digest_size=8).digest()
        for source, target in pairs
    )
    return np.frombuffer(digest, dtype=np.uint64)


class Seen:
    """The hashes met so far."""

    def __init__(self) -> None:
        self._runs: list[Hashes] = []

    def add(self, hashes: Hashes) -> npt.NDArray[np.bool_]:
        """True for each hash that is met for the first time, which is then remembered."""
        unique, first = np.unique(hashes, return_index=True)
        fresh = ~self._contains(unique)
        is_new = np.zeros(len(hashes), dtype=np.bool_)
        is_new[first[fresh]] = True
        self._append(unique[fresh])
        return is_new

    def _contains(self, hashes: Hashes) -> npt.NDArray[np.bool_]:
        found = np.zeros(len(hashes), dtype=np.bool_)
        for run in self._runs:
            places = np.minimum(np.searchsorted(run, hashes), len(run) - 1)
            found |= run[places] == hashes
        return found

    def _append(self, run: Hashes) -> None:
        while self._runs and len(self._runs[-1]) < 2 * len(run):
            # A stable sort of two sorted runs is a merge: linear time.
            run = np.sort(np.concatenate([self._runs.pop(), run]), kind="stable")
        if len(run):
            self._runs.append(run)

    def __len__(self) -> int:
        return sum(len(run) for run in self._runs)
