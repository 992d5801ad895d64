"""A batch: padded rows of ids, the one thing that passes from data to models."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import torch

from regard.shapes import Int, Source, Tensor
from regard.special import BOS, EOS, PAD

Ids = npt.NDArray[np.integer]


@dataclass(frozen=True)
class Batch:
    """Sources with EOS, targets between BOS and EOS, both padded on the right.

    A model reads ``target[:, :-1]`` and predicts ``target[:, 1:]``.
    """

    source: Source
    target: Int[Tensor, "B T"]
    is_full: bool = False  # whether it is known that no target is padded
    gold: tuple[Int[Tensor, "_ 3"], ...] = ()  # of each head that is taught: row, query, key

    @property
    def n_source_tokens(self) -> int:
        """Source positions that are not padding, EOS included."""
        return int((self.source != PAD).sum())

    @property
    def n_target_tokens(self) -> int:
        """Tokens to predict: not padding, EOS included, BOS not."""
        return int((self.target[:, 1:] != PAD).sum())

    def to(self, device: torch.device | str) -> "Batch":
        """This batch on a device."""
        source, target = (side.to(device, non_blocking=True) for side in (self.source, self.target))
        gold = tuple(links.to(device, non_blocking=True) for links in self.gold)
        return Batch(source, target, self.is_full, gold)

    def __len__(self) -> int:
        return len(self.source)


@runtime_checkable
class Corpus(Protocol):
    """Pairs of ids by number."""

    def __len__(self) -> int: ...

    def __getitem__(self, i: int, /) -> tuple[Ids, Ids]: ...

    def lengths(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Tokens of every source and of every target, without BOS and EOS."""


@dataclass(frozen=True)
class MemoryCorpus:
    """A corpus small enough to be a list: tests, and sentences typed by hand."""

    pairs: Sequence[tuple[Sequence[int], Sequence[int]]]

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, i: int, /) -> tuple[Ids, Ids]:
        source, target = self.pairs[i]
        return np.asarray(source, dtype=np.int64), np.asarray(target, dtype=np.int64)

    def lengths(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Tokens of every source and of every target, without BOS and EOS."""
        sources = np.fromiter((len(source) for source, _ in self.pairs), np.int32, len(self))
        targets = np.fromiter((len(target) for _, target in self.pairs), np.int32, len(self))
        return sources, targets


@dataclass(frozen=True)
class Subset:
    """Some pairs of a corpus."""

    corpus: Corpus
    rows: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: int, /) -> tuple[Ids, Ids]:
        return self.corpus[int(self.rows[i])]

    def lengths(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Tokens of every source and of every target, without BOS and EOS."""
        sources, targets = self.corpus.lengths()
        return sources[self.rows], targets[self.rows]


def collate(corpus: Corpus, rows: Sequence[int] | Ids) -> Batch:
    """The batch of some pairs of a corpus, in the order given."""
    pairs = [corpus[int(i)] for i in rows]
    source = np.full((len(pairs), 1 + max(len(s) for s, _ in pairs)), PAD, dtype=np.int64)
    target = np.full((len(pairs), 2 + max(len(t) for _, t in pairs)), PAD, dtype=np.int64)
    target[:, 0] = BOS
    for row, (source_ids, target_ids) in enumerate(pairs):
        source[row, : len(source_ids)] = source_ids
        source[row, len(source_ids)] = EOS
        target[row, 1 : 1 + len(target_ids)] = target_ids
        target[row, 1 + len(target_ids)] = EOS
    return Batch(torch.from_numpy(source), torch.from_numpy(target))
