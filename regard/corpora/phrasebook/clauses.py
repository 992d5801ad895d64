"""Draw noun phrases and simple clauses whose words fit together."""

import random
from typing import TypeVar

from regard.corpora.phrasebook import choices as c
from regard.corpora.phrasebook.lexicon import (
    CITY_NAMES,
    DETERMINERS,
    FREQUENCIES,
    IN_CITY,
    PERSON_NAMES,
    PLACES,
    PRONOUNS,
    TIMES,
    Adverbial,
    Determiner,
    Noun,
    Verb,
)
from regard.corpora.phrasebook.meaning import Event, NounPhrase, PlacePhrase, Question, Tense

Item = TypeVar("Item")
THE = DETERMINERS["the"]


class ClauseSampler:
    """Draws clauses from one stream of random numbers."""

    def __init__(self, seed: int | str) -> None:
        self.chance = random.Random(f"phrasebook {seed}").random  # noqa: S311

    def choose(self, items: tuple[Item, ...]) -> Item:
        """One of the items, each as likely as the others."""
        return items[int(self.chance() * len(items))]

    # Noun phrases

    def phrase(
        self, noun: Noun, owned: tuple[Determiner, ...], plain: tuple[Determiner, ...]
    ) -> NounPhrase:
        """A common noun with a determiner of one of two tables, and perhaps an adjective."""
        determiner = self.choose(owned if c.CAN_BE_OWNED[noun] else plain)
        adjective = None
        if self.chance() < 0.28:
            adjectives = c.BEFORE_NOUN[noun]
            adjective = self.choose(adjectives) if adjectives else None
            if adjective and len(adjective.before) > 1 and determiner.chinese[-1] == "的":
                adjective = None  # two 的 in a row are clumsy
        return NounPhrase(noun, determiner, adjective)

    def person(self) -> NounPhrase:
        """A name or a pronoun."""
        return NounPhrase(self.choose(PERSON_NAMES if self.chance() < 0.5 else PRONOUNS))

    def subject(self, verb: Verb, *, is_definite: bool) -> NounPhrase:
        """Who does it."""
        if "person" in verb.subjects and self.chance() < 0.35:
            phrase = self.person()
        else:
            noun = self.choose(c.SUBJECTS[verb])
            if is_definite:
                phrase = self.phrase(noun, c.OWNED, c.DEFINITE)
            else:
                phrase = self.phrase(noun, c.ANY_OWNED, c.ANY)
        if self.chance() < 0.08 and phrase.noun.word_class != "pronoun":
            return self.coordinate(phrase, c.SUBJECTS[verb])
        return phrase

    def coordinate(self, first: NounPhrase, nouns: tuple[Noun, ...]) -> NounPhrase:
        """The phrase and another one of the same kind."""
        if first.noun.word_class == "name":
            second = NounPhrase(self.choose(PERSON_NAMES))
        else:
            second = NounPhrase(self.choose(nouns), first.determiner)
        if second.noun is first.noun or first.noun.word_class == "mass":
            return first
        if second.determiner is not None and not c.CAN_BE_OWNED[second.noun]:
            second = NounPhrase(second.noun, THE)
        return NounPhrase(first.noun, first.determiner, first.adjective, None, second)

    def thing(self, verb: Verb, subject: Noun | None, *, is_definite: bool) -> NounPhrase:
        """What it is done to."""
        if "city" in verb.objects and (len(verb.objects) == 1 or self.chance() < 0.3):
            return NounPhrase(self.choose(CITY_NAMES))
        mass = c.MASS_OBJECTS[verb]
        if subject is not None and "animal" in subject.sorts:
            mass = c.NATURAL_OBJECTS[verb]
        if mass and (not c.OBJECTS[verb] or self.chance() < 0.35):
            return NounPhrase(self.choose(mass), is_general="g" in verb.marks)
        if "person" in verb.objects and self.chance() < 0.3:
            name = self.choose(PERSON_NAMES)
            if name is not subject:
                return NounPhrase(name)
        noun = self.choose(c.OBJECTS[verb])
        while noun is subject:
            noun = self.choose(c.OBJECTS[verb])
        if verb.french_particle == "à":
            return NounPhrase(noun, THE)
        if "g" in verb.marks:
            if self.chance() < 0.5:
                return NounPhrase(noun, is_general=True)
            return self.phrase(noun, c.SINGLE_OWNED, c.SINGLE)
        if "b" in verb.marks:
            return NounPhrase(noun, self.choose(c.DEFINITE))
        if is_definite:
            return self.phrase(noun, c.OWNED, c.DEFINITE)
        phrase = self.phrase(noun, c.ANY_OWNED, c.ANY)
        return self.coordinate(phrase, c.OBJECTS[verb]) if self.chance() < 0.06 else phrase

    # Clauses

    def tense(self, verb: Verb, subject: NounPhrase) -> Tense:
        """A tense that the verb takes."""
        marks = verb.marks
        if "s" in marks:
            return "present"
        if "w" in marks:
            return "state"
        x = self.chance()
        if x < 0.4:
            return "past"
        if x < 0.55:
            return "future"
        if x < 0.67:
            return "present" if c.IS_HABIT[verb] else "past"
        if x < 0.8:
            return "progressive" if "d" in marks else "future"
        if "person" not in subject.noun.sorts:
            return "past"
        if x < 0.85:
            return "already"
        if x < 0.9:
            return "never" if c.CAN_BE_NEVER[verb] else "already"
        if "d" not in marks:
            return "past"
        return "can" if x < 0.94 else "want" if x < 0.97 else "must"

    def place(self) -> PlacePhrase:
        """Where somebody does something."""
        if self.chance() < 0.12:
            return PlacePhrase(IN_CITY, self.choose(CITY_NAMES))
        relation, nouns = self.choose(PLACES)
        return PlacePhrase(relation, self.choose(nouns))

    def event(self, verb: Verb, question: Question = "") -> Event:
        """A simple clause around a verb."""
        chance = self.chance
        is_negated = not question and chance() < 0.25 and "w" not in verb.marks
        subject = self.subject(verb, is_definite=is_negated or bool(question))
        tense = self.tense(verb, subject)
        if tense in ("already", "never", "must"):
            is_negated = False
        if question and tense in ("already", "never", "must", "want"):
            tense = "past"
        is_definite = is_negated or tense in ("never", "present")
        thing = None
        if verb.objects:
            noun = subject.noun
            if tense == "present" and c.MASS_OBJECTS[verb] and "s" not in verb.marks:
                table = c.NATURAL_OBJECTS if "animal" in noun.sorts else c.MASS_OBJECTS
                thing = NounPhrase(self.choose(table[verb]))
            else:
                thing = self.thing(verb, noun, is_definite=is_definite)
                if subject.also is not None and subject.also.noun is thing.noun:
                    subject = NounPhrase(noun, subject.determiner, subject.adjective)
        frequency: Adverbial | None = None
        time: Adverbial | None = None
        if tense == "present" and "s" not in verb.marks and not is_negated:
            if chance() < 0.5:
                frequency = self.choose(FREQUENCIES)
            else:
                time = self.choose(TIMES["present"])
        elif tense in ("past", "future", "progressive") and chance() < 0.3:
            time = self.choose(TIMES[tense])
        place = None
        if c.CAN_HAVE_PLACE[verb] and chance() < 0.22 and question != "where":
            place = self.place()
        if place is not None and thing is not None and place.noun is thing.noun:
            place = None
        if tense == "progressive" and is_negated:
            place = None  # 没有在花园里睡觉 says that nobody slept there
        if question == "when":
            time = frequency = None
        is_first = time is not None and not question and chance() < 0.35
        return Event(
            verb,
            tense,
            subject,
            thing,
            None,
            is_negated,
            place,
            time,
            is_first,
            frequency,
            question,
        )
