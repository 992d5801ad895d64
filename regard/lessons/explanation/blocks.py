"""The blocks of a model as plain numbers, for a page that follows the hand of whoever tries them.

They are those of ``regard explain``, for any combination of masks, any table and any query.
"""

from collections.abc import Collection, Sequence
from typing import Literal

import torch
from pydantic import BaseModel, ConfigDict

from regard.attention import SCORES, batch_normalise, layer_normalise, masks, residual
from regard.errors import SizeError
from regard.lessons.explanation.masks import MaskedSentence, padded_words
from regard.lessons.explanation.normalisation import LECTURE_TABLE, worked_layer
from regard.lessons.explanation.positions import encoding
from regard.lessons.explanation.scores import scored_keys
from regard.shapes import Bool, Tensor

MaskName = Literal["causal", "padding", "window"]
Rows = list[list[float]]

N_ALIKE = 24  # places that are compared with each other
N_WORDS = 7
REACH = 1  # of a window


class _Numbers(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PositionNumbers(_Numbers):
    """The encoding of each place, and the products of the first places with each other."""

    encoding: Rows
    alike: Rows


class MaskNumbers(_Numbers):
    """Who may look where, and the weights that come of it; words beyond the end are ``<pad>``."""

    words: list[str]
    mask: list[list[bool]]
    weights: Rows


class NormNumbers(_Numbers):
    """Features (rows) of examples (columns), normalised both ways.

    ``residual`` takes the first example through a layer: x, F(x), F(x) + x and the norm of that.
    """

    table: Rows
    batch_norm: Rows
    layer_norm: Rows
    residual: Rows


class ScoreNumbers(_Numbers):
    """The weights that each score gives the same keys."""

    query: list[float]
    keys: Rows
    names: list[str]
    formulas: list[str]
    weights: Rows


def position_numbers(length: int, width: int) -> PositionNumbers:
    """The encoding of so many places in so many numbers."""
    table = encoding(length, width)
    few = table[:N_ALIKE]
    return PositionNumbers(encoding=table.tolist(), alike=(few @ few.T).tolist())


def mask_numbers(chosen: Collection[MaskName], seed: int = 0) -> MaskNumbers:
    """The chosen masks together, on one small sentence of random vectors."""
    sentence = MaskedSentence.random(N_WORDS, seed)
    words, n_real = padded_words(sentence.words)
    each: dict[MaskName, Bool[Tensor, "1 _ L"]] = {
        "causal": masks.causal(N_WORDS)[0],
        "padding": masks.padding(torch.tensor([n_real]), N_WORDS)[0],
        "window": masks.window(N_WORDS, reach=REACH)[0],
    }
    mask = torch.ones(1, N_WORDS, N_WORDS, dtype=torch.bool)
    for name in chosen:
        mask = mask & each[name]
    return MaskNumbers(
        words=words if "padding" in chosen else sentence.words,
        mask=mask[0].tolist(),
        weights=sentence.weights(mask).tolist(),
    )


def norm_numbers(given: Sequence[Sequence[float]] | None = None) -> NormNumbers:
    """Both norms of a table (the lecture's, if none is given), a residual around an example."""
    table = LECTURE_TABLE if given is None else given
    if not table or not table[0] or {len(row) for row in table} != {len(table[0])}:
        raise SizeError("a table to normalise has rows of one length, and at least one number")
    numbers = torch.tensor(table, dtype=torch.float64)
    # The library puts examples in rows; the table has them in columns.
    example = numbers[:, 0]
    added = residual(example, worked_layer)
    parts = [example, worked_layer(example), added, layer_normalise(added)]
    return NormNumbers(
        table=numbers.tolist(),
        batch_norm=batch_normalise(numbers.T).T.tolist(),
        layer_norm=layer_normalise(numbers.T).T.tolist(),
        residual=torch.stack(parts, -1).tolist(),
    )


def score_numbers(seed: int = 0, query: Sequence[float] | None = None) -> ScoreNumbers:
    """The eight scores on a query, its own or one that is given."""
    width = 4 if query is None else len(query)
    scored = scored_keys(width, seed)
    asked = scored.query if query is None else torch.tensor([query], dtype=torch.float32)
    return ScoreNumbers(
        query=asked[0].tolist(),
        keys=scored.keys.tolist(),
        names=list(SCORES),
        formulas=[attention.score.formula for attention in scored.attentions.values()],
        weights=[answer.weights[0, 0].tolist() for answer in scored.answers(asked)],
    )
