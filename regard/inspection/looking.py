"""Who looks at whom: attention among words, as pictures and reports show it."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from regard.errors import SizeError
from regard.shapes import Float, Tensor

Place = tuple[int, int]


@dataclass(frozen=True)
class Looking:
    """``weights[i][j]`` is how much of its attention row word i gives to column word j."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    weights: tuple[tuple[float, ...], ...]
    truth: tuple[Place, ...] = ()  # (row, column) of words that belong together
    focus: int | None = None  # the row that is spoken of

    def __post_init__(self) -> None:
        widths = {len(row) for row in self.weights}
        if len(self.weights) != len(self.rows) or widths - {len(self.columns)}:
            raise SizeError(
                f"{len(self.rows)} words that look at {len(self.columns)} need as many rows and "
                f"columns of weights; there are {len(self.weights)} rows of {sorted(widths)}"
            )

    @property
    def row(self) -> tuple[float, ...]:
        """The weights of the row that is spoken of, the first if none is."""
        return self.weights[self.focus or 0]


def by_words(
    weights: Float[Tensor, "... Q K"],
    query_words: Sequence[int],
    key_words: Sequence[int],
) -> Float[Tensor, "... R C"]:
    """From tokens to words: a word's row is the mean of its tokens' rows, its column their sum.

    ``query_words`` and ``key_words`` say which word each token belongs to, counted from 0.
    """
    if weights.shape[-2:] != (len(query_words), len(key_words)):
        raise SizeError(
            f"weights of {tuple(weights.shape[-2:])} tokens do not fit the words of "
            f"{len(query_words)} and {len(key_words)} tokens"
        )
    of_query, of_key = _membership(query_words, weights), _membership(key_words, weights)
    return (of_query / of_query.sum(0).clamp_min(1)).mT @ weights @ of_key


def _membership(words: Sequence[int], like: Tensor) -> Float[Tensor, "L W"]:
    table = torch.zeros(len(words), max(words, default=-1) + 1, dtype=like.dtype)
    table[range(len(words)), list(words)] = 1
    return table.to(like.device)
