"""English noun phrases, relative clauses and verb groups."""

from regard.corpora.phrasebook import sentence as n
from regard.corpora.phrasebook.meaning import Adverbial, NounPhrase, Tense
from regard.corpora.phrasebook.sentence import NOTHING, Sentence
from regard.corpora.phrasebook.verbs import Verb

DO = ("do", "do", "does", "do", "do")
HAVE = ("have", "have", "has", "have", "have")
BE = ("am", "are", "is", "are", "are")
WAS = ("was", "were", "was", "were", "were")
NOT = {
    "do": "don't", "does": "doesn't", "did": "didn't", "will": "won't", "can": "can't",
    "is": "isn't", "are": "aren't", "was": "wasn't", "were": "weren't",
}  # fmt: skip
MODALS = {"future": "will", "can": "can", "must": "must"}


def noun_phrase(s: Sentence, phrase: NounPhrase, base: int, relation: str) -> int:
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
        second = noun_phrase(s, phrase.also, base + n.ALSO, "conj")
        s.hang(second, link)
        s.hang(head, second)
    return head


def _determiner_relation(word: str) -> str:
    if word in ("two", "three", "four", "five"):
        return "nummod"
    if word in ("my", "your", "our", "their"):
        return "nmod:poss"
    return "amod" if word in ("several", "many") else "det"


def _relative(s: Sentence, phrase: NounPhrase, head: int, base: int) -> None:
    relative = phrase.relative
    assert relative is not None
    inner = base + n.RELATIVE
    other = inner + n.OBJECT
    if relative.role == "subject":
        word = "who" if "person" in phrase.noun.sorts else "that"
        link = s.add(word, base + n.LINK, "nsubj")
        slot = 4 if phrase.is_plural else 2
        verb = verb_group(s, relative.verb, relative.tense, relative.is_negated, slot, inner)
        s.hang(verb, link)
        if relative.other is not None:
            add_object(s, relative.verb, relative.other, other, verb)
    else:
        assert relative.other is not None
        link = s.add("that", base + n.LINK, "obj")
        subject = noun_phrase(s, relative.other, other, "nsubj")
        slot = relative.other.slot
        verb = verb_group(s, relative.verb, relative.tense, relative.is_negated, slot, inner)
        s.hang(verb, link, subject)
        if relative.verb.english_particle:
            s.add(relative.verb.english_particle, inner + n.PARTICLE, "case", link)
            s.relations[link] = "obl"
    s.heads[verb] = head
    s.relations[verb] = "acl:relcl"


def verb_group(
    s: Sentence,
    verb: Verb,
    tense: Tense,
    is_negated: bool,
    slot: int,
    base: int,
    frequency: Adverbial | None = None,
) -> int:
    """Append auxiliaries and verb of a statement; the verb has no head yet."""
    words, form = auxiliaries(tense, slot, is_negated)
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


def auxiliaries(tense: Tense, slot: int, is_negated: bool) -> tuple[list[str], int]:
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
    return copula("past" if tense == "was doing" else "present", slot, is_negated), 4


def copula(tense: str, slot: int, is_negated: bool) -> list[str]:
    """The form of "be", with its negation."""
    if tense == "future":
        return ["won't" if is_negated else "will", "be"]
    be = (WAS if tense == "past" else BE)[slot]
    if not is_negated:
        return [be]
    return [be, "not"] if be == "am" else [NOT[be]]


def add_object(s: Sentence, verb: Verb, phrase: NounPhrase, base: int, head: int) -> None:
    """Append the object, after the preposition that its verb asks for."""
    particle = verb.english_particle
    if particle:
        case = s.add(particle, base - n.OBJECT + n.PARTICLE, "case")
        s.hang(head, noun := noun_phrase(s, phrase, base, "obl"))
        s.hang(noun, case)
    else:
        s.hang(head, noun_phrase(s, phrase, base, "obj"))
