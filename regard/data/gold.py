"""Where heads should look, beside the batches that they learn from.

A link is a query and a key of one sentence. Links are numbered as the rows of batches are, so that
they go with their sentences through shuffling, bucketing and a run that is continued.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import torch

from regard.data.batch import Batch
from regard.data.batching import Plan, Rows
from regard.shapes import Int, Tensor
from regard.special import PAD

Link = tuple[int, int]  # the place of the query and that of the key, as the model counts them


@runtime_checkable
class GoldLinks(Protocol):
    """The links of a batch, from its rows."""

    def of(self, rows: Rows, batch: Batch) -> Int[Tensor, "L 3"]:
        """Row of the batch, query and key of every link."""
        ...


@dataclass(frozen=True)
class NeighbourLinks:
    """Every token looks so far to the right: -1 is the token before it."""

    offset: int
    is_target: bool = False

    def of(self, rows: Rows, batch: Batch) -> Int[Tensor, "L 3"]:
        """Row of the batch, query and key of every link."""
        is_real = batch.target[:, 1:] != PAD if self.is_target else batch.source != PAD
        queries, lengths = is_real.nonzero(), is_real.sum(1)
        keys = queries[:, 1] + self.offset
        is_there = (keys >= 0) & (keys < lengths[queries[:, 0]])
        return torch.cat([queries, keys[:, None]], dim=1)[is_there]


class PairLinks:
    """The links of numbered pairs, end to end."""

    def __init__(self, links: Sequence[Sequence[Link]]) -> None:
        sizes = np.fromiter(map(len, links), np.int64, len(links))
        self._starts = np.concatenate([[0], np.cumsum(sizes)])
        flat = np.fromiter(chain.from_iterable(chain.from_iterable(links)), np.int32)
        self._links = flat.reshape(-1, 2)

    def __len__(self) -> int:
        return len(self._links)

    def of(self, rows: Rows, batch: Batch) -> Int[Tensor, "L 3"]:
        """Row of the batch, query and key of every link."""
        spans = [self._links[self._starts[i] : self._starts[i + 1]] for i in rows]
        numbers = np.repeat(np.arange(len(rows)), [len(span) for span in spans])
        return _columns(numbers, np.concatenate(spans))


class StreamLinks:
    """The links of one stream of tokens, of which a batch's rows are passages.

    A link that a passage cuts is not taught there.
    """

    def __init__(self, links: npt.NDArray[np.int64]) -> None:
        self._links = links[np.argsort(links[:, 0], kind="stable")]

    def __len__(self) -> int:
        return len(self._links)

    def of(self, rows: Rows, batch: Batch) -> Int[Tensor, "L 3"]:
        """Row of the batch, query and key of every link; <BOS> stands before each passage."""
        found, numbers = [], []
        for number, (begin, end) in enumerate(rows.tolist()):
            first, last = np.searchsorted(self._links[:, 0], [begin, end])
            span = self._links[first:last]
            span = span[(span[:, 1] >= begin) & (span[:, 1] < end)] - begin + 1
            found.append(span)
            numbers.append(np.full(len(span), number))
        return _columns(np.concatenate(numbers), np.concatenate(found))


def _columns(
    numbers: npt.NDArray[np.integer], links: npt.NDArray[np.integer]
) -> Int[Tensor, "L 3"]:
    return torch.from_numpy(np.column_stack([numbers, links]).astype(np.int64))


class TaughtBatches(Plan):
    """The batches of a plan, with the links of the heads that are taught."""

    def __init__(self, plan: Plan, gold: Sequence[GoldLinks]) -> None:
        self._plan, self._gold = plan, tuple(gold)

    def epoch(self, k: int) -> Sequence[Rows]:
        """The batches of epoch ``k``, as the plan has them."""
        return self._plan.epoch(k)

    def batch(self, rows: Rows) -> Batch:
        """The batch of these rows."""
        batch = self._plan.batch(rows)
        return replace(batch, gold=tuple(one.of(rows, batch) for one in self._gold))
