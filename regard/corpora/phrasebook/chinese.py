"""From a meaning to a Chinese sentence."""

from regard.corpora.phrasebook import sentence as n
from regard.corpora.phrasebook.lexicon import Adverbial
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
)
from regard.corpora.phrasebook.sentence import NOTHING, Grammar, PhrasebookSentence

MODALS = {"future": "会", "can": "能", "want": "想", "must": "必须"}
CONJUNCTIONS = {"because": "因为", "but": "但是"}


def realise(meaning: Meaning) -> PhrasebookSentence:
    """The Chinese sentence of a meaning."""
    s = PhrasebookSentence()
    root, question = GRAMMAR.append(s, meaning)
    if question == "whether":
        s.add("吗", n.QUESTION, "discourse:sp", root)
    s.add("？" if question else "。", n.STOP, "punct", root)
    return s


def noun_phrase(
    s: PhrasebookSentence, phrase: NounPhrase, base: int, relation: str, *, is_bare: bool = False
) -> int:
    """Append a noun phrase and give the place of its noun, which has no head yet."""
    noun, determiner, adjective = phrase.noun, phrase.determiner, phrase.adjective
    if is_bare and determiner is not None and determiner.name == "the" and phrase.relative is None:
        determiner = None
    clause = -1
    if phrase.relative is not None:
        clause = _relative(s, phrase.relative, base)
    start = len(s.words)
    if determiner is not None:
        words = determiner.chinese
        first = s.add(words[0], base + n.DETERMINER, _determiner_relation(words[0]))
        for word in words[1:]:
            first = s.add(word, base + n.DETERMINER, "case" if word == "的" else "nummod", first)
        if determiner.has_measure:
            s.add(noun.measure, base + n.DETERMINER, "clf", first)
    adjectives = len(s.words)
    if adjective is not None:
        first = s.add(adjective.before[0], base + n.ADJECTIVE, "amod")
        if len(adjective.before) > 1:
            s.add("的", base + n.ADJECTIVE, "mark:rel", first)
    head = s.add(noun.chinese, base + n.NOUN, relation)
    if determiner is not None:
        s.heads[start] = head
        if len(determiner.chinese) > 1 and determiner.chinese[1] != "的":
            s.heads[start + 1] = head
    if adjective is not None:
        s.heads[adjectives] = head
    if clause >= 0:
        s.heads[clause] = head
    s.places[base] = head
    if phrase.also is not None:
        link = s.add("和", base + n.AND, "cc")
        second = noun_phrase(s, phrase.also, base + n.ALSO, "conj")
        s.hang(second, link)
        s.hang(head, second)
    return head


def _determiner_relation(word: str) -> str:
    if word in ("这", "那", "这些", "那些"):
        return "det"
    return "nmod" if word in ("我", "你", "我们", "他们") else "nummod"


def _relative(s: PhrasebookSentence, relative: Relative, base: int) -> int:
    """Append a relative clause, which comes before determiner and noun, and give its verb."""
    inner = base + n.RELATIVE
    other = inner + n.OBJECT
    verb = relative.verb
    event = Event(verb, relative.tense, None, is_negated=relative.is_negated)
    subject = -1
    if relative.role == "object":
        assert relative.other is not None
        subject = noun_phrase(s, relative.other, other, "nsubj")
    place = _verb(s, event, inner, has_aspect=subject < 0 and bool(verb.objects))
    if subject >= 0:
        s.hang(place, subject)
    elif relative.other is not None:
        is_bare = "b" in verb.marks
        s.hang(place, noun_phrase(s, relative.other, other, "obj", is_bare=is_bare))
    s.relations[place] = "acl:relcl"
    s.add("的", base + n.LINK, "mark:rel", place)
    return place


def _verb(s: PhrasebookSentence, event: Event, base: int, *, has_aspect: bool = True) -> int:
    """Append all from adverbs to the verb and its particle; the verb has no head yet."""
    tense, is_negated, verb = event.tense, event.is_negated, event.verb
    start = len(s.words)
    if event.frequency is not None:
        s.add(event.frequency.chinese[0], base + n.ADVERB, "advmod")
    if tense == "never":
        s.add("从来", base + n.ADVERB, "advmod")
        s.add("没有", base + n.NEGATION, "advmod")
    elif is_negated:
        has_happened = tense in ("past", "progressive")
        s.add("没有" if has_happened else "不", base + n.NEGATION, "advmod")
    if tense in MODALS:
        s.add(MODALS[tense], base + n.AUXILIARY, "aux")
    elif tense == "already":
        s.add("已经", base + n.ADVERB, "advmod")
    elif tense in ("progressive", "was doing"):
        s.add(_progressive(event), base + n.AUXILIARY, "advmod")
    before = list(range(start, len(s.words)))
    if event.place is not None or event.question == "where":
        # 正在 already holds the 在 of the place.
        before.append(_place(s, event.place, base, tense in ("progressive", "was doing")))
    particle = ""
    if tense == "already" or (tense == "past" and not is_negated and has_aspect):
        particle = "了"
    elif tense == "never":
        particle = "过"
    elif tense == "state":
        particle = "着"
    first, second = verb.chinese
    place = s.add(first if particle else first + second, base + n.VERB, "root")
    s.hang(place, *before)
    if particle:
        s.add(particle, base + n.AUXILIARY, "aux", place)
        if second:
            s.add(second, base + n.VERB, "compound:vo", place)
    return place


def _progressive(event: Event) -> str:
    """在 for what goes on; 正在 where the moment, the place or the object is told."""
    if event.is_negated:
        return "在"
    is_told = event.time is not None or event.place is not None or event.question == "where"
    if event.tense == "was doing" or is_told or (event.object is not None and not event.question):
        return "正在"
    return "在"


def _place(s: PhrasebookSentence, place: PlacePhrase | None, base: int, is_absorbed: bool) -> int:
    """Append 在 ... 里 and give its noun; None asks where."""
    case = -1 if is_absorbed else s.add("在", base + n.RELATION, "case")
    if place is None:
        noun = s.add("哪里", base + n.PLACE, "obl")
    else:
        noun = s.add(place.noun.chinese, base + n.PLACE, "obl")
        if place.relation.chinese[0] != "-":
            s.add(place.relation.chinese[0], base + n.RELATION, "case:loc", noun)
    if case >= 0:
        s.hang(noun, case)
    return noun


def _event(s: PhrasebookSentence, event: Event, base: int) -> int:
    time, is_first = event.time, event.is_time_first
    before = []
    if time is not None and is_first:
        before.append(s.add_fixed(time.chinese, base + n.TIME, "obl:tmod", n.ROOT))
        before.append(s.add("，", base + n.COMMA, "punct"))
    if event.subject is None:
        before.append(s.add("谁", base + n.SUBJECT, "nsubj"))
    else:
        before.append(noun_phrase(s, event.subject, base + n.SUBJECT, "nsubj"))
    if time is not None and not is_first:
        before.append(s.add_fixed(time.chinese, base + n.TIME, "obl:tmod", n.ROOT))
    # 是 ... 的 asks for the circumstances of what has happened, and then there is no 了.
    is_cleft = event.tense == "past" and event.question in ("when", "where")
    if is_cleft:
        before.append(s.add("是", base + n.AUXILIARY, "aux"))
    if event.question == "when":
        before.append(s.add("什么", base + n.TIME, "det"))
        before.append(s.add("时候", base + n.TIME, "obl:tmod"))
    place = _verb(s, event, base, has_aspect=not is_cleft)
    s.hang(place, *before)
    if event.question == "when":
        s.hang(before[-1], before[-2])
    if event.recipient is not None:
        s.hang(place, noun_phrase(s, event.recipient, base + n.RECIPIENT, "iobj"))
    if event.object is not None:
        is_bare = "b" in event.verb.marks
        s.hang(place, noun_phrase(s, event.object, base + n.OBJECT, "obj", is_bare=is_bare))
    elif event.question == "what":
        s.add("什么", base + n.OBJECT, "obj", place)
    if is_cleft:
        s.add("的", base + n.AUXILIARY, "discourse:sp", place)
    return place


def _quality(
    s: PhrasebookSentence, quality: QualityPredicate, base: int, main: Event | None = None
) -> int:
    phrase, degree = quality.subject, quality.degree
    if isinstance(phrase, str):
        assert main is not None
        stands_for = main.subject if phrase == "subject" else main.object
        assert stands_for is not None
        noun = stands_for.noun
        word = "它" if "person" not in noun.sorts else "他" if noun.gender == "m" else "她"
        subject = s.add(word, base + n.SUBJECT, "nsubj")
        s.antecedents.append((subject, s.places[n.SUBJECT if phrase == "subject" else n.OBJECT]))
    else:
        subject = noun_phrase(s, phrase, base + n.SUBJECT, "nsubj")
    before = [subject]
    if quality.time is not None:
        before.append(s.add_fixed(quality.time.chinese, base + n.TIME, "obl:tmod", n.ROOT))
    if quality.tense == "future":
        before.append(s.add("会", base + n.AUXILIARY, "aux"))
    if quality.than is not None:
        link = s.add("比" if degree == "more" else "和", base + n.CONJUNCTION, "case")
        other = noun_phrase(s, quality.than, base + n.OBJECT, "obl")
        s.hang(other, link)
        before.append(other)
    if quality.is_negated:
        before.append(s.add("不", base + n.NEGATION, "advmod"))
        if degree == "very":
            before.append(s.add("太", base + n.DEGREE, "advmod"))
    elif degree == "very":
        before.append(s.add("非常", base + n.DEGREE, "advmod"))
    elif degree == "too":
        before.append(s.add("太", base + n.DEGREE, "advmod"))
    elif degree == "more":
        before.append(s.add("更", base + n.DEGREE, "advmod"))
    elif degree == "as":
        before.append(s.add("一样", base + n.DEGREE, "advmod"))
    elif not quality.question:
        before.append(s.add("很", NOTHING, "advmod"))
    place = s.add(quality.adjective.chinese, base + n.VERB, "root")
    s.hang(place, *before)
    if degree == "too" and not quality.is_negated:
        s.add("了", base + n.DEGREE, "discourse:sp", place)
    return place


def _predicate_noun(s: PhrasebookSentence, one: PredicateNoun) -> int:
    before = [noun_phrase(s, one.subject, n.SUBJECT, "nsubj")]
    if one.is_negated:
        before.append(s.add("不", n.NEGATION, "advmod"))
    before.append(s.add("是", n.AUXILIARY, "cop"))
    determiner = one.predicate.determiner
    is_owned = determiner is not None and not determiner.has_measure
    phrase = one.predicate if is_owned else NounPhrase(one.predicate.noun)  # 是医生, one or many
    place = noun_phrase(s, phrase, n.OBJECT, "root")
    s.hang(place, *before)
    return place


def _existence(s: PhrasebookSentence, existence: Existence) -> int:
    noun = s.add(existence.place.noun.chinese, n.PLACE, "obl")
    s.add(existence.place.relation.chinese[0], n.RELATION, "case:loc", noun)
    verb = s.add("有", n.VERB, "root")
    s.hang(verb, noun, noun_phrase(s, existence.subject, n.SUBJECT, "obj"))
    return verb


def _compound(s: PhrasebookSentence, compound: Compound) -> int:
    second, conjunction = compound.second, compound.conjunction
    if conjunction in ("when", "if"):
        link = s.add("如果" if conjunction == "if" else "当", n.CONJUNCTION, "mark")
        if isinstance(second, Adverbial):
            clause = s.add(second.chinese[0], n.SECOND, "advcl")
        else:
            assert isinstance(second, Event)
            clause = _bare_event(s, second)
        s.hang(clause, link, s.add("，", n.COMMA, "punct"))
        root = _event(s, compound.main, 0)
        s.hang(root, clause)
        return root
    root = _event(s, compound.main, 0)
    comma = s.add("，", n.COMMA, "punct")
    link = s.add(CONJUNCTIONS[conjunction], n.CONJUNCTION, "cc" if conjunction == "but" else "mark")
    assert isinstance(second, QualityPredicate)
    clause = _quality(s, second, n.SECOND, compound.main)
    s.hang(clause, comma, link)
    s.heads[clause] = root
    s.relations[clause] = "conj" if conjunction == "but" else "advcl"
    return root


def _bare_event(s: PhrasebookSentence, event: Event) -> int:
    """Append the clause of 当 ... 的时候, whose verb takes no 了, and give the place of 时候."""
    assert event.subject is not None
    subject = noun_phrase(s, event.subject, n.SECOND + n.SUBJECT, "nsubj")
    place = _verb(s, event, n.SECOND, has_aspect=False)
    s.hang(place, subject)
    s.relations[place] = "acl"
    s.add("的", n.CONJUNCTION, "mark:rel", place)
    moment = s.add("时候", n.CONJUNCTION, "obl")
    s.hang(moment, place)
    return moment


GRAMMAR = Grammar(_event, _quality, _predicate_noun, _existence, _compound)
