"""A sentence while it grows: words, what they express, and how they hang together.

Each word carries the number of the piece of meaning that it expresses. The three languages number
alike, so two words of two languages are aligned exactly when they carry the same number.
"""

from collections.abc import Callable
from dataclasses import dataclass

from regard.corpora.interface import Side
from regard.corpora.phrasebook.meaning import (
    Compound,
    Event,
    Existence,
    Meaning,
    PredicateNoun,
    QualityPredicate,
)

# Numbers of the pieces of a clause, counted from the clause's own base.
VERB, NEGATION, AUXILIARY, TIME, RELATION, PLACE, QUESTION = 0, 1, 2, 3, 4, 5, 6
ADVERB, DEGREE, PARTICLE, CONJUNCTION, STOP, COMMA = 7, 8, 9, 10, 11, 12
SUBJECT, OBJECT, RECIPIENT = 20, 40, 60  # bases of the noun phrases
# Numbers of the pieces of a noun phrase, counted from its base.
NOUN, DETERMINER, ADJECTIVE, AND, LINK = 0, 1, 2, 3, 4
ALSO = 10  # base of a second noun phrase within the first
RELATIVE = 1000  # base of a relative clause within a noun phrase
SECOND = 5000  # base of a second clause
NOTHING = -1  # a word that only its own language needs

ROOT = -1


class PhrasebookSentence:
    """Words in order, each with a piece of meaning, a head and a relation to it."""

    __slots__ = ("antecedents", "heads", "pieces", "places", "relations", "words")

    def __init__(self) -> None:
        self.words: list[str] = []
        self.pieces: list[int] = []
        self.heads: list[int] = []
        self.relations: list[str] = []
        self.antecedents: list[tuple[int, int]] = []
        self.places: dict[int, int] = {}  # of the head noun of each noun phrase, by base

    def add(self, word: str, piece: int, relation: str, head: int = ROOT) -> int:
        """Append a word; the head may be given later with ``hang``."""
        self.words.append(word)
        self.pieces.append(piece)
        self.relations.append(relation)
        self.heads.append(head)
        return len(self.words) - 1

    def hang(self, head: int, *places: int) -> None:
        """Say which word these words depend on."""
        for place in places:
            self.heads[place] = head

    def add_fixed(self, words: tuple[str, ...], piece: int, relation: str, head: int) -> int:
        """Append an expression as a flat piece: its first word carries the others."""
        first = self.add(words[0], piece, relation, head)
        for word in words[1:]:
            self.add(word, piece, "fixed", first)
        return first

    def side(self) -> Side:
        """The sentence as it is given to the user."""
        return Side(
            tuple(self.words),
            tuple(self.heads),
            tuple(self.relations),
            tuple(self.antecedents),
        )


def align(source: PhrasebookSentence, target: PhrasebookSentence) -> tuple[tuple[int, int], ...]:
    """The pairs of words that express the same piece of meaning."""
    places: dict[int, list[int]] = {}
    for place, piece in enumerate(target.pieces):
        if piece != NOTHING:
            places.setdefault(piece, []).append(place)
    links = []
    for place, piece in enumerate(source.pieces):
        if piece in places:
            for other in places[piece]:
                links.append((place, other))
    return tuple(links)


@dataclass(frozen=True)
class Grammar:
    """The rules of one language; each appends to a sentence and gives the place of its root."""

    event: Callable[[PhrasebookSentence, Event, int], int]
    quality: Callable[[PhrasebookSentence, QualityPredicate, int], int]
    predicate_noun: Callable[[PhrasebookSentence, PredicateNoun], int]
    existence: Callable[[PhrasebookSentence, Existence], int]
    compound: Callable[[PhrasebookSentence, Compound], int]

    def append(self, sentence: PhrasebookSentence, meaning: Meaning) -> tuple[int, str]:
        """Say a meaning without its last sign: the root's place, and what is asked, if anything."""
        if isinstance(meaning, Event):
            return self.event(sentence, meaning, 0), meaning.question
        if isinstance(meaning, QualityPredicate):
            return self.quality(sentence, meaning, 0), meaning.question
        if isinstance(meaning, PredicateNoun):
            return self.predicate_noun(sentence, meaning), meaning.question
        if isinstance(meaning, Existence):
            return self.existence(sentence, meaning), ""
        return self.compound(sentence, meaning), ""


def capitalise(sentence: PhrasebookSentence) -> None:
    """Let the first word begin with a capital letter."""
    first = sentence.words[0]
    sentence.words[0] = first[0].upper() + first[1:]
