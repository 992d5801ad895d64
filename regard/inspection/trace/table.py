"""One site as people read it: rows and columns with labels, heads, and what the labels mean."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from regard.errors import UsageError, shortened
from regard.inspection.trace.trace import Trace
from regard.inspection.trace.ways import ATTENTIONS, AttentionKind, Kind
from regard.shapes import Bool, Float
from regard.text.tokens import Label

READINGS = ("predicting", "reading")


@dataclass(frozen=True, eq=False)
class Table:
    """The weights of a site between labelled rows and columns.

    ``reading`` says how rows of the decoder are labelled: by the word that the step predicts, or by
    the word that it has just read, which is the one before.
    """

    kind: Kind
    layer: int
    heads: tuple[int, ...]  # their numbers in the model
    rows: tuple[Label, ...]
    columns: tuple[Label, ...]
    weights: Float[np.ndarray, "H R C"]
    reading: str

    @property
    def mean(self) -> Float[np.ndarray, "R C"]:
        """Over the heads."""
        average: Float[np.ndarray, "R C"] = self.weights.mean(0)
        return average

    @property
    def attention(self) -> AttentionKind:
        """What its rows and columns are."""
        return ATTENTIONS[self.kind]

    @property
    def row_meaning(self) -> str:
        """What stands above the rows."""
        return f"when {self.reading}" if self.attention.has_readings else "looking from"

    @property
    def is_hidden(self) -> Bool[np.ndarray, "R C"]:
        """The cells that no row can see: what comes later, where attention looks back alone."""
        if not self.attention.is_causal:
            return np.zeros((len(self.rows), len(self.columns)), bool)
        last = np.array([max(label.places) for label in self.rows], int)
        first = np.array([min(label.places) for label in self.columns], int)
        later: Bool[np.ndarray, "R C"] = first[None] > last[:, None]
        return later

    def without_special(self) -> "Table":
        """Leave out the rows and columns of <s> and </s>; the other weights stay as they are."""
        rows = [i for i, label in enumerate(self.rows) if not label.is_special]
        columns = [j for j, label in enumerate(self.columns) if not label.is_special]
        return replace(
            self,
            rows=tuple(self.rows[i] for i in rows),
            columns=tuple(self.columns[j] for j in columns),
            weights=self.weights[:, rows][:, :, columns],
        )

    def made_whole(self) -> "Table":
        """Let the shares of each row sum to one again, where anything is left of it."""
        totals = self.weights.sum(-1, keepdims=True)
        whole = np.divide(self.weights, totals, out=self.weights.copy(), where=totals > 0)
        return replace(self, weights=whole)

    def row(self, word: int | str) -> int:
        """The row of a word, by its number (from 0, as rows are shown) or its text."""
        if isinstance(word, int):
            if not 0 <= word < len(self.rows):
                raise UsageError(f"there is no word {word}: choose 0 to {len(self.rows) - 1}")
            return word
        wanted = word.casefold()
        for i, label in enumerate(self.rows):
            if label.text.casefold() == wanted:
                return i
        said = " ".join(label.text for label in self.rows)
        raise UsageError(f"the word {word!r} is not among the rows of {self.kind}: {said}")


@dataclass(frozen=True, eq=False, repr=False)
class AttentionMatrix:
    """Weights with names: ``values[i, j]`` is how much row i looks at column j."""

    values: Float[np.ndarray, "R C"]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    site: str  # "cross.1"
    head: int | None  # None: the mean of all

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype, copy=copy is not False)

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.values.shape

    def to_dict(self) -> dict[str, Any]:
        """Names and numbers as plain data."""
        return {
            "site": self.site,
            "head": self.head,
            "rows": list(self.rows),
            "columns": list(self.columns),
            "values": self.values.tolist(),
        }

    def __repr__(self) -> str:
        whose = "mean of heads" if self.head is None else f"head {self.head}"
        size = f"{len(self.rows)} × {len(self.columns)}"
        return f"AttentionMatrix({self.site}, {whose}, {size}: {shortened(' '.join(self.rows))!r})"


def attention_matrix(
    trace: Trace, kind: str, layer: int | None, head: int | None, *, merges: bool
) -> AttentionMatrix:
    """The weights of one head, or the mean of all, by words or by tokens."""
    found = table(trace, kind, layer, heads=None if head is None else [head], merges=merges)
    rows, columns = (tuple(one.text for one in side) for side in (found.rows, found.columns))
    return AttentionMatrix(found.mean, rows, columns, f"{found.kind}.{found.layer}", head)


def table(
    trace: Trace,
    kind: str,
    layer: int | None = None,
    *,
    heads: Sequence[int] | None = None,
    reading: str | None = None,
    merges: bool = True,
) -> Table:
    """The weights of one site, tokens merged into words if wanted.

    The column of a word is the sum over its tokens, its row their mean.
    """
    site = trace.site(kind, trace.default_layer(kind) if layer is None else layer)
    attention = site.attention
    read_as = reading or attention.reading
    side, queries = trace.read(attention.rows)
    if attention.has_readings and read_as == "predicting":
        queries = side.tokens
    rows = side.labels(queries, merges=merges)
    side, keys = trace.read(attention.columns)
    columns = side.labels(keys, merges=merges)
    chosen = _checked_heads(heads, site.n_heads, site.name)
    weights = site.weights[list(chosen)]
    merged = _merged(weights, rows, columns)
    return Table(site.kind, site.layer, chosen, rows, columns, merged, read_as)


def looks_of_steps(
    trace: Trace, layer: int | None = None, heads: Sequence[int] | None = None
) -> Table | None:
    """Where each step looked, a row of tokens each; none if the model never looks."""
    kind = trace.way.looks
    if not trace.layers(kind):
        return None
    found = table(trace, kind, layer, heads=heads, reading="predicting", merges=False)
    if not trace.way.has_gaps:
        return found
    gaps = list(trace.source.gaps)  # a word that was taken out is found from its own place
    rows = tuple(found.rows[place] for place in gaps)
    return replace(found, rows=rows, weights=found.weights[:, gaps])


def _checked_heads(heads: Sequence[int] | None, n_heads: int, name: str) -> tuple[int, ...]:
    chosen = tuple(range(n_heads)) if heads is None else tuple(heads)
    wrong = [head for head in chosen if not 0 <= head < n_heads]
    if wrong or not chosen:
        given = f"head {wrong[0]}" if wrong else "no head"
        raise UsageError(f"{name} cannot show {given}: choose among 0 to {n_heads - 1}")
    return chosen


def _merged(
    weights: Float[np.ndarray, "H Q K"], rows: Sequence[Label], columns: Sequence[Label]
) -> Float[np.ndarray, "H R C"]:
    if all(len(label.places) == 1 for label in (*rows, *columns)):
        return weights
    of_row = np.zeros((len(rows), weights.shape[1]), np.float32)
    of_column = np.zeros((weights.shape[2], len(columns)), np.float32)
    for i, label in enumerate(rows):
        of_row[i, list(label.places)] = 1 / len(label.places)
    for j, label in enumerate(columns):
        of_column[list(label.places), j] = 1
    merged: Float[np.ndarray, "H R C"] = of_row @ weights @ of_column
    return merged
