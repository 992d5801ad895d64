"""From a meaning to a French sentence."""

from regard.corpora.phrasebook import sentence as n
from regard.corpora.phrasebook.conjugation import conjugate
from regard.corpora.phrasebook.french_phrases import contract, elide, noun_phrase
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
    Relative,
    Tense,
)
from regard.corpora.phrasebook.sentence import NOTHING, Grammar, PhrasebookSentence, capitalise

AVOIR = ("ai", "as", "a", "avons", "ont")
IS = ("suis", "es", "est", "sommes", "sont")
WAS = ("étais", "étais", "était", "étions", "étaient")
WILL_BE = ("serai", "seras", "sera", "serons", "seront")
BE = {"present": IS, "past": WAS, "future": WILL_BE}
MODALS = {
    "can": conjugate("pouvoir").present,
    "want": conjugate("vouloir").present,
    "must": conjugate("devoir").present,
}
DEGREES = {"very": "très", "too": "trop", "more": "plus", "as": "aussi"}
ASKED = {"what": n.OBJECT, "where": n.PLACE, "when": n.TIME}
QUESTION_WORDS = {"what": "que", "where": "où", "when": "quand"}


def realise(meaning: Meaning) -> PhrasebookSentence:
    """The French sentence of a meaning."""
    s = PhrasebookSentence()
    root, question = GRAMMAR.append(s, meaning)
    s.add("?" if question else ".", n.STOP, "punct", root)
    elide(s.words)
    capitalise(s)
    return s


def _phrase(
    s: PhrasebookSentence, phrase: NounPhrase, base: int, relation: str, **how: bool | str
) -> int:
    """Append a noun phrase with its relative clause."""
    head = noun_phrase(s, phrase, base, relation, **how)  # type: ignore[arg-type]
    if phrase.relative is not None:
        _relative(s, phrase, phrase.relative, head, base)
    if phrase.also is not None:
        link = s.add("et", base + n.AND, "cc")
        second = noun_phrase(s, phrase.also, base + n.ALSO, "conj", **how)  # type: ignore[arg-type]
        s.hang(second, link)
        s.hang(head, second)
    return head


def _relative(
    s: PhrasebookSentence, phrase: NounPhrase, relative: Relative, head: int, base: int
) -> None:
    inner = base + n.RELATIVE
    other = inner + n.OBJECT
    gender = phrase.noun.gender == "f"
    agreement = gender + 2 * phrase.is_plural
    verb, tense, is_negated = relative.verb, relative.tense, relative.is_negated
    if relative.role == "subject":
        link = s.add("qui", base + n.LINK, "nsubj")
        slot = 4 if phrase.is_plural else 2
        agreement *= "e" in verb.marks
        place = _verb(s, verb, tense, is_negated, slot, agreement, inner)
        s.hang(place, link)
        if relative.other is not None:
            _object(s, verb, relative.other, other, place, is_negated or tense == "never")
    else:
        assert relative.other is not None
        link = s.add("que", base + n.LINK, "obj")
        subject = _phrase(s, relative.other, other, "nsubj")
        slot = relative.other.slot
        # The participle after avoir agrees with an object that comes before it.
        place = _verb(s, verb, tense, is_negated, slot, agreement, inner)
        s.hang(place, link, subject)
    s.heads[place] = head
    s.relations[place] = "acl:relcl"


def _verb(
    s: PhrasebookSentence,
    verb: Verb,
    tense: Tense,
    is_negated: bool,
    slot: int,
    agreement: int,
    base: int,
    frequency: Adverbial | None = None,
) -> int:
    """Append auxiliaries and verb; the participle takes the form ``agreement``."""
    forms = verb.french
    start = len(s.words)
    if is_negated or tense == "never":
        s.add("ne", base + n.NEGATION, "advmod")
    finite = ""
    last = forms.infinitive
    if tense in ("past", "already", "never"):
        finite = (IS if "e" in verb.marks else AVOIR)[slot]
        last = forms.participle[agreement]
        s.add(finite, base + n.AUXILIARY, "aux:tense")
    elif tense in MODALS:
        finite = MODALS[tense][slot]
        s.add(finite, base + n.AUXILIARY, "aux")
    elif tense in ("progressive", "was doing"):
        finite = (WAS if tense == "was doing" else IS)[slot]
        first = s.add(finite, base + n.AUXILIARY, "aux")
        if is_negated:
            s.add("pas", base + n.NEGATION, "advmod")
        for word in ("en", "train", "de"):
            s.add(word, base + n.AUXILIARY, "fixed", first)
    if not finite:
        last = (forms.future if tense == "future" else forms.present)[slot]
        place = s.add(last, base + n.VERB, "root")
        if start < place:
            s.heads[start] = place
    else:
        place = -1
    if tense == "never":
        s.add("jamais", base + n.ADVERB, "advmod", place)
    elif tense == "already":
        s.add("déjà", base + n.ADVERB, "advmod", place)
    elif is_negated and tense != "progressive":
        s.add("pas", base + n.NEGATION, "advmod", place)
    if finite:
        place = s.add(last, base + n.VERB, "root")
        for before in range(start, place):
            if s.relations[before] != "fixed":
                s.heads[before] = place
    if frequency is not None:
        s.add(frequency.french[0], base + n.ADVERB, "advmod", place)
    return place


def _object(
    s: PhrasebookSentence, verb: Verb, phrase: NounPhrase, base: int, head: int, is_negated: bool
) -> None:
    particle = verb.french_particle
    noun = _phrase(
        s,
        phrase,
        base,
        "obl" if particle else "obj",
        preposition=particle,
        is_negated=is_negated,
        is_general="g" in verb.marks,
    )
    s.hang(head, noun)


def _place(s: PhrasebookSentence, place: PlacePhrase, base: int, head: int) -> None:
    words, noun = place.relation.french, place.noun.french[0]
    article = "la" if place.noun.gender == "f" else "le"
    if place.noun.word_class != "common":
        article = ""
    elif merged := contract(words[-1], article, noun):
        words, article = (*words[:-1], merged), ""
    before = [s.add_fixed(words, base + n.RELATION, "case", head)]
    if article:
        before.append(s.add(article, NOTHING, "det"))
    s.hang(s.add(noun, base + n.PLACE, "obl", head), *before)


def _asked(s: PhrasebookSentence, question: str, base: int) -> list[int]:
    """Append est-ce que, after its question word if there is one."""
    words = []
    if question in QUESTION_WORDS:
        relation = "obj" if question == "what" else "advmod"
        words.append(s.add(QUESTION_WORDS[question], base + ASKED[question], relation))
    first = s.add("est-ce", base + n.QUESTION, "discourse")
    s.add("que", base + n.QUESTION, "fixed", first)
    return [*words, first]


def _event(s: PhrasebookSentence, event: Event, base: int) -> int:
    time, verb = event.time, event.verb
    before = []
    if time is not None and event.is_time_first:
        before.append(s.add_fixed(time.french, base + n.TIME, "obl:mod", n.ROOT))
        before.append(s.add(",", base + n.COMMA, "punct"))
    if event.question and event.question != "who":
        before += _asked(s, event.question, base)
    subject = event.subject
    if subject is None:
        before.append(s.add("qui", base + n.SUBJECT, "nsubj"))
        slot, agreement = 2, 0
    else:
        before.append(_phrase(s, subject, base + n.SUBJECT, "nsubj"))
        slot = subject.slot
        agreement = subject.is_feminine + 2 * (slot > 2)
    if "e" not in verb.marks:
        agreement = 0
    tense, is_negated = event.tense, event.is_negated
    place = _verb(s, verb, tense, is_negated, slot, agreement, base, event.frequency)
    s.hang(place, *before)
    if event.object is not None:
        has_de = is_negated or tense == "never"
        _object(s, verb, event.object, base + n.OBJECT, place, has_de)
    if event.recipient is not None:
        noun = _phrase(s, event.recipient, base + n.RECIPIENT, "obl:arg", preposition="à")
        s.hang(place, noun)
    if event.place is not None:
        _place(s, event.place, base, place)
    if time is not None and not event.is_time_first:
        s.add_fixed(time.french, base + n.TIME, "obl:mod", place)
    return place


def _quality(
    s: PhrasebookSentence, quality: QualityPredicate, base: int, main: Event | None = None
) -> int:
    before = []
    if quality.question:
        before += _asked(s, quality.question, base)
    phrase = quality.subject
    if isinstance(phrase, str):
        assert main is not None
        stands_for = main.subject if phrase == "subject" else main.object
        assert stands_for is not None
        is_feminine, slot = stands_for.noun.gender == "f", 2
        place = s.add("elle" if is_feminine else "il", base + n.SUBJECT, "nsubj")
        s.antecedents.append((place, s.places[n.SUBJECT if phrase == "subject" else n.OBJECT]))
        before.append(place)
    else:
        is_feminine, slot = phrase.is_feminine, phrase.slot
        before.append(_phrase(s, phrase, base + n.SUBJECT, "nsubj"))
    if quality.is_negated:
        before.append(s.add("ne", base + n.NEGATION, "advmod"))
    piece = base + n.AUXILIARY if quality.tense == "future" else NOTHING
    before.append(s.add(BE[quality.tense][slot], piece, "cop"))
    if quality.is_negated:
        before.append(s.add("pas", base + n.NEGATION, "advmod"))
    if quality.degree:
        before.append(s.add(DEGREES[quality.degree], base + n.DEGREE, "advmod"))
    form = quality.adjective.french[is_feminine + 2 * (slot > 2)]
    place = s.add(form, base + n.VERB, "root")
    s.hang(place, *before)
    if quality.than is not None:
        case = s.add("que", base + n.CONJUNCTION, "case")
        other = _phrase(s, quality.than, base + n.OBJECT, "obl")
        s.hang(other, case)
        s.hang(place, other)
    if quality.time is not None:
        s.add_fixed(quality.time.french, base + n.TIME, "obl:mod", place)
    return place


def _predicate_noun(s: PhrasebookSentence, one: PredicateNoun) -> int:
    before = _asked(s, one.question, 0) if one.question else []
    before.append(_phrase(s, one.subject, n.SUBJECT, "nsubj"))
    if one.is_negated:
        before.append(s.add("ne", n.NEGATION, "advmod"))
    before.append(s.add(IS[one.subject.slot], n.AUXILIARY, "cop"))
    if one.is_negated:
        before.append(s.add("pas", n.NEGATION, "advmod"))
    noun, determiner = one.predicate.noun, one.predicate.determiner
    is_many = one.predicate.is_plural
    # What people are by profession has no article.
    if "person" not in noun.sorts:
        article = "des" if is_many else "une" if noun.gender == "f" else "un"
        before.append(s.add(article, n.OBJECT + n.DETERMINER, "det"))
    elif determiner is not None and not determiner.has_measure:
        place = noun_phrase(s, one.predicate, n.OBJECT, "root")
        s.hang(place, *before)
        return place
    place = s.add(noun.french[is_many], n.OBJECT + n.NOUN, "root")
    s.hang(place, *before)
    return place


def _existence(s: PhrasebookSentence, existence: Existence) -> int:
    il = s.add("il", NOTHING, "expl:subj")
    y = s.add("y", n.VERB, "fixed")
    verb = s.add("a", n.VERB, "root")
    s.hang(verb, il, y, _phrase(s, existence.subject, n.SUBJECT, "obj"))
    _place(s, existence.place, 0, verb)
    return verb


def _compound(s: PhrasebookSentence, compound: Compound) -> int:
    second, conjunction = compound.second, compound.conjunction
    if conjunction in ("when", "if"):
        link = s.add("quand" if conjunction == "when" else "si", n.CONJUNCTION, "mark")
        if isinstance(second, Adverbial):
            expletive = s.add(second.french[0], NOTHING, "expl:subj")
            clause = s.add(second.french[1], n.SECOND, "advcl")
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
    if conjunction == "but":
        joints = [s.add(",", n.COMMA, "punct"), s.add("mais", n.CONJUNCTION, "cc")]
    else:
        joints = [s.add_fixed(("parce", "que"), n.CONJUNCTION, "mark", n.ROOT)]
    assert isinstance(second, QualityPredicate)
    clause = _quality(s, second, n.SECOND, compound.main)
    s.hang(clause, *joints)
    s.heads[clause] = root
    s.relations[clause] = "conj" if conjunction == "but" else "advcl"
    return root


GRAMMAR = Grammar(_event, _quality, _predicate_noun, _existence, _compound)
