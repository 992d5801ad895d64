"""From a meaning to an English sentence."""

from regard.corpora.phrasebook import sentence as n
from regard.corpora.phrasebook.english_phrases import (
    DO,
    add_object,
    auxiliaries,
    copula,
    noun_phrase,
    verb_group,
)
from regard.corpora.phrasebook.grammar import Grammar, capitalise
from regard.corpora.phrasebook.meaning import (
    Adverbial,
    Compound,
    Event,
    Existence,
    Meaning,
    NounPhrase,
    Place,
    PredicateNoun,
    Quality,
)
from regard.corpora.phrasebook.sentence import NOTHING, Sentence


def realise(meaning: Meaning) -> Sentence:
    """The English sentence of a meaning."""
    s = Sentence()
    root, question = GRAMMAR.append(s, meaning)
    s.add("?" if question else ".", n.STOP, "punct", root)
    capitalise(s)
    return s


def _place(s: Sentence, place: Place, base: int, head: int) -> None:
    case = s.add_fixed(place.relation.english, base + n.RELATION, "case", head)
    article = -1
    if place.noun.kind == "common":
        article = s.add("the", NOTHING, "det")
    noun = s.add(place.noun.english[0], base + n.PLACE, "obl", head)
    s.hang(noun, case)
    if article >= 0:
        s.hang(noun, article)


def _event(s: Sentence, event: Event, base: int) -> int:
    time, verb, question = event.time, event.verb, event.question
    first = -1
    comma = -1
    if time is not None and event.is_time_first:
        first = s.add_fixed(time.english, base + n.TIME, "obl:tmod", n.ROOT)
        comma = s.add(",", base + n.COMMA, "punct")
    if question and question != "who":
        place = _inverted(s, event, base)
    else:
        if event.subject is None:
            subject, slot = s.add("who", base + n.SUBJECT, "nsubj"), 2
        else:
            subject = noun_phrase(s, event.subject, base + n.SUBJECT, "nsubj")
            slot = event.subject.slot
        place = verb_group(s, verb, event.tense, event.is_negated, slot, base, event.frequency)
        s.hang(place, subject)
    if first >= 0:
        s.hang(place, first, comma)
    if event.object is not None:
        add_object(s, verb, event.object, base + n.OBJECT, place)
    elif question == "what" and verb.english_particle:
        s.add(verb.english_particle, base + n.PARTICLE, "case", s.places[base + n.OBJECT])
        s.relations[s.places[base + n.OBJECT]] = "obl"
    if event.recipient is not None:
        case = s.add("to", NOTHING, "case")
        noun = noun_phrase(s, event.recipient, base + n.RECIPIENT, "obl")
        s.hang(noun, case)
        s.hang(place, noun)
    if event.place is not None:
        _place(s, event.place, base, place)
    if time is not None and not event.is_time_first:
        s.add_fixed(time.english, base + n.TIME, "obl:tmod", place)
    return place


def _inverted(s: Sentence, event: Event, base: int) -> int:
    """Append question word, auxiliary, subject and verb."""
    assert event.subject is not None
    asked = -1
    if event.question == "what":
        asked = s.places[base + n.OBJECT] = s.add("what", base + n.OBJECT, "obj")
    elif event.question == "where":
        asked = s.add("where", base + n.PLACE, "advmod")
    elif event.question == "when":
        asked = s.add("when", base + n.TIME, "advmod")
    slot = event.subject.slot
    words, form = auxiliaries(event.tense, slot, False)
    if event.tense == "want":
        words = [DO[slot], "want", "to"]
    if not words:
        words, form = ["did" if event.tense == "past" else DO[slot]], 0
    auxiliary = s.add(words[0], base + n.AUXILIARY, "aux")
    subject = noun_phrase(s, event.subject, base + n.SUBJECT, "nsubj")
    before = [auxiliary, subject]
    for word in words[1:]:
        if word == "to":
            before.append(s.add(word, NOTHING, "mark"))
        elif word == "want":
            before.append(s.add(word, base + n.AUXILIARY, "aux"))
        else:
            before.append(s.add(word, base + n.ADVERB, "advmod"))
    if event.frequency is not None:
        before.append(s.add(event.frequency.english[0], base + n.ADVERB, "advmod"))
    place = s.add(event.verb.english[form], base + n.VERB, "root")
    s.hang(place, *before)
    if asked >= 0:
        s.hang(place, asked)
    if event.verb.english_particle == "back":
        s.add("back", base + n.VERB, "compound:prt", place)
    return place


def _quality(s: Sentence, quality: Quality, base: int, main: Event | None = None) -> int:
    before = []
    phrase = quality.subject
    slot = 2 if isinstance(phrase, str) else phrase.slot
    words = copula(quality.tense, slot, quality.is_negated)
    if quality.question:
        before.append(s.add(words.pop(0), NOTHING, "cop"))
    if isinstance(phrase, str):
        assert main is not None
        subject = _pronoun(s, main.subject if phrase == "subject" else main.object, base)
        s.antecedents.append((subject, s.places[n.SUBJECT if phrase == "subject" else n.OBJECT]))
    else:
        subject = noun_phrase(s, phrase, base + n.SUBJECT, "nsubj")
    before.append(subject)
    for word in words:
        piece = base + n.NEGATION if word.endswith("n't") or word == "not" else NOTHING
        relation = "aux" if word in ("will", "won't") else "advmod" if word == "not" else "cop"
        if word in ("will", "won't") and piece == NOTHING:
            piece = base + n.AUXILIARY
        before.append(s.add(word, piece, relation))
    place = _degree(s, quality, base, before)
    s.hang(place, *before)
    if quality.than is not None:
        case = s.add("as" if quality.degree == "as" else "than", base + n.CONJUNCTION, "case")
        other = noun_phrase(s, quality.than, base + n.OBJECT, "obl")
        s.hang(other, case)
        s.hang(place, other)
    if quality.time is not None:
        s.add_fixed(quality.time.english, base + n.TIME, "obl:tmod", place)
    return place


def _pronoun(s: Sentence, phrase: NounPhrase | None, base: int) -> int:
    """Append he, she or it for a phrase of the main clause."""
    assert phrase is not None
    noun = phrase.noun
    word = "it" if "person" not in noun.sorts else "he" if noun.gender == "m" else "she"
    return s.add(word, base + n.SUBJECT, "nsubj")


def _degree(s: Sentence, quality: Quality, base: int, before: list[int]) -> int:
    """Append the adjective with its degree."""
    adjective = quality.adjective
    if quality.degree == "more":
        if len(adjective.comparative) > 1:
            before.append(s.add("more", base + n.DEGREE, "advmod"))
            return s.add(adjective.english, base + n.VERB, "root")
        return s.add(adjective.comparative[0], base + n.VERB, "root")
    if quality.degree:
        before.append(s.add(quality.degree, base + n.DEGREE, "advmod"))
    return s.add(adjective.english, base + n.VERB, "root")


def _predicate_noun(s: Sentence, one: PredicateNoun) -> int:
    before = []
    words = copula("present", one.subject.slot, one.is_negated)
    if one.question:
        before.append(s.add(words.pop(0), n.AUXILIARY, "cop"))
    before.append(noun_phrase(s, one.subject, n.SUBJECT, "nsubj"))
    for word in words:
        piece = n.NEGATION if word.endswith(("n't", "not")) else n.AUXILIARY
        before.append(s.add(word, piece, "advmod" if word == "not" else "cop"))
    place = noun_phrase(s, one.predicate, n.OBJECT, "root")
    s.hang(place, *before)
    return place


def _existence(s: Sentence, existence: Existence) -> int:
    there = s.add("there", NOTHING, "expl")
    verb = s.add("are" if existence.subject.slot == 4 else "is", n.VERB, "root")
    s.hang(verb, there, noun_phrase(s, existence.subject, n.SUBJECT, "nsubj"))
    _place(s, existence.place, 0, verb)
    return verb


def _compound(s: Sentence, compound: Compound) -> int:
    second, conjunction = compound.second, compound.conjunction
    if conjunction in ("when", "if"):
        link = s.add(conjunction, n.CONJUNCTION, "mark")
        if isinstance(second, Adverbial):
            expletive = s.add(second.english[0], NOTHING, "expl")
            clause = s.add(second.english[1], n.SECOND, "advcl")
            s.hang(clause, expletive)
        else:
            assert isinstance(second, Event)
            clause = _event(s, second, n.SECOND)
            s.relations[clause] = "advcl"
        s.hang(clause, link, s.add(",", n.COMMA, "punct"))
        root = _event(s, compound.main, 0)
        s.hang(root, clause)
        return root
    root = _event(s, compound.main, 0)
    comma = s.add(",", n.COMMA, "punct") if conjunction == "but" else -1
    link = s.add(conjunction, n.CONJUNCTION, "cc" if conjunction == "but" else "mark")
    assert isinstance(second, Quality)
    clause = _quality(s, second, n.SECOND, compound.main)
    s.hang(clause, link)
    if comma >= 0:
        s.hang(clause, comma)
    s.heads[clause] = root
    s.relations[clause] = "conj" if conjunction == "but" else "advcl"
    return root


GRAMMAR = Grammar(_event, _quality, _predicate_noun, _existence, _compound)
