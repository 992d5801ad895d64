"""Forced choice: of two sentences that differ in one place, does a model prefer the good one?

A language model goes by ``log P(sentence)``, one that fills gaps by its pseudo-log-likelihood, a
translator by ``log P(target | source)``. A tie counts half, so that chance is 50 %. Sums favour
short sentences, means long ones: both are told.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from regard.counting import counted
from regard.data.minimal_pairs import MinimalPair, read_minimal_pairs
from regard.evaluation.ngrams import NgramModel
from regard.inspection.ablation import ablated
from regard.inspection.heads import Head, all_heads
from regard.shapes import Float
from regard.special import UNKNOWN
from regard.systems.control_models import count_text, ngram_models, untrained
from regard.systems.evaluation import ScoreTable, TabledScores
from regard.systems.opened import OpenedModel
from regard.systems.results import Result, Scored
from regard.systems.scoring import windows
from regard.text.words import cut

Told = Callable[[str, int, int], None]  # what is being done, how many sentences, of how many
MODEL, ALL = "model", "all"
_Z = 1.959964  # of 95 %
_TOGETHER = 4_096  # sentences between two looks at the clock


@dataclass(frozen=True, repr=False)
class ShareRight(Result):
    """The share of pairs of which the good sentence is preferred, with its 95 % interval."""

    share: float
    low: float
    high: float

    @classmethod
    def of(cls, right: Float[np.ndarray, " n"]) -> "ShareRight":
        """By the interval of Wilson (1927), which never leaves 0 to 1."""
        n, share = len(right), float(right.mean())
        middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        half = _Z / (1 + _Z**2 / n) * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
        return cls(share, max(0.0, middle - half), min(1.0, middle + half))


@dataclass(frozen=True, repr=False)
class Preference(Result):
    """How often somebody prefers the good sentence: by the sum and by the mean of log P."""

    n_pairs: int
    total: ShareRight
    per_token: ShareRight
    unknown: float  # share of its tokens that its vocabulary does not have


@dataclass(frozen=True, repr=False)
class BreakingHead(Result):
    """The head whose loss hurts a paradigm most, and how much it hurts the others.

    The head is chosen on every other pair, and its falls are measured on the rest.
    """

    head: str
    before: float
    fall: float
    fall_elsewhere: float  # mean over the other paradigms


@dataclass(frozen=True, repr=False)
class Challenge(TabledScores):
    """How often a model prefers the good sentence, a row a phenomenon, beside its controls."""

    model: str
    rows: dict[str, dict[str, Preference]]  # by phenomenon and "all"; then "model" and controls
    paradigms: dict[str, dict[str, Preference]]
    heads: dict[str, BreakingHead] = field(default_factory=dict)  # by paradigm
    notes: tuple[str, ...] = ()

    @property
    def scores(self) -> Mapping[str, float]:
        """The share of right choices by phenomenon."""
        return {name: row[MODEL].total.share for name, row in self.rows.items()}

    def to_dict(self) -> dict[str, Any]:
        """All of it, and what chance gives."""
        return asdict(self) | {"chance": 0.5}

    def table(self, *, by_paradigm: bool = False) -> ScoreTable:
        """A row a phenomenon, or a paradigm."""
        rows = self.paradigms | {ALL: self.rows[ALL]} if by_paradigm else self.rows
        controls = [name for name in self.rows[ALL] if name != MODEL]
        return ScoreTable(
            f"{self.model}: {counted(self.rows[ALL][MODEL].n_pairs, 'minimal pair')}, % right",
            (
                "paradigm" if by_paradigm else "phenomenon",
                *("pairs", "model", "95 %", "per token", "unknown"),
                *controls,
                "chance",
            ),
            [(name, *_cells(row), *_shares(row, controls), "50.0") for name, row in rows.items()],
            self.notes,
        )

    def heads_table(self) -> ScoreTable:
        """A row a paradigm: the head that breaks it."""
        return ScoreTable(
            "Which head's ablation breaks what (points; heads chosen on half of the pairs)",
            ("paradigm", "head", "before", "fall", "fall elsewhere"),
            [
                (name, one.head, *(f"{100 * value:.1f}" for value in _values(one)))
                for name, one in self.heads.items()
            ],
        )


def _cells(row: Mapping[str, Preference]) -> tuple[str, ...]:
    own = row[MODEL]
    interval = f"{100 * own.total.low:.1f} to {100 * own.total.high:.1f}"
    numbers = own.total.share, own.per_token.share, own.unknown
    share, per_token, unknown = (f"{100 * number:.1f}" for number in numbers)
    return f"{own.n_pairs:,}", share, interval, per_token, unknown


def _shares(row: Mapping[str, Preference], names: Sequence[str]) -> list[str]:
    return [f"{100 * row[name].total.share:.1f}" for name in names]


def _values(one: BreakingHead) -> tuple[float, float, float]:
    return one.before, one.fall, one.fall_elsewhere


@dataclass(frozen=True, eq=False)
class SentenceScores:
    """What somebody gives to both sentences of each pair."""

    totals: Float[np.ndarray, "n 2"]  # log P
    lengths: Float[np.ndarray, "n 2"]
    n_unknown: Float[np.ndarray, "n 2"]

    @classmethod
    def of(cls, found: Sequence[tuple[float, int, int]]) -> "SentenceScores":
        """From sums, lengths and unknown tokens of good and bad sentences in turn."""
        table = np.array(found, np.float64).reshape(-1, 2, 3)
        return cls(table[..., 0], np.maximum(table[..., 1], 1), table[..., 2])

    def right(self, *, per_token: bool = False) -> Float[np.ndarray, " n"]:
        """1 where the good sentence is preferred, 0 where the bad one is, a half for a tie."""
        values = self.totals / self.lengths if per_token else self.totals
        # What the order of a batch does to the last bits decides nothing.
        gap = np.round(values[:, 0] - values[:, 1], 6)
        right: Float[np.ndarray, " n"] = (np.sign(gap) + 1) / 2
        return right

    def preference(self, rows: npt.NDArray[np.intp]) -> Preference:
        """Of some of the pairs."""
        return Preference(
            len(rows),
            ShareRight.of(self.right()[rows]),
            ShareRight.of(self.right(per_token=True)[rows]),
            float(self.n_unknown[rows].sum() / self.lengths[rows].sum()),
        )


def challenge(
    opened: OpenedModel,
    pairs: str | Path | Iterable[MinimalPair],
    *,
    text: str | Path | None = None,
    limit: int | None = None,
    controls: bool = True,
    ablate_heads: bool = False,
    told: Told = lambda doing, n, total: None,
) -> Challenge:
    """Hold a model against minimal pairs; the arguments are those of the model's method."""
    given = read_minimal_pairs(pairs, limit) if isinstance(pairs, str | Path) else list(pairs)
    scored = {MODEL: score_pairs(opened, given, told)}
    notes = _notes(opened, given)
    if controls:
        counted_text, said = count_text(opened, text)
        models = {} if counted_text is None else ngram_models(counted_text)
        scored |= {name: score_by_words(one, given) for name, one in models.items()}
        scored["untrained"] = score_pairs(untrained(opened), given, told, "untrained")
        for one in list(scored.values())[1:2] if models else ():
            said += (
                f" {100 * one.n_unknown.sum() / one.lengths.sum():.1f} % of the set's are unseen."
            )
        notes.append(said)
    phenomena, paradigms = _rows([one.phenomenon for one in given]), _rows(_labels(given))
    heads = breaking_heads(opened, given, scored[MODEL], paradigms, told) if ablate_heads else {}

    def by(groups: Mapping[str, npt.NDArray[np.intp]]) -> dict[str, dict[str, Preference]]:
        return {
            name: {who: one.preference(rows) for who, one in scored.items()}
            for name, rows in groups.items()
        }

    phenomena[ALL] = np.arange(len(given))
    return Challenge(str(opened.loaded.path), by(phenomena), by(paradigms), heads, tuple(notes))


def score_pairs(
    opened: OpenedModel, pairs: Sequence[MinimalPair], told: Told, doing: str = MODEL
) -> SentenceScores:
    """What a model gives to each sentence."""
    texts = [text for one in pairs for text in (one.good, one.bad)]
    sources = [one.source for one in pairs for _ in range(2)]
    takes_sources = bool(opened.reads_sources and sources[0])
    found: list[tuple[float, int, int]] = []
    for rows in windows(range(len(texts)), _TOGETHER):
        told(doing, len(found), len(texts))
        mine = [sources[row] for row in rows] if takes_sources else None
        scores = opened.score_texts([texts[row] for row in rows], mine)
        found += [_summed(one) for one in scores]
    told(doing, len(texts), len(texts))
    return SentenceScores.of(found)


def _summed(one: Scored) -> tuple[float, int, int]:
    return one.log_probability, len(one.tokens), one.tokens.count(UNKNOWN)


def score_by_words(model: NgramModel, pairs: Sequence[MinimalPair]) -> SentenceScores:
    """What an n-gram model gives to each sentence; it reads no sources."""
    sentences = [cut(text) for one in pairs for text in (one.good, one.bad)]
    known = model.text.vocabulary
    return SentenceScores.of(
        [
            (float(values.sum()), len(words), sum(word not in known for word in words))
            for words, values in zip(sentences, model.log_probabilities(sentences), strict=True)
        ]
    )


def breaking_heads(
    opened: OpenedModel,
    pairs: Sequence[MinimalPair],
    before: SentenceScores,
    paradigms: Mapping[str, npt.NDArray[np.intp]],
    told: Told,
) -> dict[str, BreakingHead]:
    """Of each paradigm the head that it needs most, and whether others need it as much."""
    falls: dict[Head, Float[np.ndarray, " n"]] = {}
    for head in all_heads(opened.model):
        with ablated(opened.model, head):
            after = score_pairs(opened, pairs, told, head.name)
        falls[head] = before.right() - after.right()
    found = {}
    for name, rows in paradigms.items():
        chooses, measures = rows[::2], rows[1::2] if len(rows) > 1 else rows
        head = max(falls, key=lambda one: float(falls[one][chooses].mean()))
        if falls[head][chooses].mean() <= 0:
            found[name] = BreakingHead("none", float(before.right()[measures].mean()), 0.0, 0.0)
            continue
        others = [mine[1::2] for other, mine in paradigms.items() if other != name]
        elsewhere = [float(falls[head][mine].mean()) for mine in others if len(mine)]
        found[name] = BreakingHead(
            head.name,
            float(before.right()[measures].mean()),
            float(falls[head][measures].mean()),
            float(np.mean(elsewhere)) if elsewhere else 0.0,
        )
    return found


def _rows(names: Sequence[str]) -> dict[str, npt.NDArray[np.intp]]:
    """The numbers of the pairs of each group."""
    found: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        found.setdefault(name, []).append(row)
    return {name: np.array(rows, np.intp) for name, rows in found.items()}


def _labels(pairs: Sequence[MinimalPair]) -> list[str]:
    """The paradigm of each pair, with its phenomenon where two have one of that name."""
    both = {(one.paradigm, one.phenomenon) for one in pairs}
    often = Counter(paradigm for paradigm, _ in both)
    return [
        one.paradigm if often[one.paradigm] == 1 else f"{one.phenomenon}: {one.paradigm}"
        for one in pairs
    ]


def _notes(opened: OpenedModel, pairs: Sequence[MinimalPair]) -> list[str]:
    notes = []
    if pairs[0].source and not opened.reads_sources:
        notes.append("The set has sources, and this model reads the sentences alone.")
    n_same = sum(one.good == one.bad for one in pairs)
    if n_same:
        notes.append(f"{counted(n_same, 'pair')} of equal sentences: a tie, which counts half.")
    return notes
