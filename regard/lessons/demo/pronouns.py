"""Pronouns: what they stand for, and whether the right one is written."""

import re
from collections import Counter
from collections.abc import Sequence

from regard.corpora import Example
from regard.corpora.phrasebook.lexicon import NOUNS
from regard.lessons.report import PronounScore

FRENCH = frozenset({"il", "elle", "ils", "elles"})
ABOUT_IT = frozenset({"because-it", "but-it"})
_NOUNS = ("nsubj", "obj", "obl")  # what else a pronoun could stand for in the same clause
_GENDERS = {
    form.lower(): noun.gender
    for noun in NOUNS.values()
    for form in (noun.name, noun.chinese, noun.french[0])
}


def last_pronoun(sentence: str) -> str | None:
    """The last French pronoun of the third person, in lower case."""
    words = re.findall(r"[^\W\d_]+", sentence.lower())
    return next((word for word in reversed(words) if word in FRENCH), None)


def score_pronouns(outputs: Sequence[str], truths: Sequence[str]) -> PronounScore:
    """How often an output has the pronoun of the truth; one without a pronoun is wrong."""
    wanted = [(last_pronoun(truth), output) for output, truth in zip(outputs, truths, strict=True)]
    asked = [(pronoun, output) for pronoun, output in wanted if pronoun is not None]
    total = Counter(pronoun for pronoun, _ in asked)
    right = Counter(pronoun for pronoun, output in asked if last_pronoun(output) == pronoun)
    by_pronoun = {pronoun: (n, right[pronoun]) for pronoun, n in sorted(total.items())}
    return PronounScore(len(asked), right.total(), by_pronoun)


def rivals(example: Example) -> tuple[int, int, tuple[int, ...]] | None:
    """Places of the pronoun, its antecedent, and the other nouns of the antecedent's clause."""
    side = example.source_side
    if side is None or not side.antecedents or not side.relations:
        return None
    pronoun, antecedent = side.antecedents[0]
    others = tuple(
        place
        for place, (head, relation) in enumerate(zip(side.heads, side.relations, strict=True))
        if head == side.heads[antecedent] and relation in _NOUNS and place != antecedent
        if place < pronoun
    )
    return (pronoun, antecedent, others) if others else None


def is_about_it(example: Example) -> bool:
    """Whether a pronoun of the sentence stands for one of two things or animals."""
    return not ABOUT_IT.isdisjoint(example.tags)


def genders_differ(example: Example) -> bool:
    """Whether French has to know which noun is meant: the others are of another gender."""
    found, side = rivals(example), example.source_side
    if found is None or side is None:
        return False
    _, antecedent, others = found
    gender, *rest = (_GENDERS.get(side.words[i].lower()) for i in (antecedent, *others))
    return gender is not None and all(one not in (None, gender) for one in rest)
