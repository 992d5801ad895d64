"""Minimal pairs of the phrasebook: sentences of its grammar, and each spoiled in one place.

Known sets are of sentences that training never shows, made of words in constructions that it does
show; held-out sets put words into constructions in which training never shows them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from regard.corpora.phrasebook import (
    english,
    spoiling_chinese,
    spoiling_english,
    spoiling_french,
)
from regard.corpora.phrasebook.choices import CAN_BE_NEVER, IS_HABIT
from regard.corpora.phrasebook.lexicon import Verb
from regard.corpora.phrasebook.meaning import Meaning, NounPhrase, Tense
from regard.corpora.phrasebook.phrasebook import REALISE, held_out, join, split_of_sentence
from regard.corpora.phrasebook.sampling import Sampler
from regard.corpora.phrasebook.sentence import PhrasebookSentence
from regard.corpora.phrasebook.spoiling import Paradigm
from regard.errors import DataError

PARADIGMS: Mapping[str, Sequence[Paradigm]] = {
    "en": spoiling_english.PARADIGMS,
    "zh": spoiling_chinese.PARADIGMS,
    "fr": spoiling_french.PARADIGMS,
}
SETS = ("known", "held-out")
_RARE = 0.4  # of sentences that may have one of these tenses
_PATIENCE = 2_000_000  # draws for a single new pair after which there are taken to be no more


class _EvenSampler(Sampler):
    """Draws what is done always, already or never oftener than usual: few sentences have it."""

    def tense(self, verb: Verb, subject: NounPhrase) -> Tense:
        """A tense that the verb takes."""
        usual = super().tense(verb, subject)
        is_free = not {"s", "w"} & set(verb.marks) and "person" in subject.noun.sorts
        if not is_free or self.chance() > _RARE:
            return usual
        likely: list[Tense] = ["already"]
        likely += ["never"] * CAN_BE_NEVER[verb]
        likely += ["present"] * IS_HABIT[verb]
        return self.choose(tuple(likely))


class SpoiledPair(NamedTuple):
    """A sentence of the grammar, and one that it never makes."""

    paradigm: Paradigm
    good: str
    bad: str
    source: str  # the sentence in another language, where one is asked for


def draw_pairs(
    kind: str, languages: Sequence[str], size: int, seed: int, source: str | None = None
) -> Iterator[tuple[str, SpoiledPair]]:
    """So many distinct pairs of each paradigm of each language, in an order drawn from the seed."""
    is_new = kind == "held-out"
    sampler = _EvenSampler(f"challenge {kind} {seed}")
    wanted = {(language, one): set[str]() for language in languages for one in PARADIGMS[language]}
    n_in_vain = 0
    while wanted:
        constructions = tuple(sorted({name for _, one in wanted for name in one.constructions}))
        meaning = sampler.draw(constructions)
        n_in_vain += 1
        found = list(_spoiled(meaning, wanted, is_new=is_new, source=source))
        for language, pair in found:
            have = wanted[language, pair.paradigm]
            have.add(pair.good)
            if len(have) == size:
                del wanted[language, pair.paradigm]
        if found:
            n_in_vain = 0
            yield from found
        elif n_in_vain == _PATIENCE:
            language, one = next(iter(wanted))
            n = len(wanted[language, one])
            raise DataError(
                f"the phrasebook has only {n:,} {kind} pairs of {one.phenomenon}, {one.name} "
                f"({language}): ask for fewer with --test-size."
            )


def _spoiled(
    meaning: Meaning,
    wanted: Mapping[tuple[str, Paradigm], set[str]],
    *,
    is_new: bool,
    source: str | None,
) -> Iterator[tuple[str, SpoiledPair]]:
    """All pairs that one meaning gives, of those that are still wanted."""
    if bool(held_out(meaning)) != is_new:
        return
    inner = english.realise(meaning)
    if not is_new and split_of_sentence(join(inner.words, "en")) == "train":
        return
    said: dict[str, PhrasebookSentence] = {"en": inner}
    for (language, one), have in wanted.items():
        for needed in filter(None, (language, source)):
            if needed not in said:
                said[needed] = REALISE[needed](meaning)
        sentence = said[language]
        words = one.spoil(meaning, sentence)
        good = join(sentence.words, language)
        if words is not None and good not in have:
            other = "" if source is None else join(said[source].words, source)
            yield language, SpoiledPair(one, good, join(words, language), other)
