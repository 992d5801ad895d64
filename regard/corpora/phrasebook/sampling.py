"""Draw a meaning: a construction first, then words that fit together."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from regard.corpora.phrasebook import choices as c
from regard.corpora.phrasebook.clauses import ClauseSampler
from regard.corpora.phrasebook.lexicon import (
    COMMON_NOUNS,
    DETERMINERS,
    NOUNS,
    PERSON_NAMES,
    PLACES,
    PRONOUNS,
    SURFACES,
    TIMES,
    VERBS,
    WEATHER,
    Adjective,
    Noun,
    Verb,
)
from regard.corpora.phrasebook.meaning import (
    Compound,
    Degree,
    Event,
    Existence,
    Meaning,
    NounPhrase,
    PlacePhrase,
    PredicateNoun,
    QualityPredicate,
    Question,
    Relative,
    Tense,
)

reasons = cache(c.reasons)
THIRD_PERSONS = tuple(p for p in PRONOUNS if p.name in ("he", "she", "they"))


class Sampler(ClauseSampler):
    """Draws meanings of every construction."""

    def draw(self, constructions: tuple[str, ...]) -> Meaning:
        """A meaning of one of these constructions."""
        return DRAW[self.choose(constructions)](self)

    def statement(self) -> Meaning:
        """Somebody does or did something."""
        return self.event(self.choose(c.PLAIN_VERBS))

    def question(self) -> Meaning:
        """Whether, who, what, where or when."""
        x = self.chance()
        if x < 0.25:
            return self.quality_question() if x < 0.08 else self.who()
        verb = self.choose(c.PLAIN_VERBS)
        if x < 0.45 and verb in c.WHAT_VERBS:
            event = self.event(verb, "what")
            return replace(event, object=None, place=None)
        if x < 0.55 and c.CAN_HAVE_PLACE[verb]:
            return self.event(verb, "where")
        if x < 0.65 and not {"s", "w"} & set(verb.marks):
            event = self.event(verb, "when")
            return event if event.tense in ("past", "future") else replace(event, tense="past")
        return self.event(verb, "whether")

    def who(self) -> Event:
        """Who did it."""
        verb = self.choose(c.PLAIN_VERBS)
        while "person" not in verb.subjects:
            verb = self.choose(c.PLAIN_VERBS)
        event = self.event(verb, "who")
        return Event(
            verb, event.tense, None, event.object, None, False, event.place, event.time, False,
            event.frequency, "who",
        )  # fmt: skip

    def quality_question(self) -> QualityPredicate:
        """Is it so?"""
        noun = self.choose(COMMON_NOUNS)
        while not c.OF_SUBJECT[noun]:
            noun = self.choose(COMMON_NOUNS)
        subject = NounPhrase(noun, self.choose(c.OWNED if c.CAN_BE_OWNED[noun] else c.DEFINITE))
        adjective = self.choose(c.OF_SUBJECT[noun])
        return QualityPredicate(subject, adjective, "", "present", question="whether")

    def giving(self) -> Meaning:
        """Somebody gives somebody something."""
        verb = self.choose(c.GIVING_VERBS)
        event = self.event(verb)
        receiver = NounPhrase(self.choose(PERSON_NAMES))
        if self.chance() < 0.6:
            receiver = self.phrase(self.choose(c.OBJECTS[VERBS["meet"]]), c.OWNED, c.DEFINITE)
        assert event.subject is not None
        if receiver.noun is event.subject.noun or event.subject.also is not None:
            return self.giving()
        tense: Tense = "past" if event.tense == "never" else event.tense
        return Event(
            verb, tense, event.subject, event.object, receiver, event.is_negated, None, event.time,
            event.is_time_first,
        )  # fmt: skip

    def quality(self) -> Meaning:
        """Something is so, or more so than something else."""
        noun = self.choose(COMMON_NOUNS)
        adjectives = c.OF_SUBJECT[noun]
        if not adjectives:
            return self.quality()
        adjective = self.choose(adjectives)
        subject = NounPhrase(noun, self.choose(c.OWNED if c.CAN_BE_OWNED[noun] else c.DEFINITE))
        if "person" in noun.sorts and self.chance() < 0.4:
            subject = self.person()
        x = self.chance()
        if x < 0.35:
            than = self.compared(noun, adjective)
            if than.noun is subject.noun:
                return self.quality()
            return QualityPredicate(
                subject, adjective, "more" if x < 0.22 else "as", "present", than=than
            )
        degree: Degree = self.choose(("", "very", "too"))
        if self.chance() < 0.25:
            degree = "" if degree == "too" else degree
            return QualityPredicate(subject, adjective, degree, "present", True)
        if self.chance() < 0.3 and "person" in noun.sorts:
            return QualityPredicate(
                subject, adjective, degree, "past", time=self.choose(TIMES["past"])
            )
        return QualityPredicate(subject, adjective, degree, "present")

    def compared(self, noun: Noun, adjective: Adjective) -> NounPhrase:
        """Something of the same sort, to compare with."""
        if "person" in noun.sorts and self.chance() < 0.4:
            return NounPhrase(self.choose(PERSON_NAMES))
        return NounPhrase(self.choose(_like(noun, adjective)), self.choose(c.SINGLE))

    def predicate_noun(self) -> Meaning:
        """Somebody is a doctor, or somebody's friend; an animal is a fox."""
        x = self.chance()
        is_animal = x < 0.25
        if is_animal:
            subject = NounPhrase(NOUNS["animal"], self.choose(c.DEFINITE))
            noun = self.choose(c.ANIMALS)
        else:
            subject = self.person()
            if x < 0.5:
                subject = self.phrase(self.choose(c.ADULTS), c.OWNED, c.DEFINITE)
            gender = "f" if subject.is_feminine else "m"
            noun = self.choose(c.PROFESSIONS[gender])
        predicate = NounPhrase(noun, DETERMINERS["a"])
        if subject.slot > 2:
            predicate = NounPhrase(noun, is_general=True)
        elif x > 0.8 and subject.slot == 2:  # not "I am my friend"
            predicate = NounPhrase(self.choose(c.RELATIONS[gender]), self.choose(c.OWNERS))
        y = self.chance()
        question: Question = "whether" if y > 0.8 else ""
        return PredicateNoun(subject, predicate, y < 0.25, question)

    def existence(self) -> Meaning:
        """There is something somewhere."""
        if self.chance() < 0.5:
            noun = self.choose(c.OBJECTS[VERBS["meet"]] + c.OBJECTS[VERBS["feed"]])
            relation, nouns = self.choose(PLACES)
        else:
            noun = self.choose(c.OBJECTS[VERBS["hide"]])
            relation, nouns = self.choose(SURFACES)
        place = self.choose(nouns)
        if place is noun:
            return self.existence()
        return Existence(self.phrase(noun, c.NEW, c.NEW), PlacePhrase(relation, place))

    # Two clauses

    def relative(self) -> Meaning:
        """A clause in which one noun has a clause of its own."""
        event = self.event(self.choose(c.PLAIN_VERBS))
        subject, thing = event.subject, event.object
        assert subject is not None
        if self.chance() < 0.6 or thing is None:
            if subject.noun.word_class != "common" or subject.also is not None:
                return self.relative()
            with_clause = self.with_clause(subject.noun, thing)
            return self.relative() if with_clause is None else replace(event, subject=with_clause)
        if thing.noun.word_class != "common" or thing.also is not None or thing.is_general:
            return self.relative()
        if event.verb.french_particle == "à" or "g" in event.verb.marks:
            return self.relative()
        with_clause = self.with_clause(thing.noun, subject)
        if with_clause is None:
            return self.relative()
        # What follows would seem to belong to the relative clause.
        time = event.time if event.is_time_first else None
        return replace(event, object=with_clause, place=None, time=time)

    def with_clause(self, noun: Noun, elsewhere: NounPhrase | None) -> NounPhrase | None:
        """The noun with a relative clause, or None if the words drawn do not fit."""
        determiner = self.choose(c.DEFINITE)
        is_subject = self.chance() < 0.5
        verbs = _verbs_with(noun, is_subject)
        if not verbs:
            return None
        verb = self.choose(verbs)
        x = self.chance()
        tense: Tense = "past" if x < 0.7 else "future"
        if "s" in verb.marks:
            tense = "present"
        elif "w" in verb.marks:
            tense = "state"
        elif x < 0.3 and "d" in verb.marks and is_subject:
            tense = "progressive"
        elif not verb.objects:
            tense = "progressive" if "d" in verb.marks else "past"
        is_negated = tense in ("past", "present") and bool(verb.objects) and self.chance() < 0.2
        other: NounPhrase | None = None
        if is_subject and verb.objects:
            other = self.thing(verb, noun, is_definite=True)
        elif not is_subject:
            other = self.person()
            if self.chance() < 0.5 or "person" not in verb.subjects:
                doer = self.choose(c.SUBJECTS[verb])
                # Not "that": it would stand right after the "that" of the clause.
                other = self.phrase(doer, c.NEAR_OWNED, c.NEAR)
        if other is not None and elsewhere is not None and other.noun is elsewhere.noun:
            return None
        if other is not None and other.noun is noun:
            return None
        role = "subject" if is_subject else "object"
        return NounPhrase(
            noun,
            determiner,
            None,
            Relative(role, verb, tense, is_negated, other),  # type: ignore[arg-type]
        )

    def because(self) -> Meaning:
        """The lectures' case: "it" is the one of two nouns that the adjective fits."""
        verb = self.choose(c.REASON_VERBS)
        others = c.OTHER_SUBJECTS[verb]
        noun = self.choose(others if others and self.chance() < 0.7 else c.SUBJECTS[verb])
        thing = self.choose(c.OBJECTS[verb])
        x = self.chance()
        is_negated = x < 0.65
        is_but = x > 0.85
        ours, theirs = reasons(verb, noun, thing, is_negated=is_negated or is_but)
        which = "subject" if self.chance() < 0.5 else "object"
        adjectives = ours if which == "subject" else theirs
        if not adjectives:
            return self.because()
        subject = self.phrase(noun, c.SINGLE_OWNED, c.SINGLE)
        if "person" in noun.sorts and self.chance() < 0.3:
            subject = NounPhrase(self.choose(PERSON_NAMES))
        target = self.phrase(thing, c.SINGLE_OWNED, c.SINGLE)
        adjective = self.choose(adjectives)
        if is_but and adjective.name in ("hungry", "thirsty", "lazy", "shy"):
            return self.because()  # no obstacle to speak of
        if target.adjective is not None or subject.adjective is not None:
            target = NounPhrase(thing, target.determiner)
            subject = NounPhrase(subject.noun, subject.determiner)
        tense: Tense = "past"
        if is_negated and x < 0.25:
            tense = "future" if x < 0.15 else "can"
        main = Event(verb, tense, subject, target, is_negated=is_negated)
        quality = QualityPredicate(
            which,  # type: ignore[arg-type]
            adjective,
            "too" if is_negated else "very",
            "past" if tense == "past" else "present",
        )
        return Compound(main, "but" if is_but else "because", quality)

    def when(self) -> Meaning:
        """When somebody came, others were doing something; if it rains, they will."""
        verb = self.choose(c.PLAIN_VERBS)
        if self.chance() < 0.4:
            event = self.event(verb)
            if event.tense != "future" or event.is_time_first:
                return self.when()
            return Compound(replace(event, time=None), "if", self.choose(WEATHER))
        if "d" not in verb.marks:
            return self.when()
        event = self.event(verb)
        arriving = self.choose(c.ARRIVING_VERBS)
        first = Event(arriving, "past", self.subject(arriving, is_definite=True))
        if event.is_negated or event.time or event.frequency or event.subject is None:
            return self.when()
        assert first.subject is not None
        if first.subject.noun is event.subject.noun or event.subject.noun in THIRD_PERSONS:
            return self.when()  # "she" would seem to be the one who came
        return Compound(replace(event, tense="was doing"), "when", first)


@cache
def _like(noun: Noun, adjective: Adjective) -> tuple[Noun, ...]:
    """The nouns of the same sort of which the adjective can be said too."""
    same = (other for other in COMMON_NOUNS if other.sorts[0] == noun.sorts[0])
    return tuple(other for other in same if c.fits(adjective, other))


@cache
def _verbs_with(noun: Noun, is_subject: bool) -> tuple[Verb, ...]:
    """The verbs that the noun can be the subject or the object of."""
    table = c.SUBJECTS if is_subject else c.OBJECTS
    return tuple(
        verb
        for verb in c.PLAIN_VERBS
        if noun in table[verb]
        and (is_subject or not verb.french_particle)
        and verb.name != "arrive"
    )


DRAW: dict[str, Callable[[Sampler], Meaning]] = {
    "statement": Sampler.statement,
    "question": Sampler.question,
    "giving": Sampler.giving,
    "quality": Sampler.quality,
    "predicate noun": Sampler.predicate_noun,
    "existence": Sampler.existence,
    "relative": Sampler.relative,
    "because": Sampler.because,
    "when": Sampler.when,
}
