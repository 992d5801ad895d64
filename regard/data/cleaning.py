"""Which pairs are worth learning from: well formed, alike in length, not seen before."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from regard.data.account import REASONS, Account
from regard.data.readers import Pair

# No piece of a vocabulary covers more characters on average, so a longer text is surely too long.
_CHARACTERS_PER_TOKEN = 16
_N_EXAMPLES = 3
_EXAMPLE_LENGTH = 120
Hashes = npt.NDArray[np.uint64]


def hash_pairs(pairs: Iterable[tuple[str, str]]) -> Hashes:
    """A hash of each pair; two of three million different pairs agree once in four million runs."""
    digest = b"".join(
        hashlib.blake2b(f"{source}\0{target}".encode(errors="replace"), digest_size=8).digest()
        for source, target in pairs
    )
    return np.frombuffer(digest, dtype=np.uint64)


class Seen:
    """The hashes met so far, 8 bytes each; a Python set of numbers takes eight times that.

    Kept as a few sorted arrays, each at least twice as long as the next, merged as they grow.
    """

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


class Cleaner:
    """Drops empty, over-long, ill-matched and repeated pairs, and keeps account of them.

    A chunk of pairs passes twice: as text, cheaply, and again once its lengths in tokens are known.
    Ratios compare tokens: a Chinese sentence has few words, but not few tokens.

    Args:
        max_length: tokens on either side.
        max_ratio: tokens of the longer side for one of the shorter; ``None`` to keep them all.
        drops_duplicates: keep only the first of equal pairs (8 bytes of memory a pair).
        held_out: hashes of validation pairs, to count how many of them appear.
        n_read: tokens of a source that are read, where long ones are cut rather than dropped.
    """

    def __init__(
        self,
        max_length: int = 256,
        max_ratio: float | None = 6.0,
        drops_duplicates: bool = True,
        held_out: Hashes | None = None,
        n_read: int | None = None,
    ) -> None:
        self.max_length = max_length
        self.n_read = n_read
        self.max_ratio = max_ratio
        self._seen = Seen() if drops_duplicates else None
        self._held_out = np.unique(held_out) if held_out is not None else None
        self._overlap = np.zeros(0 if self._held_out is None else len(self._held_out), np.bool_)
        self._n_read = 0
        self._n_kept = 0
        self._dropped: Counter[str] = Counter()
        self._examples: dict[str, list[tuple[str, str]]] = {}

    def clean_text(self, pairs: Sequence[tuple[str, str]]) -> list[Pair]:
        """The pairs, without spaces around, that are neither empty nor far too long nor repeated.

        Repeated means already seen here, even if that one was then found too long in tokens: then
        so is this one.
        """
        self._n_read += len(pairs)
        limit = self.max_length * _CHARACTERS_PER_TOKEN
        read = None if self.n_read is None else self.n_read * _CHARACTERS_PER_TOKEN
        kept = []
        for source, target in pairs:
            pair = Pair(source.strip()[:read], target.strip())
            if not pair.source or not pair.target:
                self._drop("empty", pair)
            elif len(pair.target) > limit or (read is None and len(pair.source) > limit):
                self._drop("too long", pair)
            else:
                kept.append(pair)
        if self._seen is None and self._held_out is None:
            return kept
        hashes = hash_pairs(kept)
        self._count_overlap(hashes)
        if self._seen is None:
            return kept
        is_new = self._seen.add(hashes)
        for i in np.flatnonzero(~is_new):
            self._drop("duplicate", kept[i])
        return [kept[i] for i in np.flatnonzero(is_new)]

    def keep_lengths(
        self,
        pairs: Sequence[Pair],
        source_lengths: npt.NDArray[np.int64],
        target_lengths: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.bool_]:
        """Which pairs stay, now that their lengths in tokens are known."""
        longer = np.maximum(source_lengths, target_lengths)
        shorter = np.minimum(source_lengths, target_lengths)
        reasons = np.full(len(pairs), "", dtype="<U10")
        if self.max_ratio is not None:
            reasons[longer > self.max_ratio * shorter] = "ratio"
        limited = target_lengths if self.n_read is not None else longer
        reasons[limited > self.max_length] = "too long"
        reasons[shorter == 0] = "empty"
        keep: npt.NDArray[np.bool_] = reasons == ""
        for i in np.flatnonzero(~keep):
            self._drop(str(reasons[i]), pairs[int(i)])
        self._n_kept += int(keep.sum())
        return keep

    def account(self) -> Account:
        """What became of all pairs so far."""
        return Account(
            n_read=self._n_read,
            n_kept=self._n_kept,
            dropped={reason: self._dropped[reason] for reason in REASONS if self._dropped[reason]},
            examples={reason: tuple(pairs) for reason, pairs in self._examples.items()},
            n_held_out=len(self._overlap),
            n_overlap=int(self._overlap.sum()),
        )

    def _drop(self, reason: str, pair: Pair) -> None:
        self._dropped[reason] += 1
        examples = self._examples.setdefault(reason, [])
        if len(examples) < _N_EXAMPLES:
            examples.append((pair.source[:_EXAMPLE_LENGTH], pair.target[:_EXAMPLE_LENGTH]))

    def _count_overlap(self, hashes: Hashes) -> None:
        if self._held_out is not None and len(self._held_out):
            self._overlap |= np.isin(self._held_out, hashes)


def hash_stripped(pairs: Sequence[tuple[str, str]]) -> Hashes:
    """Hashes of pairs as the cleaner computes them: without spaces around."""
    return hash_pairs((source.strip(), target.strip()) for source, target in pairs)
