"""The head study of a model: reads treebanks with it, and with networks that learned nothing."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from regard.attention import Site
from regard.data import (
    AnnotatedSentence,
    arcs_between_units,
    read_coreference,
    read_treebank,
)
from regard.errors import DataError, UsageError
from regard.inspection.head_study.findings import LEAST, Finding, find, halves, tabulate
from regard.inspection.head_study.profiles import profiles, share_findings
from regard.inspection.head_study.report import HeadReport, OtherFinding, StudiedPart
from regard.inspection.head_study.spread import spread_of
from regard.inspection.head_study.trials import (
    EVERYTHING,
    SPECIAL,
    BatchTrials,
    Shares,
    StudiedAntecedent,
    StudiedSentence,
    Trials,
    try_batch,
)
from regard.inspection.head_study.wording import answer
from regard.inspection.heads import Head, n_heads
from regard.inspection.recording import Recording, at, record
from regard.models import Model
from regard.shapes import Float, Tensor
from regard.special import UNKNOWN
from regard.systems.head_alignment import checked_pairs, find_alignment
from regard.systems.opened import OpenedModel
from regard.systems.scoring import padded
from regard.systems.system import build
from regard.systems.watching import still
from regard.text.sentences import Units, place_units

N_RANDOM = 3  # networks with random weights
MOST_RANDOM = 500  # sentences of each part that they read
_BATCH_TOKENS = 4096
_BATCH_WEIGHTS = 1 << 22  # of one layer
_MOST_UNKNOWN = 0.8  # of the tokens; beyond, nothing is said about a language

Told = Callable[[int, int], None]  # so many sentences are read, of so many


@dataclass(frozen=True)
class Part:
    """Sentences of one source, ready to be read."""

    said: StudiedPart
    sentences: tuple[StudiedSentence, ...]


@dataclass(frozen=True)
class Tried:
    """All trials of one part with one network."""

    arcs: Trials
    neighbours: Trials
    rare: Trials
    antecedents: Trials
    shares: Shares

    @classmethod
    def joined(cls, several: Sequence[BatchTrials]) -> "Tried":
        """Of all batches."""
        return cls(
            Trials.joined([one.arcs for one in several]),
            Trials.joined([one.neighbours for one in several]),
            Trials.joined([one.rare for one in several]),
            Trials.joined([one.antecedents for one in several]),
            Shares.joined([one.shares for one in several]),
        )

    def halves(self) -> tuple["Tried", "Tried"]:
        """Every other sentence, and the rest."""
        names = ("arcs", "neighbours", "rare", "antecedents")
        (a, b), (c, d), (e, f), (g, h) = (halves(getattr(self, name)) for name in names)
        is_even = self.shares.sentence % 2 == 0
        first, second = (
            Shares(*(value[which] for value in vars(self.shares).values()))
            for which in (is_even, ~is_even)
        )
        return Tried(a, c, e, g, first), Tried(b, d, f, h, second)


def study_heads(
    opened: OpenedModel,
    treebank: str | Path | None,
    test: Sequence[str | Path] = (),
    coreference: Sequence[str | Path] = (),
    align: str | None = None,
    *,
    gold_from: int = 0,
    n_random: int = N_RANDOM,
    told: Told | None = None,
) -> HeadReport:
    """Measure every head by every ruler; the arguments are those of :meth:`OpenedModel.heads`."""
    opened._check_traces()
    if treebank is None:
        raise UsageError(
            "there is nothing to measure heads by: give a treebank in CoNLL-U, or the trees of "
            "the phrasebook (--treebank phrasebook:en-fr:valid)"
        )
    heads = _self_heads(opened)
    aligned = None if align is None else checked_pairs(opened, align, gold_from)
    raw = [list(read_treebank(one)) for one in (treebank, *test)]
    counts = Counter(word.text.lower() for part in raw for one in part for word in one.words)
    ready = partial(_part, opened, counts)
    names = [str(one) for one in (treebank, *test)]
    parts = [ready(name, part) for name, part in zip(names, raw, strict=True)]
    passages = [ready(str(one), list(read_coreference(one))) for one in coreference]
    seeds = [_untrained(opened, seed) for seed in range(1, n_random + 1)]
    reading = _Reading(opened, told, _n_sentences(parts, passages, len(seeds)))
    tried = [reading.tried(opened.model, part) for part in parts]
    controls = [[reading.tried(m, part, MOST_RANDOM) for part in parts[:2]] for m in seeds]
    chosen, measured = _two(tried)
    random = [_two(control) for control in controls]
    rulers = _rulers(heads, chosen, measured, random)
    if not rulers["relations"]:
        raise DataError(
            f"{treebank}: there are too few arcs to measure heads by, since no part has {LEAST} of "
            "them: give more sentences with trees."
        )
    found = {
        part.said.name: _coreferent(heads, reading, opened.model, part, seeds) for part in passages
    }
    return _report(
        opened, heads, parts, tried, (chosen, measured), random, rulers, found,
        None if aligned is None else find_alignment(opened, aligned, seeds), len(seeds),
    )  # fmt: skip


def _two(tried: Sequence[Tried]) -> tuple[Tried, Tried]:
    """What chooses, and what measures; of a single part every other sentence each."""
    return (tried[0], tried[1]) if len(tried) > 1 else tried[0].halves()


def _rulers(
    heads: Sequence[Head], chosen: Tried, measured: Tried, random: Sequence[tuple[Tried, Tried]]
) -> dict[str, dict[str, Finding]]:
    def of(name: str, **how: Any) -> dict[str, Finding]:
        both = getattr(chosen, name), getattr(measured, name)
        lots = [(getattr(a, name), getattr(b, name)) for a, b in random]
        return find(heads, *both, lots, **how)

    return {
        "relations": of("arcs", with_all=True),
        "positions": of("neighbours", has_offset=False),
        "rare": of("rare"),
    }


def _coreferent(
    heads: Sequence[Head], reading: "_Reading", model: Model, part: Part, seeds: Sequence[Model]
) -> dict[str, Finding]:
    both = halves(reading.tried(model, part).antecedents)
    lots = [halves(reading.tried(one, part, MOST_RANDOM).antecedents) for one in seeds]
    found = find(heads, *both, lots)
    # Where all are pronouns, that is said once.
    return {
        name: one
        for name, one in found.items()
        if name == EVERYTHING or one.n < found[EVERYTHING].n
    }


def _report(
    opened: OpenedModel,
    heads: Sequence[Head],
    parts: Sequence[Part],
    tried: Sequence[Tried],
    both: tuple[Tried, Tried],
    random: Sequence[tuple[Tried, Tried]],
    rulers: dict[str, dict[str, Finding]],
    coreference: dict[str, dict[str, Finding]],
    alignment: Any,
    n_seeds: int,
) -> HeadReport:
    chosen, measured = both
    relations = rulers["relations"]
    names = list(relations) or [EVERYTHING]
    tables = tabulate(chosen.arcs, names), tabulate(measured.arcs, names)
    spread = spread_of(heads, *tables, relations)
    n_tried = len(heads) * len(measured.arcs.ways)
    said = _halved(parts[0].said, chosen, measured) if len(parts) == 1 else (
        parts[0].said, parts[1].said,
    )  # fmt: skip
    return HeadReport(
        model=opened.loaded.path.resolve().name,
        kind=heads[0].kind,
        n_heads=len(heads),
        n_tried=n_tried,
        chosen_on=said[0],
        measured_on=said[1],
        relations=relations,
        positions=rulers["positions"],
        rare=rulers["rare"],
        coreference=coreference,
        alignment=alignment,
        **share_findings(
            heads, chosen.shares, measured.shares, [(a.shares, b.shares) for a, b in random]
        ),
        spread=spread,
        heads=profiles(
            heads, measured.shares, measured.neighbours, tables, spread, rulers, coreference
        ),
        others={
            part.said.name: _elsewhere(heads, chosen.arcs, one.arcs, relations)
            for part, one in zip(parts[2:], tried[2:], strict=True)
        },
        other_parts={part.said.name: part.said for part in parts[2:]},
        answer=answer(relations, spread, len(heads), n_tried, (said[0].name, said[1].name)),
        seeds=n_seeds,
    )


def _halved(whole: StudiedPart, *tried: Tried) -> tuple[StudiedPart, StudiedPart]:
    """What is said of every other sentence, and of the rest."""
    first, second = (
        replace(
            whole,
            name=f"{whole.name} ({which} of every two sentences)",
            n_sentences=len(one.shares.sentence),
            n_words=int(one.shares.n_words.sum()),
        )
        for one, which in zip(tried, ("the first", "the second"), strict=True)
    )
    return first, second


def _elsewhere(
    heads: Sequence[Head], chosen: Trials, other: Trials, relations: dict[str, Finding]
) -> dict[str, OtherFinding]:
    """The heads that were chosen, on another treebank; and those that it would choose itself."""
    carried = find(heads, chosen, other, with_all=True)
    own = find(heads, *halves(other), with_all=True)
    return {
        name: OtherFinding(
            one.score, one.low, one.high, one.offset or 0.0, one.n,
            own[name].name, own[name].direction, own[name].score,
            (own[name].name, own[name].direction) == (one.name, one.direction),
        )
        for name, one in carried.items()
        if name in own and name in relations
    }  # fmt: skip


class _Reading:
    """Reads sentences of like length together, and keeps of their weights what rulers ask."""

    def __init__(self, opened: OpenedModel, told: Told | None, n_all: int) -> None:
        self._opened, self._told, self._n_all, self._n_read = opened, told, n_all, 0

    @torch.inference_mode()
    def tried(self, model: Model, part: Part, most: int | None = None) -> Tried:
        """The trials of a part, or of about so many of its sentences, evenly taken."""
        sentences = part.sentences[:: _step(part, most)]
        kind = _kind(self._opened)
        sites = [site for site in model.sites if site.kind == kind]
        found = []
        width = max(n_heads(model, site) for site in sites)
        with still(model):
            for rows in _batches([len(one.ids) for one in sentences], width):
                some = [sentences[row] for row in rows]
                ids = padded([one.ids for one in some], self._opened.device)
                with record(model, *sorted({site.probe for site in sites})) as recording:
                    self._opened._read_rows(model, ids)
                layers = (_weights(recording, site) for site in sites)
                found.append(try_batch(some, rows, layers))
                self._n_read += len(rows)
                if self._told is not None:
                    self._told(self._n_read, self._n_all)
        return Tried.joined(found)


def _weights(recording: Recording, site: Site) -> Float[Tensor, "B H L L"]:
    """What passed there; where every word had halted before, nothing is looked at."""
    passed = recording.all(site.probe)
    if site.occasion is not None and site.occasion >= len(passed):
        return torch.zeros_like(passed[0]).cpu()
    return at(recording, site).cpu()


def _step(part: Part, most: int | None) -> int:
    return 1 if most is None else -(-len(part.sentences) // most)


def _n_sentences(parts: Sequence[Part], passages: Sequence[Part], n_seeds: int) -> int:
    few = [len(part.sentences[:: _step(part, MOST_RANDOM)]) for part in (*parts[:2], *passages)]
    return sum(len(part.sentences) for part in (*parts, *passages)) + n_seeds * sum(few)


def _batches(lengths: Sequence[int], n_heads_: int) -> Iterator[list[int]]:
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        n, length = len(batch) + 1, lengths[place]
        is_full = n * length > _BATCH_TOKENS or n * n_heads_ * length**2 > _BATCH_WEIGHTS
        if batch and is_full:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _kind(opened: OpenedModel) -> str:
    """The attention among the words of what is read."""
    return "decoder" if opened.side == "decoder" else "encoder"


def _self_heads(opened: OpenedModel) -> list[Head]:
    kind, model = _kind(opened), opened.model
    found = [
        Head(site.kind, site.layer, head)
        for site in model.sites
        if site.kind == kind
        for head in range(n_heads(model, site))
    ]
    if not found or opened.reads != "texts":
        raise UsageError(
            f"{opened.loaded.path} holds a model of kind {opened.loaded.recipe.model.kind}, whose "
            "words do not look at one another: heads are studied in a transformer, a bert or a gpt"
        )
    return found


def _untrained(opened: OpenedModel, seed: int) -> Model:
    """The network of the same recipe before it learned anything."""
    loaded = opened.loaded
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = build(
            loaded.recipe.model, *map(len, (loaded.source_tokenizer, loaded.target_tokenizer))
        )
    model.to(opened.device).eval().requires_grad_(False)
    return model


def _part(
    opened: OpenedModel, counts: Counter[str], name: str, raw: Sequence[AnnotatedSentence]
) -> Part:
    """The sentences that have at least two words to tell apart."""
    found, n_tokens, n_unknown, n_cut = [], 0, 0, 0
    for one in raw:
        units = place_units(opened.tokenizer, one.text, one.words, limit=opened.limit - 2)
        n_tokens += len(units.tokens)
        n_unknown += sum(token.id == UNKNOWN for token in units.tokens)
        studied = _studied(opened, counts, one, units)
        n_cut += studied.n_words < len(units.words)
        if studied.n_words > 1:
            found.append(studied)
    unknown = n_unknown / max(1, n_tokens)
    if not found or unknown > _MOST_UNKNOWN:
        raise DataError(
            f"{name}: of the tokens of its sentences {unknown:.0%} are unknown to the model "
            f"{opened.loaded.path.name}: give a treebank of a language that it has learned."
        )
    n_words = sum(one.n_words for one in found)
    return Part(StudiedPart(Path(name).name, len(found), n_words, unknown, n_cut), tuple(found))


def _studied(
    opened: OpenedModel, counts: Counter[str], one: AnnotatedSentence, units: Units
) -> StudiedSentence:
    ids, n_before = opened._framed(units.ids)
    words = [SPECIAL] * len(ids)
    words[n_before : n_before + len(units.tokens)] = units.of_tokens
    n = max(units.of_tokens, default=-1) + 1
    places = units.places
    signs = {k for k in range(n) if not any(c.isalnum() for c in units.words[k])}
    frequency: dict[int, int] = {}
    for word, place in zip(one.words, places, strict=True):
        if place < n and place not in signs:
            seen = counts[word.text.lower()] or 1
            frequency[place] = min(seen, frequency.get(place, seen))
    rarest = min(frequency.values(), default=0)
    return StudiedSentence(
        tuple(ids),
        tuple(words),
        n,
        tuple(arc for arc in _arcs(one, places) if max(arc[0], arc[1]) < n),
        tuple(k for k, seen in frequency.items() if seen == rarest),
        tuple(sorted(signs)),
        tuple(_antecedents(one, places, n)),
    )


def _arcs(one: AnnotatedSentence, places: Sequence[int]) -> list[tuple[int, int, str]]:
    return arcs_between_units(one, places) if one.heads else []


def _antecedents(
    one: AnnotatedSentence, places: Sequence[int], n: int
) -> Iterator[StudiedAntecedent]:
    for asked in one.antecedents:
        mention = places[asked.place]
        known: dict[tuple[int, ...], bool] = {}
        for several, is_right in ((asked.wrong, False), (asked.right, True)):
            for words in several:
                units = tuple(dict.fromkeys(places[word] for word in words))
                if mention not in units and max((mention, *units)) < n:
                    known[units] = is_right
        order = sorted(known, key=lambda units: abs(units[-1] - mention))
        if len(set(known.values())) == 2:
            labels = (EVERYTHING, "pronouns" if asked.is_pronoun else "names and nouns")
            yield StudiedAntecedent(
                mention, tuple(order), tuple(known[units] for units in order), labels
            )
