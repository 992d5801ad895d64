"""What the three grammars share: which of its rules a meaning goes through."""

from collections.abc import Callable
from dataclasses import dataclass

from regard.corpora.phrasebook.meaning import (
    Compound,
    Event,
    Existence,
    Meaning,
    PredicateNoun,
    Quality,
)
from regard.corpora.phrasebook.sentence import Sentence


@dataclass(frozen=True)
class Grammar:
    """The rules of one language; each appends to a sentence and gives the place of its root."""

    event: Callable[[Sentence, Event, int], int]
    quality: Callable[[Sentence, Quality, int], int]
    predicate_noun: Callable[[Sentence, PredicateNoun], int]
    existence: Callable[[Sentence, Existence], int]
    compound: Callable[[Sentence, Compound], int]

    def append(self, sentence: Sentence, meaning: Meaning) -> tuple[int, str]:
        """Say a meaning without its last sign: the root's place, and what is asked, if anything."""
        if isinstance(meaning, Event):
            return self.event(sentence, meaning, 0), meaning.question
        if isinstance(meaning, Quality):
            return self.quality(sentence, meaning, 0), meaning.question
        if isinstance(meaning, PredicateNoun):
            return self.predicate_noun(sentence, meaning), meaning.question
        if isinstance(meaning, Existence):
            return self.existence(sentence, meaning), ""
        return self.compound(sentence, meaning), ""


def capitalise(sentence: Sentence) -> None:
    """Let the first word begin with a capital letter."""
    first = sentence.words[0]
    sentence.words[0] = first[0].upper() + first[1:]
