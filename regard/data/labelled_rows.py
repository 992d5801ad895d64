"""Rows of ids with their labels: what a classifier or a tagger learns from and is measured on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from regard.data.batch import Batch, Ids
from regard.data.batching import Batches, Rows
from regard.special import BOS, EOS, PAD
from regard.text.sentences import WordIds
from regard.text.tokenizer import Tokenizer

NOTHING = -1  # where no label is told: pieces that begin no word, and padding


@dataclass(frozen=True)
class LabelledRows:
    """Ids of whole rows, BOS and EOS included, and the labels: one a row, or one a place."""

    ids: Sequence[Ids]
    labels: Sequence[Ids]

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, i: int, /) -> tuple[Ids, Ids]:
        return self.ids[i], self.labels[i]

    def lengths(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Tokens of every row, twice: a batch is measured by what is read."""
        lengths = np.fromiter(map(len, self.ids), np.int32, len(self))
        return lengths, lengths


class LabelledBatches(Batches):
    """Rows of like length together, about ``batch_tokens`` tokens of text for each process."""

    def batch(self, rows: Rows) -> Batch:
        """The rows with these numbers, padded."""
        return labelled_batch([self.corpus[int(i)] for i in rows])


def labelled_batch(pairs: Sequence[tuple[Ids, Ids]]) -> Batch:
    """Rows padded on the right, and their labels, ``NOTHING`` where there is none."""
    ids, labels = zip(*pairs, strict=True)
    return Batch(_padded(ids, PAD), _padded(labels, NOTHING))


def _padded(rows: Sequence[Ids], padding: int) -> torch.Tensor:
    table = np.full((len(rows), max(map(len, rows))), padding, dtype=np.int64)
    for line, row in zip(table, rows, strict=True):
        line[: len(row)] = row
    return torch.from_numpy(table)


def text_row(tokenizer: Tokenizer, texts: Sequence[str], context: int) -> tuple[list[int], bool]:
    """One text or two as a model reads them, and whether they were cut to fit.

    ``BOS one EOS`` or ``BOS one EOS other EOS``; of two, the longer is cut first.
    """
    parts = tokenizer.encode_many(list(texts))
    room = context - 1 - len(parts)
    n_ids = sum(map(len, parts))
    if n_ids > room:
        first, second = parts[0], [*parts, []][1]
        n_first = max(room - len(second), (room + 1) // 2) if second else room
        parts[0] = first[:n_first]
        parts[1:] = [one[: room - len(parts[0])] for one in parts[1:]]
    return [BOS, *(one for part in parts for one in (*part, EOS))], n_ids > room


def word_rows(cut: WordIds, context: int) -> list[tuple[list[int], list[int]]]:
    """A sentence as rows that fit, and the place of each word's first id in its row.

    A sentence that is too long goes on in another row; of a word that is, the first ids are read.
    """
    bounds = [0, *cut.firsts[1:], len(cut.ids)]
    room = context - 2
    rows, ids, firsts = list[tuple[list[int], list[int]]](), [BOS], list[int]()
    for begin, end, first in zip(bounds, bounds[1:], cut.firsts, strict=False):
        word = cut.ids[begin:end][:room]
        if len(ids) - 1 + len(word) > room:
            rows.append(([*ids, EOS], firsts))
            ids, firsts = [BOS], []
        firsts.append(len(ids) + first - begin)
        ids += word
    rows.append(([*ids, EOS], firsts))
    return rows
