"""Alignment error of every cross head: which head looks at the word that it translates?"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from regard.corpora import is_extract
from regard.data import read_annotated_pairs
from regard.data.lines import read_lines
from regard.errors import DataError, UsageError
from regard.evaluation import GoldAlignment, parse_gold
from regard.inspection.head_study.report import AlignmentFinding
from regard.inspection.heads import all_heads
from regard.models import EncoderDecoder, Model
from regard.systems.alignment import SHIFTS, Extraction, align_in_ways
from regard.systems.opened import OpenedModel
from regard.text.sentences import Units, read_units
from regard.text.words import join

N_DRAWS = 1000
_TOGETHER = 32
_FURTHEST = 5
_BETWEEN = " ||| "

Counts = np.ndarray  # sentences x ways x (right, allowed, found, sure)
Link = tuple[int, int]
WordPair = tuple[Sequence[str], Sequence[str]]


def read_aligned(spec: str, first: int) -> list[tuple[WordPair, GoldAlignment]]:
    """Pairs of word lists with gold: a corpus, ``pairs|gold`` (a ||| b), or ``source|target|gold``.

    Words are what spaces part; ``first`` is the number of the first word.
    """
    if is_extract(spec) and not Path(spec).exists():
        return [
            (
                (
                    tuple(word.text for word in pair.source.words),
                    tuple(word.text for word in pair.target.words),
                ),
                GoldAlignment(frozenset(pair.alignment), frozenset()),
            )
            for pair in read_annotated_pairs(spec)
        ]
    names = [Path(name.strip()) for name in spec.split("|")]
    if len(names) not in (2, 3) or not all(name.is_file() for name in names):
        missing = [str(name) for name in names if not name.is_file()]
        why = f"there is no file {missing[0]}" if missing else "there are too few or too many files"
        raise DataError(
            f"--align {spec}: {why}; name a corpus (phrasebook:en-fr:test), 'pairs|gold' with "
            "lines 'a b ||| c d', or 'source|target|gold'."
        )
    *sides, gold = (list(read_lines(name)) for name in names)
    if len(sides) == 1:
        lines = [line.partition(_BETWEEN) for line in sides[0]]
        sides = [[one[0] for one in lines], [one[2] for one in lines]]
    if len({len(side) for side in (*sides, gold)}) > 1:
        counts = ", ".join(f"{len(side):,}" for side in (*sides, gold))
        raise DataError(f"--align {spec}: line n of each belongs together, but there are {counts}.")
    found = []
    for number, (source, target, links) in enumerate(zip(*sides, gold, strict=True), 1):
        words = source.split(), target.split()
        truth = parse_gold(links, first)
        if any(i >= len(words[0]) or j >= len(words[1]) for i, j in truth.possible):
            raise DataError(
                f"{names[-1]}, line {number}: a link is beyond the {len(words[0])} and "
                f"{len(words[1])} words of the pair: try --gold-from 1 if it counts from 1."
            )
        found.append((words, truth))
    return found


def checked_pairs(
    opened: OpenedModel, spec: str, first: int
) -> list[tuple[WordPair, GoldAlignment]]:
    """The pairs, if the model has attention to align them by."""
    model = opened.model
    if not isinstance(model, EncoderDecoder) or not any(s.kind == "cross" for s in model.sites):
        raise UsageError(
            f"{opened.loaded.path} has no attention from a target to its source, so its heads "
            "have no alignments: leave --align out"
        )
    aligned = read_aligned(spec, first)
    if len(aligned) < 2:
        raise DataError(f"--align {spec}: two pairs or more are needed, to choose and to measure.")
    return aligned


def find_alignment(
    opened: OpenedModel,
    aligned: Sequence[tuple[WordPair, GoldAlignment]],
    random: Sequence[Model],
) -> AlignmentFinding:
    """The best cross head, chosen on every other pair and measured on the rest."""
    model = opened.model
    assert isinstance(model, EncoderDecoder)
    units = [_units(opened, pair) for pair, _ in aligned]
    golds = [gold for _, gold in aligned]
    heads = all_heads(model, "cross")
    ways = [Extraction(one.layer, shift, (one.head,)) for one in heads for shift in SHIFTS]
    found = _counts(model, units, ways, golds)
    best = _best(found)
    score, low, high = _interval(found[1::2, best])
    shuffled = _counts(model, units, ways, golds[1:] + golds[:1])
    fixed, names = _fixed(units, aligned)
    offset = _best(fixed)
    lots = [_counts(one, units, ways, golds) for one in random if isinstance(one, EncoderDecoder)]
    rates = _rate(found[1::2].sum(0))
    return AlignmentFinding(
        ways[best].layer or 0,
        ways[best].heads[0],
        ways[best].shift,
        score,
        low,
        high,
        float(_rate(fixed[1::2, offset].sum(0))),
        names[offset],
        float(np.mean([_rate(one[1::2, _best(one)].sum(0)) for one in lots])) if lots else None,
        float(_rate(shuffled[1::2, _best(shuffled)].sum(0))),
        len(aligned) // 2,
        {one.name: float(rates[2 * n : 2 * n + 2].min()) for n, one in enumerate(heads)},
    )


def _units(opened: OpenedModel, pair: WordPair) -> tuple[Units, Units]:
    loaded = opened.loaded
    tokenizers = loaded.source_tokenizer, loaded.target_tokenizer
    source, target = (
        read_units(tokenizer, join(words), words, limit=opened.limit)
        for tokenizer, words in zip(tokenizers, pair, strict=True)
    )
    return source, target


def _counts(
    model: EncoderDecoder,
    units: Sequence[tuple[Units, Units]],
    ways: Sequence[Extraction],
    golds: Sequence[GoldAlignment],
) -> Counts:
    rows = []
    for start in range(0, len(units), _TOGETHER):
        some = units[start : start + _TOGETHER]
        per_way = align_in_ways(model, some, ways)
        for row, pair in enumerate(some):
            gold = golds[start + row]
            rows.append([_count(_words(found[row].links, *pair), gold) for found in per_way])
    return np.array(rows)


def _words(links: Sequence[Link], source: Units, target: Units) -> set[Link]:
    """The words of both units of every link."""
    mine, other = _members(source), _members(target)
    return {(i, j) for a, b in links for i in mine.get(a, ()) for j in other.get(b, ())}


def _members(units: Units) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for word, place in enumerate(units.places):
        found.setdefault(place, []).append(word)
    return found


def _count(links: set[Link], gold: GoldAlignment) -> tuple[int, int, int, int]:
    return len(links & gold.sure), len(links & gold.possible), len(links), len(gold.sure)


def _fixed(
    units: Sequence[tuple[Units, Units]], aligned: Sequence[tuple[WordPair, GoldAlignment]]
) -> tuple[Counts, list[str]]:
    """Alignments that ask no model: word j with j + k, or along the diagonal and k beside it."""
    steps = range(-_FURTHEST, _FURTHEST + 1)
    names = [f"{k:+d}" for k in steps] + [f"diagonal {k:+d}" for k in steps]
    guesses: list[Callable[[int, int, int, int], int]] = [
        lambda j, k, n, m: j + k,
        lambda j, k, n, m: round(j * n / m) + k,
    ]
    rows = []
    for (source, target), gold in aligned:
        n, m = len(source), len(target)
        rows.append(
            [
                _count({(i, j) for j in range(m) if 0 <= (i := guess(j, k, n, m)) < n}, gold)
                for guess in guesses
                for k in steps
            ]
        )
    return np.array(rows), names


def _rate(counts: np.ndarray) -> np.ndarray:
    """``1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)``, over all sentences together."""
    right, allowed, found, sure = np.moveaxis(counts, -1, 0)
    return np.asarray(1 - (right + allowed) / np.maximum(found + sure, 1))


def _best(counts: Counts) -> int:
    """The way with the lowest rate on every other pair, the first included."""
    return int(_rate(counts[::2].sum(0)).argmin())


def _interval(counts: np.ndarray) -> tuple[float, float, float]:
    generator = np.random.default_rng(0)
    drawn = generator.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), N_DRAWS)
    low, high = np.quantile(_rate(drawn @ counts), [0.025, 0.975])
    return float(_rate(counts.sum(0))), float(low), float(high)
