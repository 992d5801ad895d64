"""Paradigms of English: agreement, articles, pronouns, tense, questions, relative clauses."""

from regard.corpora.phrasebook import sentence as n
from regard.corpora.phrasebook.lexicon import Verb
from regard.corpora.phrasebook.meaning import Meaning, Tense
from regard.corpora.phrasebook.sentence import PhrasebookSentence
from regard.corpora.phrasebook.spoiling import (
    QUESTIONS,
    REASONS,
    RELATIVES,
    STATEMENTS,
    Paradigm,
    Words,
    both_ways,
    event_of,
    finite,
    inserted,
    is_third,
    mapped,
    phrases_of,
    place_of,
    reason_of,
    relatives_of,
    replaced,
    swapped,
)

AGREEING = both_ways(
    {"is": "are", "isn't": "aren't", "was": "were", "wasn't": "weren't", "has": "have"}
    | {"does": "do", "doesn't": "don't", "wants": "want"}
)
MARKED = {"that", "a", "those", "two", "three", "four", "five", "several", "many", "the two"}
TIMES = both_ways({"didn't": "won't", "did": "will"})
SUPPORT = {"doesn't": "isn't", "don't": "aren't", "didn't": "wasn't", "does": "is", "do": "are"} | {
    "did": "was"
}
BASE, PRESENT, PAST, PARTICIPLE, GOING_ON = range(5)  # the forms of a verb


def _other_number(
    s: PhrasebookSentence, place: int | None, verb: Verb, tense: Tense
) -> Words | None:
    forms = verb.english
    present = both_ways({forms[BASE]: forms[PRESENT]}) if tense == "present" else {}
    return mapped(s, place, AGREEING | present)


def _main_verb(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    event = event_of(meaning)
    if event is None or event.subject is None or not is_third(event.subject):
        return None
    return _other_number(s, finite(s, 0), event.verb, event.tense)


def agreement(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """The cats sleep. / The cats sleeps."""
    event = event_of(meaning)
    is_plain = event is not None and event.subject is not None and not event.question
    if not is_plain or event.subject.relative is not None:  # type: ignore[union-attr]
        return None
    return _main_verb(meaning, s)


def distant_agreement(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """The cats that saw the dog sleep. / The cats that saw the dog sleeps."""
    event = event_of(meaning)
    has_clause = event is not None and event.subject is not None and event.subject.relative
    return _main_verb(meaning, s) if has_clause else None


def inner_agreement(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """The boys who are eating / The boys who is eating."""
    for base, _, relative in relatives_of(meaning, "subject"):
        place = finite(s, base + n.RELATIVE)
        return _other_number(s, place, relative.verb, relative.tense)
    return None


def question_agreement(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """Does the cat sleep? / Do the cat sleep?"""
    event = event_of(meaning)
    asks = event is not None and event.question not in ("", "who")
    return _main_verb(meaning, s) if asks else None


def noun_number(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """Those cats / Those cat."""
    for base, phrase in phrases_of(meaning):
        if phrase.determiner is not None and phrase.determiner.name in MARKED:
            return replaced(s, s.places[base], phrase.noun.english[not phrase.is_plural])
    return None


def article(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """An apple / A apple."""
    place = next((i for i, word in enumerate(s.words) if word.lower() in ("a", "an")), None)
    return mapped(s, place, {"a": "an", "an": "a"})


def relative_pronoun(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """The table that Tom sold / The table who Tom sold."""
    both = (one for role in ("subject", "object") for one in relatives_of(meaning, role))
    for base, phrase, _ in both:
        if not {"person", "animal"} & set(phrase.noun.sorts):
            return replaced(s, place_of(s, base + n.LINK), "who")
    return None


def pronoun_gender(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """The man … because he was tired. / … because she was tired."""
    place = s.antecedents[0][0] if s.antecedents else None
    return mapped(s, place, {"he": "she", "she": "he"})


def pronoun_animacy(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """The street … because it was wide. / … because he was wide."""
    reason = reason_of(meaning)
    if reason is None or "animal" in reason[0].noun.sorts:
        return None
    return mapped(s, s.antecedents[0][0], {"it": "he", "he": "it", "she": "it"})


def tense_and_time(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """Yesterday, Tom ate. / Yesterday, Tom eats."""
    event = event_of(meaning)
    if event is None or event.time is None or event.time.name == "this morning":
        return None
    place = finite(s, 0)
    if event.tense == "past" and not event.is_negated and not event.question:
        slot = 2 if event.subject is None else event.subject.slot
        return replaced(s, place, event.verb.english[PRESENT if slot == 2 else BASE])
    return mapped(s, place, TIMES) if event.tense in ("past", "future") else None


def verb_form(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """Tom will eat. / Tom will ate."""
    event = event_of(meaning)
    place = place_of(s, n.VERB)
    if event is None or place is None or place == finite(s, 0):
        return None
    forms = event.verb.english
    found = forms.index(s.words[place]) if s.words[place] in forms else -1
    wrong = {BASE: PAST, PARTICIPLE: BASE, PAST: BASE, GOING_ON: BASE}.get(found)
    return None if wrong is None else replaced(s, place, forms[wrong])


def do_support(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """Tom doesn't sleep. / Tom isn't sleep."""
    event = event_of(meaning)
    has_do = event is not None and event.is_negated and event.tense in ("past", "present")
    return mapped(s, finite(s, 0), SUPPORT) if has_do else None


def asking_do(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """Did Tom sleep? / Was Tom sleep?"""
    event = event_of(meaning)
    has_do = event is not None and event.question and event.tense in ("past", "present")
    return mapped(s, finite(s, 0), SUPPORT) if has_do else None


def adjective_order(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """The red car / The car red."""
    for base, phrase in phrases_of(meaning):
        if phrase.adjective is not None:
            head = s.places[base]
            return swapped(s, head - 1, head, head + 1)
    return None


def question_gap(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """What did Tom eat? / What did Tom eat it?"""
    event = event_of(meaning)
    if event is None or event.question != "what":
        return None
    place = place_of(s, n.PARTICLE) or place_of(s, n.VERB)
    return None if place is None else inserted(s, place + 1, "it")


def relative_gap(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """The apple that Tom ate / The apple that Tom ate it."""
    for base, phrase, _ in relatives_of(meaning, "object"):
        inner = base + n.RELATIVE
        place = place_of(s, inner + n.PARTICLE) or place_of(s, inner + n.VERB)
        if place is not None and "person" not in phrase.noun.sorts and not phrase.is_plural:
            return inserted(s, place + 1, "it")
    return None


PARADIGMS = (
    Paradigm("agreement", "subject and verb", STATEMENTS, agreement),
    Paradigm("agreement", "across a relative clause", RELATIVES, distant_agreement),
    Paradigm("agreement", "in a relative clause", RELATIVES, inner_agreement),
    Paradigm("agreement", "in a question", QUESTIONS, question_agreement),
    Paradigm("determiners", "number of the noun", STATEMENTS, noun_number),
    Paradigm("determiners", "a or an", STATEMENTS, article),
    Paradigm("pronouns", "he or she", REASONS, pronoun_gender),
    Paradigm("pronouns", "it or he", REASONS, pronoun_animacy),
    Paradigm("tense", "tense and time", (*STATEMENTS, *QUESTIONS), tense_and_time),
    Paradigm("tense", "form after an auxiliary", STATEMENTS, verb_form),
    Paradigm("negation", "do or be", STATEMENTS, do_support),
    Paradigm("questions", "do or be", QUESTIONS, asking_do),
    Paradigm("questions", "filled gap", QUESTIONS, question_gap),
    Paradigm("relative clauses", "that or who", RELATIVES, relative_pronoun),
    Paradigm("relative clauses", "filled gap", RELATIVES, relative_gap),
    Paradigm("word order", "adjective and noun", STATEMENTS, adjective_order),
)
