"""Findings: the head that a ruler chose on one part of the sentences, measured on another.

Head and way are chosen by the share of right answers on one part; so is the fixed answer beside
it. On the other part all are measured. Sentences are drawn with replacement for the intervals.
Controls go through the same choice: the network with random weights, and shuffled answers.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from regard.inspection.head_study.trials import EVERYTHING, Trials
from regard.inspection.heads import Head

N_DRAWS = 1000
LEAST = 20  # answers in each part; with fewer, a share says nothing
_SEED = 0


@dataclass(frozen=True)
class Finding:
    """The best head of a ruler, and what stands beside it; shares are of one."""

    kind: str
    layer: int
    head: int
    direction: str
    score: float
    low: float
    high: float
    offset: float | None  # the best fixed answer; none where the ruler is itself one
    offset_name: str | None
    random: float | None  # mean over seeds
    shuffled: float
    n: int
    n_choosing: int
    chosen_score: float  # on the part that chose
    gain_low: float  # of score - offset, by the same draws
    is_sure: bool  # above all three by its interval

    @property
    def name(self) -> str:
        """The head, as people write it."""
        return Head(self.kind, self.layer, self.head).name

    @property
    def gain(self) -> float:
        """What the head has over the fixed answer."""
        return self.score - (self.offset or 0.0)


@dataclass(frozen=True)
class RelationShares:
    """Shares of right answers by relation: ``right`` R W H, ``shuffled`` R W H, ``fixed`` R F."""

    names: tuple[str, ...]
    n: np.ndarray
    right: np.ndarray
    shuffled: np.ndarray
    fixed: np.ndarray


def tabulate(trials: Trials, names: Sequence[str]) -> RelationShares:
    """Shares by relation; ``all`` is every trial."""
    member = np.stack([_is_of(trials, name) for name in names], 1).astype(np.float32)
    n = member.sum(0)

    def share(values: np.ndarray) -> np.ndarray:
        flat = values.reshape(len(values), math.prod(values.shape[1:])).astype(np.float32)
        found: np.ndarray = (member.T @ flat) / np.maximum(n, 1)[:, None]
        return np.reshape(found, (len(names), *values.shape[1:]))

    parts = (share(one) for one in (trials.right, trials.shuffled, trials.fixed))
    return RelationShares(tuple(names), n.astype(int), *parts)


def common_names(*parts: Trials, with_all: bool) -> list[str]:
    """The relations with enough trials in every part, the most frequent first."""
    counts = [dict(zip(*np.unique(one.label, return_counts=True), strict=True)) for one in parts]
    names = [name for name in counts[0] if all(c.get(name, 0) >= LEAST for c in counts)]
    names.sort(key=lambda name: (-counts[-1][name], name))
    is_enough = with_all and all(len(one.label) >= LEAST for one in parts)
    return [EVERYTHING] * (is_enough and EVERYTHING not in names) + names


def find(
    heads: Sequence[Head],
    choosing: Trials,
    measuring: Trials,
    random: Sequence[tuple[Trials, Trials]] = (),
    *,
    has_offset: bool = True,
    with_all: bool = False,
) -> dict[str, Finding]:
    """For each relation its best head, chosen on one part and measured on the other."""
    names = common_names(choosing, measuring, with_all=with_all)
    if not names:
        return {}
    chosen, measured = tabulate(choosing, names), tabulate(measuring, names)
    controls = random_shares(names, random)
    found = {}
    draws = _Draws(measuring.sentence)
    for r, name in enumerate(names):
        way, head = _best(chosen.right[r])
        fixed = int(chosen.fixed[r].argmax())
        lots = _best(chosen.shuffled[r])
        is_of = _is_of(measuring, name)
        right, beside = measuring.right[is_of, way, head], measuring.fixed[is_of, fixed]
        low, high, gain_low = draws.interval(is_of, right, beside)
        score, offset = float(measured.right[r, way, head]), float(measured.fixed[r, fixed])
        shuffled, control = float(measured.shuffled[r][lots]), controls.get(name)
        rivals = [shuffled, *([] if control is None else [control])]
        found[name] = Finding(
            **vars(heads[head]),
            direction=measuring.ways[way],
            score=score,
            low=low,
            high=high,
            offset=offset if has_offset else None,
            offset_name=measuring.fixed_names[fixed] if has_offset else None,
            random=control,
            shuffled=shuffled,
            n=int(measured.n[r]),
            n_choosing=int(chosen.n[r]),
            chosen_score=float(chosen.right[r, way, head]),
            gain_low=gain_low if has_offset else low,
            is_sure=low > max(rivals) and (not has_offset or gain_low > 0),
        )
    return found


def random_shares(
    names: Sequence[str], random: Sequence[tuple[Trials, Trials]]
) -> Mapping[str, float]:
    """What the same choice finds in networks that have learned nothing, the mean over them."""
    found: dict[str, list[float]] = {name: [] for name in names}
    for choosing, measuring in random:
        chosen, measured = tabulate(choosing, names), tabulate(measuring, names)
        for r, name in enumerate(names):
            if chosen.n[r] and measured.n[r]:
                found[name].append(float(measured.right[r][_best(chosen.right[r])]))
    return {name: float(np.mean(values)) for name, values in found.items() if values}


def halves(trials: Trials) -> tuple[Trials, Trials]:
    """Every other sentence, and the rest."""
    is_even = trials.sentence % 2 == 0
    return trials.of(is_even), trials.of(~is_even)


class _Draws:
    """Sentences drawn with replacement; all relations are measured on the same draws."""

    def __init__(self, sentences: np.ndarray) -> None:
        known, self.rows = np.unique(sentences, return_inverse=True)
        generator = np.random.default_rng(_SEED)
        even = np.full(len(known), 1 / max(1, len(known)))
        self.counts = generator.multinomial(len(known), even, N_DRAWS).astype(np.float32)

    def interval(
        self, is_of: np.ndarray, right: np.ndarray, beside: np.ndarray
    ) -> tuple[float, float, float]:
        """95 % of the shares lie between the first two; 97.5 % of the gains above the third."""
        rows, n = self.rows[is_of], self.counts.shape[1]
        ones = np.ones(len(rows), np.float32)
        sums = [np.bincount(rows, one, n) for one in (right, beside, ones)]
        drawn = self.counts @ np.stack(sums, 1).astype(np.float32)
        n_drawn = np.maximum(drawn[:, 2], 1)
        low, high = np.quantile(drawn[:, 0] / n_drawn, [0.025, 0.975])
        gain = np.quantile((drawn[:, 0] - drawn[:, 1]) / n_drawn, 0.025)
        return float(low), float(high), float(gain)


def mean_interval(values: np.ndarray, weights: np.ndarray) -> tuple[float, float, float]:
    """The mean of sums a sentence over so many words, and its interval by draws of sentences."""
    generator = np.random.default_rng(_SEED)
    even = np.full(len(values), 1 / max(1, len(values)))
    counts = generator.multinomial(len(values), even, N_DRAWS)
    drawn = (counts @ values) / np.maximum(counts @ weights, 1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(values.sum() / max(1, weights.sum())), float(low), float(high)


def _is_of(trials: Trials, name: str) -> np.ndarray:
    is_known = name == EVERYTHING and not (trials.label == EVERYTHING).any()
    return np.ones(len(trials.label), bool) if is_known else trials.label == name


def _best(shares: np.ndarray) -> tuple[int, int]:
    way, head = np.unravel_index(int(shares.argmax()), shares.shape)
    return int(way), int(head)
