"""Paradigms of Chinese: measure words, aspect, negation, pronouns, questions, relative clauses."""

from regard.corpora.phrasebook import sentence as n
from regard.corpora.phrasebook.lexicon import COMMON_NOUNS
from regard.corpora.phrasebook.meaning import Meaning, NounPhrase
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
    inserted,
    mapped,
    phrases_of,
    place_of,
    reason_of,
    relatives_of,
    replaced,
    swapped,
    without,
)

# Measure words that say much of their noun; 个, 只, 条 and others go with too many.
_TELLING = ("位", "辆", "匹", "本", "封", "件", "顶", "朵", "棵", "幅", "扇", "盏", "首", "架")
_SORTS = {
    measure: {sort for noun in COMMON_NOUNS if noun.measure == measure for sort in noun.sorts}
    for measure in _TELLING
}
TIMES = both_ways({"昨天": "明天", "昨晚": "今晚", "上": "下", "去年": "明年"})
COUNTED = ("一", "两", "三", "四", "五", "几")


def _measure_place(s: PhrasebookSentence, base: int, phrase: NounPhrase) -> int | None:
    if phrase.determiner is None or not phrase.determiner.has_measure:
        return None
    places = [i for i, piece in enumerate(s.pieces) if piece == base + n.DETERMINER]
    return next((i for i in places if s.relations[i] == "clf"), None)


def _wrong_measure(s: PhrasebookSentence, base: int, phrase: NounPhrase) -> Words | None:
    place = _measure_place(s, base, phrase)
    sorts = set(phrase.noun.sorts)
    wrong = [one for one in _TELLING if not sorts & _SORTS[one]]
    # Which of them depends on the noun alone, and differs from noun to noun.
    chosen = wrong[sum(map(ord, phrase.noun.chinese)) % len(wrong)]
    return replaced(s, place, chosen)


def _measure(meaning: Meaning, s: PhrasebookSentence, base: int, kind: str) -> Words | None:
    for mine, phrase in phrases_of(meaning):
        is_kind = {
            "plain": phrase.relative is None and phrase.adjective is None,
            "adjective": phrase.adjective is not None,
            "relative": phrase.relative is not None,
        }[kind]
        if is_kind and (base in (mine, -1)) and _measure_place(s, mine, phrase) is not None:
            return _wrong_measure(s, mine, phrase)
    return None


def subject_measure(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """这只猫 / 这辆猫, of the subject."""
    return _measure(meaning, s, n.SUBJECT, "plain")


def object_measure(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """这只猫 / 这辆猫, of the object."""
    return _measure(meaning, s, n.OBJECT, "plain")


def measure_before_adjective(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """这只黑色的猫 / 这辆黑色的猫."""
    return _measure(meaning, s, -1, "adjective")


def measure_after_clause(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """看见汤姆的这只猫 / 看见汤姆的这辆猫."""
    return _measure(meaning, s, -1, "relative")


def no_measure(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """三只猫 / 三猫."""
    for base, phrase in phrases_of(meaning):
        place = _measure_place(s, base, phrase)
        if place is not None and s.words[place - 1] in COUNTED:
            return without(s, place)
    return None


def negation_and_time(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """昨天没有吃 / 昨天不吃."""
    event = event_of(meaning)
    is_past = event is not None and event.tense == "past" and event.time is not None
    return mapped(s, place_of(s, n.NEGATION), {"没有": "不"}) if is_past else None


def negation_and_aspect(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """没有吃 / 没有吃了."""
    event = event_of(meaning)
    place = place_of(s, n.VERB)
    if event is None or not event.is_negated or event.tense != "past" or event.verb.chinese[1]:
        return None
    return None if place is None else inserted(s, place + 1, "了")


def ongoing_and_aspect(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """正在吃 / 正在吃了."""
    event = event_of(meaning)
    place = place_of(s, n.VERB)
    if event is None or event.tense != "progressive" or event.verb.chinese[1]:
        return None
    return None if place is None else inserted(s, place + 1, "了")


def never(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """从来没有吃过 / 从来没有吃了."""
    event = event_of(meaning)
    is_never = event is not None and event.tense == "never"
    return mapped(s, place_of(s, n.AUXILIARY), {"过": "了"}) if is_never else None


def already(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """已经吃了 / 已经吃着."""
    event = event_of(meaning)
    is_already = event is not None and event.tense == "already"
    return mapped(s, place_of(s, n.AUXILIARY), {"了": "着"}) if is_already else None


def time_and_aspect(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """昨天吃了 / 明天吃了."""
    event = event_of(meaning)
    tells = event is not None and event.tense in ("past", "future") and event.time is not None
    if not tells or event.question == "when":  # type: ignore[union-attr]
        return None
    return mapped(s, place_of(s, n.TIME), TIMES)


def two_questions(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """谁吃了？ / 谁吃了吗？"""
    event = event_of(meaning)
    asks = event is not None and event.question in ("who", "what", "where", "when")
    return inserted(s, len(s.words) - 1, "吗") if asks else None


def no_link(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """汤姆买的那本书 / 汤姆买那本书."""
    for role in ("subject", "object"):
        for base, _, _ in relatives_of(meaning, role):
            return without(s, place_of(s, base + n.LINK))
    return None


def pronoun_gender(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """他 / 她."""
    place = s.antecedents[0][0] if s.antecedents else None
    return mapped(s, place, {"他": "她", "她": "他"})


def pronoun_animacy(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """它 / 他."""
    reason = reason_of(meaning)
    if reason is None or "animal" in reason[0].noun.sorts:
        return None
    return mapped(s, s.antecedents[0][0], {"它": "他", "他": "它", "她": "它"})


def adjective_order(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """黑色的猫 / 猫黑色的."""
    for base, phrase in phrases_of(meaning):
        place = place_of(s, base + n.ADJECTIVE)
        if phrase.adjective is not None and place is not None:
            return swapped(s, place, s.places[base], s.places[base] + 1)
    return None


def adverb_order(meaning: Meaning, s: PhrasebookSentence) -> Words | None:
    """常常吃 / 吃常常."""
    event = event_of(meaning)
    if event is None or event.frequency is None:
        return None
    place = place_of(s, n.VERB)
    adverb = place_of(s, n.ADVERB)
    is_beside = adverb is not None and place == adverb + 1
    return swapped(s, adverb, place, place + 1) if is_beside else None  # type: ignore[arg-type,operator]


PARADIGMS = (
    Paradigm("measure words", "of the subject", STATEMENTS, subject_measure),
    Paradigm("measure words", "of the object", STATEMENTS, object_measure),
    Paradigm("measure words", "before an adjective", STATEMENTS, measure_before_adjective),
    Paradigm("measure words", "after a relative clause", RELATIVES, measure_after_clause),
    Paradigm("measure words", "left out", STATEMENTS, no_measure),
    Paradigm("negation", "negation and time", STATEMENTS, negation_and_time),
    Paradigm("negation", "negation and 了", STATEMENTS, negation_and_aspect),
    Paradigm("aspect", "正在 and 了", STATEMENTS, ongoing_and_aspect),
    Paradigm("aspect", "从来没有 and 过", STATEMENTS, never),
    Paradigm("aspect", "已经 and 了", STATEMENTS, already),
    Paradigm("aspect", "aspect and time", STATEMENTS, time_and_aspect),
    Paradigm("pronouns", "他 or 她", REASONS, pronoun_gender),
    Paradigm("pronouns", "它 or 他", REASONS, pronoun_animacy),
    Paradigm("questions", "two question words", QUESTIONS, two_questions),
    Paradigm("relative clauses", "的 left out", RELATIVES, no_link),
    Paradigm("word order", "adjective and noun", STATEMENTS, adjective_order),
    Paradigm("word order", "adverb and verb", STATEMENTS, adverb_order),
)
