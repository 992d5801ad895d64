"""Batches of a token budget: every pair once an epoch, in an order the seed alone decides.

An epoch is planned for all processes together. Pairs are shuffled into pools, each pool is sorted
by length and cut into global batches of ``n_ranks * batch_tokens`` target tokens, and process r
takes rows r, r + n_ranks, ... of each. So n processes see in every step exactly what one process
with n times the budget would. Mixed batches are cut from the shuffled pairs as they come: where
nothing is padded they cost no more, and a step that sees all lengths errs less.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

from regard.data.batch import Batch, Corpus, collate
from regard.errors import DataError

Rows = npt.NDArray[np.int64]
Lengths = npt.NDArray[np.int32]

# Batches in a pool: enough that neighbours have the same length, few enough that a long sentence
# does not always meet the same others.
_POOL = 400
# Targets whose lengths differ by less than this factor count as equal, and are sorted by source.
_NEARLY = 1.1
# A batch may end early, where the next rows would pad it, but not below this part of its budget.
_FULL = 0.8
# Source positions for one target position; beyond it a batch is made smaller, for memory's sake.
MOST_SOURCE = 2


@dataclass(frozen=True)
class Place:
    """Where in the data a run is: the next batch is batch number ``batch`` of epoch ``epoch``."""

    epoch: int = 0
    batch: int = 0


@dataclass(frozen=True, eq=False)
class Epoch(Sequence[Rows]):
    """The batches of one process in one epoch: numbers of pairs, cut from one long array."""

    order: Rows
    cuts: Rows
    sequence: Rows
    rank: int
    n_ranks: int

    def __len__(self) -> int:
        return len(self.sequence)

    @overload
    def __getitem__(self, i: int) -> Rows: ...
    @overload
    def __getitem__(self, i: slice) -> list[Rows]: ...
    def __getitem__(self, i: int | slice) -> Rows | list[Rows]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        batch = self.sequence[i]
        rows: Rows = self.order[self.cuts[batch] : self.cuts[batch + 1]][self.rank :: self.n_ranks]
        return rows


class Plan:
    """What is learned from, epoch after epoch: which rows make a batch, and what they hold.

    The numbers of all randomness come from the seed and the epoch's, so a place is all there is to
    save.
    """

    def epoch(self, k: int) -> Sequence[Rows]:
        """The batches of epoch ``k``, each as the rows that make it."""
        raise NotImplementedError

    def batch(self, rows: Rows) -> Batch:
        """The batch of these rows."""
        raise NotImplementedError

    def iterate(self, place: Place = Place()) -> "BatchIterator":  # noqa: B008 - it is frozen
        """Batches without end from a place on."""
        return BatchIterator(self, place)


class Batches(Plan):
    """A corpus as batches of about ``batch_tokens`` target tokens for each of ``n_ranks``.

    The budget counts padded positions, so it bounds memory. A sentence longer than the budget
    comes alone (with several processes: one for each, as all of them take part in every step).
    """

    def __init__(
        self, corpus: Corpus, seed: int, batch_tokens: int, rank: int = 0, n_ranks: int = 1
    ) -> None:
        check_share(len(corpus), "pairs", batch_tokens, rank, n_ranks)
        self.corpus, self.seed, self.batch_tokens = corpus, seed, batch_tokens
        self.rank, self.n_ranks = rank, n_ranks
        sources, targets = corpus.lengths()
        self._source = sources + np.int32(1)  # EOS
        self._target = targets + np.int32(1)  # EOS to predict, or BOS to read

    def epoch(self, k: int) -> Epoch:
        """The plan of epoch ``k``: a few arrays, whatever the size of the corpus."""
        random = np.random.default_rng([self.seed % 2**64, k])
        budget = self.n_ranks * self.batch_tokens
        order = random.permutation(len(self.corpus))
        pool_rows = max(2 * self.n_ranks, int(_POOL * budget / self._target.mean()))
        n_pools = max(1, len(order) // pool_rows)
        cuts = [0]
        for pool in np.array_split(order, n_pools):
            pool[:] = pool[self._by_length(pool)]
            cuts.extend(
                cuts[-1] + _cut(self._source[pool], self._target[pool], budget, self.n_ranks)
            )
        sequence = random.permutation(len(cuts) - 1)
        return Epoch(order, np.asarray(cuts), sequence, self.rank, self.n_ranks)

    def _by_length(self, pool: Rows) -> Rows:
        """Longest targets first; among nearly equal ones by source, up and down in turns.

        Turning from one length to the next lets a batch that straddles two of them hold sources
        of one length.
        """
        target, source = self._target[pool], self._source[pool]
        level = np.floor(np.log(target) / np.log(_NEARLY))
        turned = np.where(level % 2 == 0, source, -source)
        order: Rows = np.lexsort((-target, turned, -level))
        return order

    def batch(self, rows: Rows) -> Batch:
        """The pairs with these numbers, padded."""
        return collate(self.corpus, rows)


def check_share(n: int, what: str, batch_tokens: int, rank: int, n_ranks: int) -> None:
    """Refuse batches that no process, or not every process, can have."""
    if batch_tokens < 1:
        raise DataError(f"batch_tokens = {batch_tokens}: a batch needs at least 1 token.")
    if not 0 <= rank < n_ranks:
        raise DataError(f"rank = {rank} is not among the {n_ranks} processes 0 to {n_ranks - 1}.")
    if n < n_ranks:
        raise DataError(
            f"{n} {what} cannot be shared by {n_ranks} processes: use at most {n}, or more data."
        )


class MixedBatches(Batches):
    """Batches of all lengths, where the budget counts tokens: a batch holds about so many."""

    def epoch(self, k: int) -> Epoch:
        """The pairs as they were shuffled, cut into batches of equal load."""
        order = np.random.default_rng([self.seed % 2**64, k]).permutation(len(self.corpus))
        budget = self.n_ranks * self.batch_tokens
        loads = self._target[order] / budget, self._source[order] / (MOST_SOURCE * budget)
        ends = _even(np.maximum(*loads), self.n_ranks)
        return Epoch(order, np.r_[0, ends], np.arange(len(ends)), self.rank, self.n_ranks)


def _even(load: npt.NDArray[np.float64], n_ranks: int) -> Rows:
    """Where batches of about equal load end, each with a row for every process."""
    total = np.cumsum(load)
    n = max(1, min(round(float(total[-1])), len(load) // n_ranks))
    least = n_ranks * np.arange(1, n + 1)
    even = np.searchsorted(total, total[-1] * np.arange(1, n + 1) / n) + 1
    even = np.maximum.accumulate(even - least) + least
    ends: Rows = np.minimum(np.maximum(even, least), len(load) - least[::-1] + n_ranks)
    ends[-1] = len(load)
    return ends


def _cut(source: Lengths, target: Lengths, budget: int, n_ranks: int) -> Rows:
    """Where the batches of a sorted pool end; one step of Python a batch, not a pair."""
    ends: list[int] = []
    start, n = 0, len(target)
    while start < n:
        size = max(1, budget // int(target[start]))
        for lengths, limit in ((target, budget), (source, MOST_SOURCE * budget)):
            size = min(size, max(1, limit // int(lengths[start : start + size].max())))
        if start + size < n:
            size = _least_padded(source[start : start + size], target[start : start + size])
        start = min(n, start + max(n_ranks, size))
        ends.append(start)
    if len(ends) > 1:
        ends[-2:] = _without_rest(
            ends[-3] if len(ends) > 2 else 0, ends[-2], target, budget, n_ranks
        )
    return np.asarray(ends, dtype=np.int64)


def _least_padded(source: Lengths, target: Lengths) -> int:
    """How many of these rows make the batch with the smallest share of padding."""
    n = len(target)
    fewest = max(1, int(_FULL * n))
    positions = np.maximum.accumulate(source) + np.maximum.accumulate(target)
    tokens = np.cumsum(source) + np.cumsum(target)
    share = (np.arange(1, n + 1) * positions / tokens)[fewest - 1 :]
    return n - int(np.argmin(share[::-1]))  # of equal shares, the most rows


def _without_rest(start: int, end: int, target: Lengths, budget: int, n_ranks: int) -> list[int]:
    """The ends of the last two batches, so that the second is not the odd row that was left.

    They share their rows evenly where the budget allows it. Where a process would get no row they
    become one batch. Only that last case depends on the number of processes.
    """
    n = len(target)
    middle = start + (n - start + 1) // 2
    fits = max((middle - start) * target[start:middle].max(), (n - middle) * target[middle:].max())
    if middle < end and fits <= budget:
        end = middle
    return [end, n] if n - end >= n_ranks else [n]


class BatchIterator(Iterator[Batch]):
    """Batches one after the other, epoch after epoch; ``place`` is all there is to save."""

    def __init__(self, batches: Plan, place: Place) -> None:
        self._batches = batches
        self._epoch = batches.epoch(place.epoch)
        if not 0 <= place.batch <= len(self._epoch):
            raise DataError(
                f"Epoch {place.epoch} has {len(self._epoch)} batches, so a run cannot continue at "
                f"batch {place.batch}: the data or batch_tokens changed since it was saved."
            )
        self.place = place

    def __next__(self) -> Batch:
        if self.place.batch == len(self._epoch):
            self.place = Place(self.place.epoch + 1, 0)
            self._epoch = self._batches.epoch(self.place.epoch)
        rows = self._epoch[self.place.batch]
        self.place = Place(self.place.epoch, self.place.batch + 1)
        return self._batches.batch(rows)
