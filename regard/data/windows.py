"""Batches of one text: windows of the stream for a decoder alone, passages for an encoder alone."""

import numpy as np
import torch

from regard.data.batch import Batch, Ids
from regard.data.batching import Plan, Rows, check_share
from regard.errors import DataError
from regard.special import BOS, EOS, PAD

_SHORT = 0.1  # of passages are cut short, as BERT's are, so that short texts are known too


class Windows(Plan):
    """Every epoch cuts the stream anew into windows of ``context`` tokens, from another place on.

    A window has one token more than is read: each but the first is predicted from those before it.
    Each process takes its share of the windows of a batch.
    """

    def __init__(
        self,
        ids: Ids,
        context: int,
        seed: int,
        batch_tokens: int,
        rank: int = 0,
        n_ranks: int = 1,
    ) -> None:
        require_text(len(ids), context)
        self.ids, self.context, self.seed = ids, context, seed
        self.rank, self.n_ranks = rank, n_ranks
        self.n_rows = max(1, batch_tokens // context) * n_ranks
        check_share((len(ids) - 1) // context, "windows", batch_tokens, rank, n_ranks)

    def epoch(self, k: int) -> list[Rows]:
        """The first places of the windows of each batch."""
        random = np.random.default_rng([self.seed % 2**64, k])
        n = (len(self.ids) - 1) // self.context
        spare = len(self.ids) - 1 - n * self.context
        first = int(random.integers(0, self.context)) if n > 1 else int(random.integers(spare + 1))
        n = (len(self.ids) - 1 - first) // self.context
        starts: Rows = first + self.context * random.permutation(n)
        return _shared(starts, self.n_rows, self.rank, self.n_ranks)

    def batch(self, rows: Rows) -> Batch:
        """The windows that begin at these places; there is nothing to read beside them."""
        places = rows[:, None] + np.arange(self.context + 1)
        return text_batch(self.ids[places], is_full=True)


def require_text(n_tokens: int, context: int) -> None:
    """Refuse a text that is read at one glance: there would be nothing to learn from it."""
    if n_tokens <= context:
        raise DataError(
            f"the text has {n_tokens:,} tokens, and model.context = {context} are read at once: "
            "give more text, or a smaller context"
        )


def text_batch(ids: Ids, *, is_full: bool = False) -> Batch:
    """Rows of text to be read and predicted, and an empty source."""
    target = torch.from_numpy(ids.astype(np.int64))
    return Batch(target.new_empty(len(target), 0), target, is_full)


def held_out_windows(ids: Ids, context: int, most_tokens: int) -> list[Batch]:
    """Windows end to end, evenly spread where there are too many; the last may be shorter."""
    starts = np.arange(0, len(ids) - 1, context)
    most = max(1, most_tokens // context)
    if len(starts) > most:
        starts = starts[np.linspace(0, len(starts) - 1, most).astype(np.int64)]
    rows = np.full((len(starts), context + 1), PAD, dtype=np.int64)
    for row, start in zip(rows, starts, strict=True):
        window = ids[start : start + context + 1]
        row[: len(window)] = window
    size = max(1, 4_096 // context)
    return [text_batch(rows[i : i + size]) for i in range(0, len(rows), size)]


class Passages(Plan):
    """Every epoch cuts each document anew into passages that fit between BOS and EOS.

    A batch's sources are passages; words are taken out of them by the task that learns from them.
    """

    def __init__(
        self,
        ids: Ids,
        starts: Rows,
        context: int,
        seed: int,
        batch_tokens: int,
        rank: int = 0,
        n_ranks: int = 1,
    ) -> None:
        self.ids, self.seed = ids, seed
        self.rank, self.n_ranks = rank, n_ranks
        self.batch_tokens = batch_tokens
        self.most = context - 2  # BOS and EOS stand around
        # Documents stand between BOS and EOS already; a piece of one may not.
        inner = [(a + (ids[a] == BOS), b - (ids[b - 1] == EOS)) for a, b in _spans(starts)]
        self.documents = [(int(a), int(b)) for a, b in inner if b > a]
        if self.most < 1 or not self.documents:
            raise DataError(
                f"there is no text to cut into passages of model.context = {context} tokens: give "
                "more text, or a larger context"
            )
        check_share(len(self.cut(0)), "passages", batch_tokens, rank, n_ranks)

    def cut(self, k: int) -> Rows:
        """First place and end of every passage of epoch ``k``, in the order of the text."""
        random = np.random.default_rng([self.seed % 2**64, k])
        passages = []
        for begin, end in self.documents:
            while begin < end:
                is_short = self.most > 2 and random.random() < _SHORT
                size = int(random.integers(2, self.most)) if is_short else self.most
                passages.append((begin, min(end, begin + size)))
                begin += size
        return np.asarray(passages, dtype=np.int64)

    def epoch(self, k: int) -> list[Rows]:
        """The passages of each batch."""
        passages = self.cut(k)
        random = np.random.default_rng([self.seed % 2**64, k, 1])
        passages = passages[random.permutation(len(passages))]
        lengths = passages[:, 1] - passages[:, 0] + 2
        n_rows = max(1, int(self.batch_tokens / lengths.mean())) * self.n_ranks
        return _shared(passages, n_rows, self.rank, self.n_ranks)

    def batch(self, rows: Rows) -> Batch:
        """These passages between BOS and EOS, padded; there is nothing to write."""
        return passage_batch([self.ids[begin:end] for begin, end in rows.tolist()])


def passage_batch(passages: list[Ids]) -> Batch:
    """Passages between BOS and EOS, padded on the right, and an empty target."""
    longest = max(map(len, passages)) + 2
    source = np.full((len(passages), longest), PAD, dtype=np.int64)
    source[:, 0] = BOS
    for row, passage in zip(source, passages, strict=True):
        row[1 : 1 + len(passage)] = passage
        row[1 + len(passage)] = EOS
    read = torch.from_numpy(source)
    return Batch(read, read.new_empty(len(read), 0))


def _spans(starts: Rows) -> list[tuple[int, int]]:
    return list(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True))


def _shared(rows: Rows, n_rows: int, rank: int, n_ranks: int) -> list[Rows]:
    """One process' part of each batch; a rest that is not enough for all waits for next time."""
    cut = [rows[i : i + n_rows] for i in range(0, len(rows), n_rows)]
    whole = [batch for batch in cut if len(batch) == n_rows] or cut[:1]
    return [batch[rank::n_ranks] for batch in whole]
