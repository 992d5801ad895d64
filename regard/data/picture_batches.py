"""Batches of pictures: all of one size, so a batch is any so many of them."""

from collections.abc import Sequence

import numpy as np
import torch

from regard.data.batch import Batch
from regard.data.batching import Plan, Rows, check_share
from regard.data.picture_sets import PictureSet


class PictureBatches(Plan):
    """A set of pictures as batches of exactly ``n_pictures`` for each of ``n_ranks``.

    ``rows`` are those that are read, where not all are; a large set stays where it is.
    Sources are pixels from -1 to 1, targets the number of the class, or 0 where there are none.
    What is left of an epoch beyond whole batches is not read in it.
    """

    def __init__(
        self,
        pictures: PictureSet,
        seed: int,
        n_pictures: int,
        rank: int = 0,
        n_ranks: int = 1,
        rows: Rows | None = None,
    ) -> None:
        self.rows = np.arange(len(pictures)) if rows is None else rows
        check_share(len(self.rows), "pictures", n_pictures, rank, n_ranks)
        self.pictures, self.seed = pictures, seed
        self.n_pictures = min(n_pictures, len(self.rows) // n_ranks)
        self.rank, self.n_ranks = rank, n_ranks

    def epoch(self, k: int) -> Sequence[Rows]:
        """All pictures in an order of the epoch's own."""
        order = np.random.default_rng([self.seed % 2**64, k]).permutation(self.rows)
        together = self.n_pictures * self.n_ranks
        n_batches = len(order) // together
        whole = order[: n_batches * together].reshape(n_batches, together)
        return list(whole[:, self.rank :: self.n_ranks])

    def batch(self, rows: Rows) -> Batch:
        """These pictures, and the class of each."""
        labels = self.pictures.labels
        classes = np.zeros(len(rows), np.int64) if labels is None else labels[rows]
        return Batch(self.pictures.numbers(rows), torch.from_numpy(classes)[:, None])
