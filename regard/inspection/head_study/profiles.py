"""Every head by itself: where its weight goes, and what it is called."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from regard.inspection.head_study.findings import Finding, RelationShares, mean_interval, tabulate
from regard.inspection.head_study.report import HeadProfile, ShareFinding
from regard.inspection.head_study.spread import Spread
from regard.inspection.head_study.trials import EVERYTHING, FURTHEST, NEIGHBOURS, Shares, Trials
from regard.inspection.head_study.wording import GAINS, name_head
from regard.inspection.heads import Head

_SHOWN = 3  # offsets on either side
_SHARE_OF_BEST = 0.5

Pair = tuple[Shares, Shares]


def share_findings(
    heads: Sequence[Head], chosen: Shares, measured: Shares, random: Sequence[Pair]
) -> dict[str, dict[str, ShareFinding]]:
    """Heads that rest on special tokens or punctuation, and the sharpest and the evenest head."""
    chance = float(measured.by_chance.sum() / max(1, measured.n_words.sum()))

    def of(
        name: str, pick: Callable[[np.ndarray], np.intp], chance: float | None = None
    ) -> ShareFinding:
        head = int(pick(_means(getattr(chosen, name), chosen)))
        mean, low, high = mean_interval(getattr(measured, name)[:, head], measured.n_words)
        lots = [
            _means(getattr(b, name), b)[int(pick(_means(getattr(a, name), a)))] for a, b in random
        ]
        control = float(np.mean(lots)) if lots else None
        one = heads[head]
        n = int(measured.n_words.sum())
        return ShareFinding(one.kind, one.layer, one.head, mean, low, high, chance, control, n)

    return {
        "sinks": {
            "special tokens": of("special", np.argmax),
            "punctuation": of("punctuation", np.argmax, chance),
        },
        "entropy": {"sharpest": of("entropy", np.argmin), "evenest": of("entropy", np.argmax)},
    }


def profiles(
    heads: Sequence[Head],
    shares: Shares,
    neighbours: Trials,
    tables: tuple[RelationShares, RelationShares],
    spread: Spread,
    rulers: Mapping[str, Mapping[str, Finding]],
    coreference: Mapping[str, Mapping[str, Finding]],
) -> tuple[HeadProfile, ...]:
    """Every head with its name in plain words."""
    near = tabulate(neighbours, list(NEIGHBOURS.values()))
    even = float((np.log2(shares.n_words + 1) * shares.n_words).sum() / shares.n_words.sum())
    parts: dict[str, Any] = {
        name: _means(getattr(shares, name), shares)
        for name in ("special", "punctuation", "own", "entropy", "offsets")
    }
    found = {
        "rare": {one.name for one in rulers["rare"].values() if one.is_sure},
        "coreference": {
            one.name for several in coreference.values() for one in several.values() if one.is_sure
        },
    }
    sure = {
        name: max(one.offset or 0.0, one.random or 0.0, one.shuffled)
        for name, one in rulers["relations"].items()
        if one.is_sure and name != EVERYTHING
    }
    made = []
    for h, head in enumerate(heads):
        relations = _served(h, tables, spread, sure)
        group, said = name_head(
            {name: float(near.right[k, 0, h]) for k, name in enumerate(near.names)},
            relations,
            [name for name, chosen in found.items() if head.name in chosen],
            float(parts["special"][h]),
            float(parts["punctuation"][h]),
            float(parts["entropy"][h]) / even,
        )
        offsets = {
            f"{k:+d}": round(float(parts["offsets"][h, k + FURTHEST]), 4)
            for k in range(-_SHOWN, _SHOWN + 1)
            if k
        }
        special, signs, own, entropy = (
            float(parts[name][h]) for name in ("special", "punctuation", "own", "entropy")
        )
        made.append(
            HeadProfile(head.name, group, said, special, signs, own, entropy, offsets, relations)
        )
    return tuple(made)


def _served(
    h: int, tables: tuple[RelationShares, RelationShares], spread: Spread, sure: Mapping[str, float]
) -> tuple[tuple[str, str, float, float], ...]:
    """The relations on which a head gains much, and at least half of what the best head gains.

    ``sure`` has for each relation that some head follows the best of its rivals.
    """
    chosen, measured = tables
    gain = np.array(spread.gain).reshape(len(spread.heads), -1)
    served = []
    for r, name in enumerate(spread.relations):
        if name in sure and gain[h, r] >= _SHARE_OF_BEST * gain[:, r].max():
            at = measured.names.index(name)
            way = int(chosen.right[at, :, h].argmax())
            direction = ("dependent to governor", "governor to dependent")[way]
            score = float(measured.right[at, way, h])
            if score - sure[name] >= GAINS:
                served.append((name, direction, round(score, 4), float(gain[h, r])))
    return tuple(sorted(served, key=lambda one: -one[3]))


def _means(values: np.ndarray, shares: Shares) -> np.ndarray:
    """Means over words of sums a sentence."""
    found: np.ndarray = values.sum(0) / max(1, shares.n_words.sum())
    return found
