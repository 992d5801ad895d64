"""What makes a bad sentence of a good one: one place of it is changed, and nothing else."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from regard.corpora.phrasebook import sentence as n
from regard.corpora.phrasebook.meaning import (
    Compound,
    Event,
    Meaning,
    NounPhrase,
    QualityPredicate,
    Relative,
)
from regard.corpora.phrasebook.sentence import PhrasebookSentence

Words = list[str]
Spoil = Callable[[Meaning, PhrasebookSentence], Words | None]  # None: not this sentence

STATEMENTS = ("statement", "relative")
RELATIVES = ("relative",)
QUESTIONS = ("question",)
REASONS = ("because",)


@dataclass(frozen=True)
class Paradigm:
    """One way to spoil sentences; ``constructions`` are those in which there are such."""

    phenomenon: str
    name: str
    constructions: tuple[str, ...]
    spoil: Spoil

    @property
    def label(self) -> str:
        """What tells it from all others of its language."""
        return f"{self.phenomenon}: {self.name}"


def event_of(meaning: Meaning) -> Event | None:
    """The main clause, where something happens in it."""
    event = meaning.main if isinstance(meaning, Compound) else meaning
    return event if isinstance(event, Event) else None


def reason_of(meaning: Meaning) -> tuple[NounPhrase, QualityPredicate] | None:
    """What is said to be so after "because", and of whom."""
    if not isinstance(meaning, Compound) or not isinstance(meaning.second, QualityPredicate):
        return None
    which = meaning.second.subject
    stands_for = meaning.main.subject if which == "subject" else meaning.main.object
    assert stands_for is not None
    return stands_for, meaning.second


def phrases_of(meaning: Meaning) -> Iterator[tuple[int, NounPhrase]]:
    """The noun phrases of the main clause, with the numbers their pieces count from."""
    event = event_of(meaning)
    if event is not None:
        both = ((n.OBJECT, event.object), (n.SUBJECT, event.subject))
        yield from ((base, phrase) for base, phrase in both if phrase is not None)


def relatives_of(meaning: Meaning, role: str) -> Iterator[tuple[int, NounPhrase, Relative]]:
    """The noun phrases with a clause in which they play that role."""
    for base, phrase in phrases_of(meaning):
        if phrase.relative is not None and phrase.relative.role == role:
            yield base, phrase, phrase.relative


def is_third(phrase: NounPhrase | None) -> bool:
    """Whether verbs agree with it in the third person, which shows in all three languages."""
    return phrase is not None and phrase.slot in (2, 4)


def place_of(s: PhrasebookSentence, *pieces: int) -> int | None:
    """The first word that expresses one of these pieces."""
    return next((place for place, piece in enumerate(s.pieces) if piece in pieces), None)


def finite(s: PhrasebookSentence, base: int) -> int | None:
    """The first word of the verb group of a clause: what agrees, in languages that agree."""
    return place_of(s, base + n.VERB, base + n.NEGATION, base + n.AUXILIARY)


def replaced(s: PhrasebookSentence, place: int | None, word: str | None) -> Words | None:
    """Another word in a place; its capital stays."""
    if place is None or not word:
        return None
    old = s.words[place]
    new = word[0].upper() + word[1:] if place == 0 and old[0].isupper() else word
    return None if new == old else [*s.words[:place], new, *s.words[place + 1 :]]


def mapped(s: PhrasebookSentence, place: int | None, table: Mapping[str, str]) -> Words | None:
    """The word of a place replaced by what a table has for it."""
    if place is None:
        return None
    word = s.words[place]
    return replaced(s, place, table.get(word) or table.get(word[0].lower() + word[1:]))


def inserted(s: PhrasebookSentence, place: int, word: str) -> Words:
    """One more word before a place."""
    return [*s.words[:place], word, *s.words[place:]]


def without(s: PhrasebookSentence, place: int | None) -> Words | None:
    """One word less."""
    return None if not place else [*s.words[:place], *s.words[place + 1 :]]


def swapped(s: PhrasebookSentence, first: int, middle: int, last: int) -> Words | None:
    """Words ``first`` to ``middle`` after those from there to ``last``; never of the beginning."""
    if first == 0:
        return None
    words = s.words
    return [*words[:first], *words[middle:last], *words[first:middle], *words[last:]]


def both_ways(table: Mapping[str, str]) -> dict[str, str]:
    """The table, and what leads back."""
    return {**table, **{new: old for old, new in table.items()}}
