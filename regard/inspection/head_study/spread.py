"""Is a regularity the work of one head, or of many? Gains over the best fixed answer, by head."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.inspection.head_study.findings import Finding, RelationShares
from regard.inspection.heads import Head

_NEAR = 0.5  # of the best gain: heads that have so much share the work


@dataclass(frozen=True)
class RelationSpread:
    """How the gain of one relation is spread over heads."""

    relation: str
    entropy: float  # bits of the gains, as shares
    n_effective: float  # 2 to the entropy: so many heads, if all gained alike
    top: tuple[float, ...]  # the share of the gain that the best 1, 2, ... heads have together
    heads: tuple[str, ...]  # that have half of the best gain or more, best first


@dataclass(frozen=True)
class Spread:
    """Gains of all heads on all relations, and what they tell."""

    heads: tuple[str, ...]
    relations: tuple[str, ...]
    gain: tuple[tuple[float, ...], ...]  # heads x relations: score - offset, negative ones too
    of_relation: tuple[RelationSpread, ...]
    overlap: tuple[tuple[float, ...], ...]  # cosine of the gains of two relations
    few: tuple[str, ...]  # heads that, taken one after the other, cover the most
    covered: tuple[float, ...]  # the share of all best gains that the first 1, 2, ... of them have


def spread_of(
    heads: Sequence[Head],
    chosen: RelationShares,
    measured: RelationShares,
    findings: dict[str, Finding],
) -> Spread:
    """What the gains tell; each head's way is the better one on the part that chose."""
    kept = [r for r, name in enumerate(measured.names) if name in findings]
    names = tuple(measured.names[r] for r in kept)
    way = chosen.right[kept].argmax(1)
    score = np.take_along_axis(measured.right[kept], way[:, None], 1)[:, 0]
    offset = np.array([findings[name].offset or 0.0 for name in names])
    gain = (score - offset[:, None]).T.astype(np.float64)  # H R
    few, covered = _few(np.maximum(gain, 0))
    return Spread(
        tuple(one.name for one in heads),
        names,
        tuple(tuple(round(float(one), 4) for one in row) for row in gain),
        tuple(_relation(names[r], heads, gain[:, r]) for r in range(len(names))),
        _overlap(np.maximum(gain, 0)),
        tuple(heads[h].name for h in few),
        covered,
    )


def _relation(name: str, heads: Sequence[Head], gain: np.ndarray) -> RelationSpread:
    positive = np.maximum(gain, 0)
    total = positive.sum()
    if total <= 0:
        return RelationSpread(name, 0.0, 0.0, (), ())
    share = np.sort(positive / total)[::-1]
    entropy = float(-(share[share > 0] * np.log2(share[share > 0])).sum())
    order = np.argsort(-positive, kind="stable")
    near = tuple(heads[h].name for h in order if positive[h] >= _NEAR * positive.max())
    top = tuple(round(float(one), 4) for one in np.cumsum(share)[:10])
    return RelationSpread(name, entropy, 2**entropy, top, near)


def _overlap(gain: np.ndarray) -> tuple[tuple[float, ...], ...]:
    norm = np.linalg.norm(gain, axis=0)
    unit = gain / np.where(norm > 0, norm, 1)
    return tuple(tuple(round(float(one), 4) for one in row) for row in unit.T @ unit)


def _few(gain: np.ndarray) -> tuple[list[int], tuple[float, ...]]:
    """Heads taken greedily, each for what it adds to the best gain so far of every relation."""
    best = gain.max(0).sum() if gain.size else 0.0
    taken: list[int] = []
    covered: list[float] = []
    so_far = np.zeros(gain.shape[1])
    while best > 0 and (not covered or covered[-1] < 0.999) and len(taken) < len(gain):
        added = np.maximum(gain, so_far).sum(1)
        head = int(added.argmax())
        taken.append(head)
        so_far = np.maximum(so_far, gain[head])
        covered.append(round(float(so_far.sum() / best), 4))
    return taken, tuple(covered)
