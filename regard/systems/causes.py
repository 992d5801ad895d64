"""What heads cause: how much worse a translator gets at one construction without one head.

Attention may look at what it does not use. Here a head is switched off, and the log-probability of
each word of right translations says what is lost: of the words of a construction, of words whose
source stands in a relation, and of pronouns, against all others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from regard.counting import counted
from regard.data import AnnotatedPair, read_annotated_pairs
from regard.errors import UsageError, WrongModelError
from regard.inspection.ablation import ablated
from regard.inspection.head_study.findings import mean_interval
from regard.inspection.head_study.report import read_report
from regard.inspection.heads import Head, all_heads, find_heads
from regard.shapes import Bool, Float
from regard.systems.further_training import Tell
from regard.systems.opened import OpenedModel, refusal
from regard.systems.results import Result
from regard.systems.translation import Translator
from regard.text.sentences import place_units
from regard.training.events import Progressed

FEWEST = 10  # examples of a group in each half, of which something is said
_NOTHING = 1e-3  # nats: less is no loss to compare with
CONSTRUCTION, RELATION, PRONOUN = "construction", "relation", "pronoun"


@dataclass(frozen=True, repr=False)
class Cause(Result):
    """A group of words, and the head whose absence hurts it most beyond the others.

    The head was chosen on every other example, or by a report, and is measured on the rest.
    """

    shows: ClassVar[tuple[str, ...]] = ("group", "name", "head", "lost", "others", "ratio")

    group: str  # construction, relation or pronoun
    name: str
    head: Head
    is_reported: bool  # the head that follows the relation, by a report of heads
    lost: float  # nats a token
    low: float  # 95 % of draws of examples lie between
    high: float
    others: float  # nats a token of all other words
    n: int  # tokens of the group

    @property
    def ratio(self) -> float:
        """How many times as much the group loses as the others do."""
        return self.lost / max(self.others, _NOTHING)


@dataclass(frozen=True, repr=False)
class CauseReport(Result):
    """What each head is for, by what is lost without it."""

    shows: ClassVar[tuple[str, ...]] = ("model", "corpus", "n_examples", "n_tried", "causes")

    model: str
    corpus: str
    n_examples: int
    n_tried: int  # heads
    causes: tuple[Cause, ...]
    lost: Mapping[str, Mapping[str, float]]  # of each head by group, on all examples


def find_causes(
    opened: OpenedModel,
    corpus: str,
    *,
    of: str | None = None,
    report: str | Path | None = None,
    tell: Tell = lambda event: None,
) -> CauseReport:
    """Switch off head after head; the arguments are those of :meth:`OpenedModel.causes`."""
    if not isinstance(opened, Translator):
        raise WrongModelError(refusal(opened.loaded, "translate"))
    model = opened._alone()
    heads = all_heads(model) if of is None else find_heads(model, of)
    known = {} if report is None else _followers(report, opened)
    pairs = list(read_annotated_pairs(corpus))
    words = _Words.of(opened, pairs)
    whole = _log_probabilities(opened, pairs)
    drops = np.zeros((len(heads), len(whole)), np.float32)
    for n, head in enumerate(heads):
        with ablated(model, head):
            drops[n] = whole - _log_probabilities(opened, pairs)
        tell(Progressed("heads switched off", n + 1, len(heads)))
    found: list[Cause] = []
    for (group, name), is_in in words.groups.items():
        reported = known.get(name) if group == RELATION else None
        found += _causes(group, name, is_in, words.example, heads, drops, reported)
    lost = {
        head.name: {f"{g}: {name}": float(drops[n, is_in].mean())
                    for (g, name), is_in in words.groups.items()}
        for n, head in enumerate(heads)
    }  # fmt: skip
    return CauseReport(
        opened.loaded.path.resolve().name, corpus, len(pairs), len(heads), tuple(found), lost
    )


def _followers(report: str | Path, opened: OpenedModel) -> dict[str, Head]:
    """The head that follows each relation, by a report of heads."""
    relations = read_report(report)["relations"]
    return {
        name: find_heads(opened.model, f"{one['kind']}.{one['layer']}.{one['head']}")[0]
        for name, one in relations.items()
    }


@dataclass(frozen=True)
class _Words:
    """The tokens of all targets end to end: whose they are, and what is said of them."""

    example: np.ndarray
    groups: Mapping[tuple[str, str], Bool[np.ndarray, "N"]]

    @classmethod
    def of(cls, opened: Translator, pairs: Sequence[AnnotatedPair]) -> "_Words":
        said: list[set[tuple[str, str]]] = []
        example: list[int] = []
        for number, pair in enumerate(pairs):
            tokens = _said_of_tokens(opened, pair)
            said += tokens
            example += [number] * len(tokens)
        of = np.array(example)
        groups: dict[tuple[str, str], np.ndarray] = {}
        for one in sorted({one for token in said for one in token}):
            is_in = np.array([one in token for token in said])
            halves = (np.unique(of[is_in & (of % 2 == half)]) for half in (0, 1))
            if all(len(half) >= FEWEST for half in halves):
                groups[one] = is_in
        if not groups:
            raise UsageError(
                f"{counted(len(pairs), 'example')} cannot tell what heads are for: name more, as "
                "phrasebook:en-fr:test:500"
            )
        return cls(of, groups)


def _said_of_tokens(opened: Translator, pair: AnnotatedPair) -> list[set[tuple[str, str]]]:
    """Of each token of the target, and of its end, the groups it is in."""
    units = place_units(
        opened.target_tokenizer, pair.target.text, pair.target.words, limit=opened.limit
    )
    of_word: list[set[tuple[str, str]]] = [set() for _ in pair.target.words]
    for source, target in pair.alignment:
        of_word[target].add((RELATION, pair.source.relations[source]))
    for one in pair.target.antecedents:
        of_word[one.place].add((PRONOUN, pair.target.words[one.place].text.lower()))
    constructions = {(CONSTRUCTION, tag) for tag in pair.tags}
    of_unit: dict[int, set[tuple[str, str]]] = {}
    for word, unit in enumerate(units.places):
        of_unit.setdefault(unit, set()).update(of_word[word])
    return [*(constructions | of_unit[unit] for unit in units.of_tokens), constructions]


def _log_probabilities(
    opened: Translator, pairs: Sequence[AnnotatedPair]
) -> Float[np.ndarray, "N"]:
    scored = opened.score([(pair.source.text, pair.target.text) for pair in pairs])
    return np.array([value for one in scored for value in one.log_probabilities], np.float32)


def _causes(
    group: str,
    name: str,
    is_in: Bool[np.ndarray, "N"],
    example: np.ndarray,
    heads: Sequence[Head],
    drops: Float[np.ndarray, "H N"],
    reported: Head | None,
) -> list[Cause]:
    """The head chosen on the one half, and the reported one, both measured on the other half."""
    chooses, measures = example % 2 == 0, example % 2 == 1
    gain = drops[:, chooses & is_in].mean(1) - drops[:, chooses & ~is_in].mean(1)
    found: list[Cause] = []
    for head in (heads[int(gain.argmax())], reported):
        if head is None or head not in heads:
            continue
        mine = drops[heads.index(head)]
        rows, n_rows = example[measures & is_in], int(example.max()) + 1
        sums = np.bincount(rows, mine[measures & is_in], n_rows)
        counts = np.bincount(rows, minlength=n_rows)
        lost, low, high = mean_interval(sums[counts > 0], counts[counts > 0])
        others = float(mine[measures & ~is_in].mean())
        is_reported = len(found) == 1
        found.append(Cause(group, name, head, is_reported, lost, low, high, others, len(rows)))
    return found
