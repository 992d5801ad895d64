"""From a meaning to an English sentence."""

from regard.corpora.phrasebook import sentence as n
from regard.corpora.phrasebook.lexicon import Adverbial, Verb
from regard.corpora.phrasebook.meaning import (
    Compound,
    Event,
    Existence,
    Meaning,
    NounPhrase,
    PlacePhrase,
    PredicateNoun,
    QualityPredicate,
    Tense,
)
from regard.corpora.phrasebook.sentence import NOTHING, Grammar, PhrasebookSentence, capitalise

DO = ("do", "do", "does", "do", "do")
HAVE = ("have", "have", "has", "have", "have")
BE = ("am", "are", "is", "are", "are")
WAS = ("was", "were", "was", "were", "were")
NOT = {
    "do": "don't", "does": "doesn't", "did": "didn't", "will": "won't", "can": "can't",
    "is": "isn't", "are": "aren't", "was": "wasn't", "were": "weren't",
}  # fmt: skip
MODALS = {"future": "will", "can": "can", "must": "must"}


def realise(meaning: Meaning) -> PhrasebookSentence:
    """The English sentence of a meaning."""
    s = PhrasebookSentence()
    root, question = GRAMMAR.append(s, meaning)
    s.add("?" if question else ".", n.STOP, "punct", root)
    capitalise(s)
    return s


def _noun_phrase(s: PhrasebookSentence, phrase: NounPhrase, base: int, relation: str) -> int:
    """Append a noun phrase and give the place of its noun, which has no head yet."""
    noun, determiner, adjective = phrase.noun, phrase.determiner, phrase.adjective
    start = len(s.words)
    if determiner is not None:
        for word in determiner.english:
            if word == "a":
                following = adjective.english if adjective else noun.english[0]
                word = "an" if following[0] in "aeiou" else "a"
            s.add(word, base + n.DETERMINER, _determiner_relation(word))
    if adjective is not None:
        s.add(adjective.english, base + n.ADJECTIVE, "amod")
    head = s.add(noun.english[phrase.is_plural], base + n.NOUN, relation)
    for place in range(start, head):
        s.heads[place] = head
    s.places[base] = head
    if phrase.relative is not None:
        _relative(s, phrase, head, base)
    if phrase.also is not None:
        link = s.add("and", base + n.AND, "cc")
        second = _noun_phrase(s, phrase.also, base + n.ALSO, "conj")
        s.hang(second, link)
        s.hang(head, second)
    return head


def _determiner_relation(word: str) -> str:
    if word in ("two", "three", "four", "five"):
        return "nummod"
    if word in ("my", "your", "our", "their"):
        return "nmod:poss"
    return "amod" if word in ("several", "many") else "det"


def _relative(s: PhrasebookSentence, phrase: NounPhrase, head: int, base: int) -> None:
    relative = phrase.relative
    assert relative is not None
    inner = base + n.RELATIVE
    other = inner + n.OBJECT
    if relative.role == "subject":
        word = "who" if "person" in phrase.noun.sorts else "that"
        link = s.add(word, base + n.LINK, "nsubj")
        slot = 4 if phrase.is_plural else 2
        verb = _verb_group(s, relative.verb, relative.tense, relative.is_negated, slot, inner)
        s.hang(verb, link)
        if relative.other is not None:
            _add_object(s, relative.verb, relative.other, other, verb)
    else:
        assert relative.other is not None
        link = s.add("that", base + n.LINK, "obj")
        subject = _noun_phrase(s, relative.other, other, "nsubj")
        slot = relative.other.slot
        verb = _verb_group(s, relative.verb, relative.tense, relative.is_negated, slot, inner)
        s.hang(verb, link, subject)
        if relative.verb.english_particle:
            s.add(relative.verb.english_particle, inner + n.PARTICLE, "case", link)
            s.relations[link] = "obl"
    s.heads[verb] = head
    s.relations[verb] = "acl:relcl"


def _verb_group(
    s: PhrasebookSentence,
    verb: Verb,
    tense: Tense,
    is_negated: bool,
    slot: int,
    base: int,
    frequency: Adverbial | None = None,
) -> int:
    """Append auxiliaries and verb of a statement; the verb has no head yet."""
    words, form = _auxiliaries(tense, slot, is_negated)
    start = len(s.words)
    for word in words:
        piece = base + (n.NEGATION if word.endswith(("n't", "not")) else n.AUXILIARY)
        if word in ("never", "already"):
            s.add(word, base + n.ADVERB, "advmod")
        elif word == "to":
            s.add(word, NOTHING, "mark")
        else:
            s.add(word, piece, "advmod" if word == "not" else "aux")
    if frequency is not None:
        s.add(frequency.english[0], base + n.ADVERB, "advmod")
    if form == 0 and not words and slot == 2:
        form = 1
    place = s.add(verb.english[form], base + n.VERB, "root")
    for before in range(start, place):
        s.heads[before] = place
    if verb.english_particle == "back":
        s.add("back", base + n.VERB, "compound:prt", place)
    return place


def _auxiliaries(tense: Tense, slot: int, is_negated: bool) -> tuple[list[str], int]:
    """The words before the verb, and which of its five forms follows."""
    if tense == "present":
        return ([NOT[DO[slot]]], 0) if is_negated else ([], 0)
    if tense == "past":
        return (["didn't"], 0) if is_negated else ([], 2)
    if tense in MODALS:
        word = MODALS[tense]
        return [NOT[word] if is_negated else word], 0
    if tense == "want":
        if is_negated:
            return [NOT[DO[slot]], "want", "to"], 0
        return ["wants" if slot == 2 else "want", "to"], 0
    if tense in ("already", "never"):
        return [HAVE[slot], tense], 3
    return _copula("past" if tense == "was doing" else "present", slot, is_negated), 4


def _copula(tense: str, slot: int, is_negated: bool) -> list[str]:
    """The form of "be", with its negation."""
    if tense == "future":
        return ["won't" if is_negated else "will", "be"]
    be = (WAS if tense == "past" else BE)[slot]
    if not is_negated:
        return [be]
    return [be, "not"] if be == "am" else [NOT[be]]


def _add_object(
    s: PhrasebookSentence, verb: Verb, phrase: NounPhrase, base: int, head: int
) -> None:
    """Append the object, after the preposition that its verb asks for."""
    particle = verb.english_particle
    if particle:
        case = s.add(particle, base - n.OBJECT + n.PARTICLE, "case")
        s.hang(head, noun := _noun_phrase(s, phrase, base, "obl"))
        s.hang(noun, case)
    else:
        s.hang(head, _noun_phrase(s, phrase, base, "obj"))


def _place(s: PhrasebookSentence, place: PlacePhrase, base: int, head: int) -> None:
    case = s.add_fixed(place.relation.english, base + n.RELATION, "case", head)
    article = -1
    if place.noun.word_class == "common":
        article = s.add("the", NOTHING, "det")
    noun = s.add(place.noun.english[0], base + n.PLACE, "obl", head)
    s.hang(noun, case)
    if article >= 0:
        s.hang(noun, article)


def _event(s: PhrasebookSentence, event: Event, base: int) -> int:
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
            subject = _noun_phrase(s, event.subject, base + n.SUBJECT, "nsubj")
            slot = event.subject.slot
        place = _verb_group(s, verb, event.tense, event.is_negated, slot, base, event.frequency)
        s.hang(place, subject)
    if first >= 0:
        s.hang(place, first, comma)
    if event.object is not None:
        _add_object(s, verb, event.object, base + n.OBJECT, place)
    elif question == "what" and verb.english_particle:
        s.add(verb.english_particle, base + n.PARTICLE, "case", s.places[base + n.OBJECT])
        s.relations[s.places[base + n.OBJECT]] = "obl"
    if event.recipient is not None:
        case = s.add("to", NOTHING, "case")
        noun = _noun_phrase(s, event.recipient, base + n.RECIPIENT, "obl")
        s.hang(noun, case)
        s.hang(place, noun)
    if event.place is not None:
        _place(s, event.place, base, place)
    if time is not None and not event.is_time_first:
        s.add_fixed(time.english, base + n.TIME, "obl:tmod", place)
    return place


def _inverted(s: PhrasebookSentence, event: Event, base: int) -> int:
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
    words, form = _auxiliaries(event.tense, slot, False)
    if event.tense == "want":
        words = [DO[slot], "want", "to"]
    if not words:
        words, form = ["did" if event.tense == "past" else DO[slot]], 0
    auxiliary = s.add(words[0], base + n.AUXILIARY, "aux")
    subject = _noun_phrase(s, event.subject, base + n.SUBJECT, "nsubj")
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


def _quality(
    s: PhrasebookSentence, quality: QualityPredicate, base: int, main: Event | None = None
) -> int:
    before = []
    phrase = quality.subject
    slot = 2 if isinstance(phrase, str) else phrase.slot
    words = _copula(quality.tense, slot, quality.is_negated)
    if quality.question:
        before.append(s.add(words.pop(0), NOTHING, "cop"))
    if isinstance(phrase, str):
        assert main is not None
        subject = _pronoun(s, main.subject if phrase == "subject" else main.object, base)
        s.antecedents.append((subject, s.places[n.SUBJECT if phrase == "subject" else n.OBJECT]))
    else:
        subject = _noun_phrase(s, phrase, base + n.SUBJECT, "nsubj")
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
        other = _noun_phrase(s, quality.than, base + n.OBJECT, "obl")
        s.hang(other, case)
        s.hang(place, other)
    if quality.time is not None:
        s.add_fixed(quality.time.english, base + n.TIME, "obl:tmod", place)
    return place


def _pronoun(s: PhrasebookSentence, phrase: NounPhrase | None, base: int) -> int:
    """Append he, she or it for a phrase of the main clause."""
    assert phrase is not None
    noun = phrase.noun
    word = "it" if "person" not in noun.sorts else "he" if noun.gender == "m" else "she"
    return s.add(word, base + n.SUBJECT, "nsubj")


def _degree(s: PhrasebookSentence, quality: QualityPredicate, base: int, before: list[int]) -> int:
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


def _predicate_noun(s: PhrasebookSentence, one: PredicateNoun) -> int:
    before = []
    words = _copula("present", one.subject.slot, one.is_negated)
    if one.question:
        before.append(s.add(words.pop(0), n.AUXILIARY, "cop"))
    before.append(_noun_phrase(s, one.subject, n.SUBJECT, "nsubj"))
    for word in words:
        piece = n.NEGATION if word.endswith(("n't", "not")) else n.AUXILIARY
        before.append(s.add(word, piece, "advmod" if word == "not" else "cop"))
    place = _noun_phrase(s, one.predicate, n.OBJECT, "root")
    s.hang(place, *before)
    return place


def _existence(s: PhrasebookSentence, existence: Existence) -> int:
    there = s.add("there", NOTHING, "expl")
    verb = s.add("are" if existence.subject.slot == 4 else "is", n.VERB, "root")
    s.hang(verb, there, _noun_phrase(s, existence.subject, n.SUBJECT, "nsubj"))
    _place(s, existence.place, 0, verb)
    return verb


def _compound(s: PhrasebookSentence, compound: Compound) -> int:
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
    assert isinstance(second, QualityPredicate)
    clause = _quality(s, second, n.SECOND, compound.main)
    s.hang(clause, link)
    if comma >= 0:
        s.hang(clause, comma)
    s.heads[clause] = root
    s.relations[clause] = "conj" if conjunction == "but" else "advcl"
    return root


GRAMMAR = Grammar(_event, _quality, _predicate_noun, _existence, _compound)
