"""What a sentence says, before any language: frozen trees of lexemes and grammatical choices."""

from dataclasses import dataclass
from typing import Literal

from regard.corpora.phrasebook.lexicon import Adjective, Adverbial, Determiner, Noun, Verb

Tense = Literal[
    "present", "past", "future", "progressive", "was doing", "already", "never", "state",
    "can", "want", "must",
]  # fmt: skip
Degree = Literal["", "very", "too", "more", "as"]
Question = Literal["", "whether", "who", "what", "where", "when"]


@dataclass(frozen=True, slots=True, eq=False)
class Relative:
    """A clause about a noun, which is its subject or its object; ``other`` is the other one."""

    role: Literal["subject", "object"]
    verb: Verb
    tense: Tense
    is_negated: bool
    other: "NounPhrase | None"


@dataclass(frozen=True, slots=True, eq=False)
class NounPhrase:
    """A noun with all that belongs to it; ``determiner`` is None for names, pronouns and mass."""

    noun: Noun
    determiner: Determiner | None = None
    adjective: Adjective | None = None
    relative: Relative | None = None
    also: "NounPhrase | None" = None  # "and ..."
    is_general: bool = False  # "likes cats": no one of them in particular

    @property
    def is_plural(self) -> bool:
        """Whether its noun stands in the plural."""
        return (self.is_general and self.noun.word_class == "common") or (
            self.determiner is not None and self.determiner.is_plural
        )

    @property
    def slot(self) -> int:
        """Which form of the verb it asks for: 0 I, 1 you, 2 he she it, 3 we, 4 they."""
        return 4 if self.also is not None or self.is_plural else self.noun.slot

    @property
    def is_feminine(self) -> bool:
        """Whether French agrees with it in the feminine: all of its nouns are."""
        return self.noun.gender == "f" and (self.also is None or self.also.is_feminine)


@dataclass(frozen=True, slots=True, eq=False)
class PlacePhrase:
    """Where something happens: a relation and a noun that is known to all."""

    relation: Adverbial  # its Chinese is the word after the noun
    noun: Noun


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """Somebody does something."""

    verb: Verb
    tense: Tense
    subject: NounPhrase | None  # None only when "who" asks for it
    object: NounPhrase | None = None
    recipient: NounPhrase | None = None
    is_negated: bool = False
    place: PlacePhrase | None = None
    time: Adverbial | None = None
    is_time_first: bool = False
    frequency: Adverbial | None = None
    question: Question = ""


@dataclass(frozen=True, slots=True, eq=False)
class QualityPredicate:
    """Something is so; ``subject`` is a phrase, or says which phrase of the main clause it is."""

    subject: "NounPhrase | Literal['subject', 'object']"
    adjective: Adjective
    degree: Degree
    tense: Literal["present", "past", "future"]
    is_negated: bool = False
    than: NounPhrase | None = None
    time: Adverbial | None = None
    question: Question = ""


@dataclass(frozen=True, slots=True, eq=False)
class PredicateNoun:
    """Somebody or something is one of a kind; the predicate has "a", an owner, or is in general."""

    subject: NounPhrase
    predicate: NounPhrase
    is_negated: bool = False
    question: Question = ""


@dataclass(frozen=True, slots=True, eq=False)
class Existence:
    """There is something somewhere."""

    subject: NounPhrase
    place: PlacePhrase


@dataclass(frozen=True, slots=True, eq=False)
class Compound:
    """Two clauses and what joins them; after "when" and "if" the second clause comes first."""

    main: Event
    conjunction: Literal["because", "but", "when", "if"]
    second: "QualityPredicate | Event | Adverbial"


Meaning = Event | QualityPredicate | PredicateNoun | Existence | Compound
