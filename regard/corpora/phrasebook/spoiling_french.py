"""Paradigms of French: agreement, gender, il and elle, participles, qui and que, negation."""

from regard.corpora.phrasebook import sentence as n
from regard.corpora.phrasebook.conjugation import French
from regard.corpora.phrasebook.french import AVOIR, BE, IS, MODALS
from regard.corpora.phrasebook.french_phrases import ELIDED, begins_with_vowel
from regard.corpora.phrasebook.meaning import Event, Meaning, NounPhrase
from regard.corpora.phrasebook.sentence import PhrasebookSentence
from regard.corpora.phrasebook.spoiling import (
    REASONS,
    RELATIVES,
    STATEMENTS,
    Paradigm,
    Words,
    both_ways,
    event_of,
    is_third,
    phrases_of,
    place_of,
    reason_of,
    relatives_of,
    swapped,
    without,
)
from regard.corpora.phrasebook.spoiling import replaced as _replaced

HE, THEY = 2, 4  # the slots of the third person
AGREEING = both_ways({forms[HE]: forms[THEY] for forms in (AVOIR, *BE.values(), *MODALS.values())})
GENDERED = both_ways({"le": "la", "un": "une", "ce": "cette", "mon": "ma", "ton": "ta"})
AUXILIARIES = both_ways({AVOIR[slot]: IS[slot] for slot in (1, HE, 3, THEY)})
TIMES = both_ways({"dernière": "prochaine", "dernier": "prochain"})
EPICENE = {"touriste", "enfant", "médecin", "professeur"}  # of a man or of a woman
# What never stands before its noun; others may, for effect.
LATE = {"red", "blue", "green", "black", "white", "yellow", "salty", "spicy", "sour", "slippery"}
_ELIDABLE = {*ELIDED, *ELIDED.values()}


def replaced(s: PhrasebookSentence, place: int | None, word: str | None) -> Words | None:
    """Another word in a place, unless the word before it would have to change too."""
    if place is None or not word:
        return None
    is_after_elidable = place > 0 and s.words[place - 1].lower() in _ELIDABLE
    if is_after_elidable and begins_with_vowel(word) != begins_with_vowel(s.words[place]):
        return None
    return _replaced(s, place, word)


def mapped(s: PhrasebookSentence, place: int | None, table: dict[str, str]) -> Words | None:
    """The word of a place replaced by what a table has for it."""
    return None if place is None else replaced(s, place, table.get(s.words[place].lower()))


def _finite(s: PhrasebookSentence, base: int) -> int | None:
    """The first word of the verb group after ne."""
    return place_of(s, base + n.VERB, base + n.AUXILIARY)


def _other_number(s: PhrasebookSentence, place: int | None, verb: French) -> Words | None:
    own = {forms[HE]: forms[THEY] for forms in (verb.present, verb.future)}
    return mapped(s, place, AGREEING | both_ways(own))


def _main_verb(event: Event, s: PhrasebookSentence) -> Words | None:
    if not is_third(event.subject):
        return None
    return _other_number(s, _finite(s, 0), event.verb.french)


def agreement(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """Les chats dorment. / Les chats dort."""
    event = event_of(meaning)
    if event is None or event.subject is None or event.subject.relative is not None:
        return None
    return _main_verb(event, s)


def distant_agreement(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """Les chats qui ont vu le chien dorment. / … dort."""
    event = event_of(meaning)
    if event is None or event.subject is None or event.subject.relative is None:
        return None
    return _main_verb(event, s)


def inner_agreement(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """Les garçons qui mangent / Les garçons qui mange."""
    for base, _, relative in relatives_of(meaning, "subject"):
        return _other_number(s, _finite(s, base + n.RELATIVE), relative.verb.french)
    return None


def article_gender(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """La table / Le table."""
    for base, phrase in phrases_of(meaning):
        place = place_of(s, base + n.DETERMINER)
        if place is None or phrase.noun.french[0] in EPICENE:
            continue
        if not begins_with_vowel(s.words[place + 1]):
            return mapped(s, place, GENDERED)
    return None


def elision(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """L'animal / Le animal."""
    for base, phrase in phrases_of(meaning):
        place = place_of(s, base + n.DETERMINER)
        if place is not None and s.words[place].lower() == "l'":
            return _replaced(s, place, "la" if phrase.noun.gender == "f" else "le")
    return None


def noun_number(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """Ces chats / Ces chat."""
    for base, phrase in phrases_of(meaning):
        if phrase.determiner is not None:
            return replaced(s, s.places[base], phrase.noun.french[not phrase.is_plural])
    return None


def adjective_gender(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """Une voiture verte / Une voiture vert."""
    for base, phrase in phrases_of(meaning):
        if phrase.adjective is not None and phrase.noun.french[0] not in EPICENE:
            wrong = phrase.adjective.french[(phrase.noun.gender != "f") + 2 * phrase.is_plural]
            return replaced(s, place_of(s, base + n.ADJECTIVE), wrong)
    return None


def predicate_gender(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """Elle était fatiguée. / Elle était fatigué."""
    reason = reason_of(meaning)
    if reason is None:
        return None
    phrase, quality = reason
    return replaced(
        s, place_of(s, n.SECOND + n.VERB), quality.adjective.french[phrase.noun.gender != "f"]
    )


def pronoun_gender(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """La rue … parce qu'elle était / … parce qu'il était."""
    reason = reason_of(meaning)
    if reason is None or reason[0].noun.french[0] in EPICENE:
        return None
    return mapped(s, s.antecedents[0][0], {"il": "elle", "elle": "il"})


def _participle(
    s: PhrasebookSentence, phrase: NounPhrase | None, verb: French, place: int | None
) -> Words | None:
    """The form of the other gender."""
    if phrase is None or not is_third(phrase) or phrase.noun.french[0] in EPICENE:
        return None
    number = 2 * (phrase.slot > HE)
    return replaced(s, place, verb.participle[(not phrase.is_feminine) + number])


def participle_of_subject(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """Anna est tombée. / Anna est tombé."""
    event = event_of(meaning)
    if event is None or "e" not in event.verb.marks:
        return None
    if event.tense not in ("past", "already", "never"):
        return None
    return _participle(s, event.subject, event.verb.french, place_of(s, n.VERB))


def participle_of_object(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """La pomme que Tom a mangée / La pomme que Tom a mangé."""
    for base, phrase, relative in relatives_of(meaning, "object"):
        if relative.tense == "past":
            place = place_of(s, base + n.RELATIVE + n.VERB)
            return _participle(s, phrase, relative.verb.french, place)
    return None


def auxiliary(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """Tom est arrivé. / Tom a arrivé."""
    event = event_of(meaning)
    if event is None or event.tense not in ("past", "already", "never"):
        return None
    return mapped(s, place_of(s, n.AUXILIARY), AUXILIARIES)


def relative_pronoun(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """La femme qui dort / La femme que dort."""
    for role in ("subject", "object"):
        for base, _, _ in relatives_of(meaning, role):
            place = place_of(s, base + n.LINK)
            if place is None:
                return None
            que = "qu'" if begins_with_vowel(s.words[place + 1]) else "que"
            return _replaced(s, place, "qui" if role == "object" else que)
    return None


def tense_and_time(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """Hier, Tom a mangé. / Demain, Tom a mangé."""
    event = event_of(meaning)
    if event is None or event.time is None or event.tense not in ("past", "future"):
        return None
    places = [i for i, piece in enumerate(s.pieces) if piece == n.TIME]
    alone = both_ways({"hier": "demain"}) if len(places) == 1 else {}
    return mapped(s, places[-1], TIMES | alone)


def never(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """Tom n'a jamais mangé. / Tom n'a déjà mangé."""
    event = event_of(meaning)
    is_never = event is not None and event.tense == "never"
    return mapped(s, place_of(s, n.ADVERB), {"jamais": "déjà"}) if is_never else None


def no_pas(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """Tom ne mange pas la pomme. / Tom ne mange la pomme."""
    event = event_of(meaning)
    if event is None or not event.is_negated or event.tense == "can":  # "il ne peut dormir"
        return None
    places = [i for i, piece in enumerate(s.pieces) if piece == n.NEGATION]
    return without(s, next((i for i in places if s.words[i] == "pas"), None))


def adjective_order(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """Une voiture verte / Une verte voiture."""
    for base, phrase in phrases_of(meaning):
        if phrase.adjective is not None and phrase.adjective.name in LATE:
            head = s.places[base]
            if begins_with_vowel(s.words[head]) == begins_with_vowel(s.words[head + 1]):
                return swapped(s, head, head + 1, head + 2)
    return None


PARADIGMS = (
    Paradigm("agreement", "subject and verb", STATEMENTS, agreement),
    Paradigm("agreement", "across a relative clause", RELATIVES, distant_agreement),
    Paradigm("agreement", "in a relative clause", RELATIVES, inner_agreement),
    Paradigm("determiners", "gender", STATEMENTS, article_gender),
    Paradigm("determiners", "number of the noun", STATEMENTS, noun_number),
    Paradigm("determiners", "elision", STATEMENTS, elision),
    Paradigm("adjectives", "gender beside a noun", STATEMENTS, adjective_gender),
    Paradigm("adjectives", "gender of a pronoun", REASONS, predicate_gender),
    Paradigm("pronouns", "il or elle", REASONS, pronoun_gender),
    Paradigm("participles", "of a subject", STATEMENTS, participle_of_subject),
    Paradigm("participles", "of an object before it", RELATIVES, participle_of_object),
    Paradigm("participles", "être or avoir", STATEMENTS, auxiliary),
    Paradigm("tense", "tense and time", STATEMENTS, tense_and_time),
    Paradigm("negation", "ne and jamais", STATEMENTS, never),
    Paradigm("negation", "pas left out", STATEMENTS, no_pas),
    Paradigm("relative clauses", "qui or que", RELATIVES, relative_pronoun),
    Paradigm("word order", "adjective and noun", STATEMENTS, adjective_order),
)
