"""The embedded corpus: sentences of a synchronous grammar, drawn from a seed.

Some words are never seen in some constructions, so that one can ask for the combinations later.
"""

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from itertools import permutations

from regard.corpora.interface import Example, split_of
from regard.corpora.phrasebook import chinese, english, french
from regard.corpora.phrasebook.lexicon import ADJECTIVES, DETERMINERS, NOUNS, VERBS
from regard.corpora.phrasebook.meaning import (
    Compound,
    Event,
    Existence,
    Meaning,
    NounPhrase,
    PredicateNoun,
    QualityPredicate,
)
from regard.corpora.phrasebook.sampling import Sampler
from regard.corpora.phrasebook.sentence import PhrasebookSentence, align
from regard.errors import UsageError

REALISE: dict[str, Callable[[Meaning], PhrasebookSentence]] = {
    "en": english.realise,
    "zh": chinese.realise,
    "fr": french.realise,
}
PAIRS = tuple(f"{source}-{target}" for source, target in permutations(REALISE, 2))
VERSION = 2  # grows whenever the same seed gives other sentences
SPLITS = ("train", "valid", "test", "combinations")
_PATIENCE = 100_000  # draws without a new sentence after which there are taken to be no more

# Each construction as often as it stands here.
CONSTRUCTIONS = (
    *["statement"] * 7, *["question"] * 3, *["quality"] * 2, *["because"] * 13, *["relative"] * 3,
    "predicate noun", "giving", "existence", "when",
)  # fmt: skip
WITH_COMBINATIONS = ("question", "because", "relative")

_THE = DETERMINERS["the"]
LECTURE_MEANINGS: tuple[Compound, ...] = tuple(
    Compound(
        Event(
            VERBS["cross"],
            "past",
            NounPhrase(NOUNS["animal"], _THE),
            NounPhrase(NOUNS["street"], _THE),
            is_negated=True,
        ),
        "because",
        second,
    )
    for second in (
        QualityPredicate("subject", ADJECTIVES["tired"], "too", "past"),
        QualityPredicate("object", ADJECTIVES["wide"], "too", "past"),
    )
)
# These words are common in training, but never there in the construction of the left column.
COMBINATIONS: dict[str, frozenset[str]] = {
    "relative": frozenset(  # a noun with a relative clause
        {"boy", "nurse", "cook", "rabbit", "giraffe", "goat", "taxi", "apple", "letter", "novel"}
        | {"jacket", "lamp", "key"}
    ),
    "question": frozenset({"drink", "find", "wash", "follow", "dance", "look for"}),  # its verb
    "because-it": frozenset({"weak", "thirsty", "slippery", "boring", "bitter"}),  # what "it" is
}


def phrases(meaning: Meaning) -> Iterator[NounPhrase]:
    """All noun phrases of a meaning that may have an adjective or a clause."""
    if isinstance(meaning, Event):
        yield from (p for p in (meaning.subject, meaning.object, meaning.recipient) if p)
    elif isinstance(meaning, Existence | PredicateNoun):
        yield meaning.subject
    elif isinstance(meaning, QualityPredicate):
        yield from (p for p in (meaning.subject, meaning.than) if isinstance(p, NounPhrase))
    else:
        yield from phrases(meaning.main)
        if isinstance(meaning.second, Event | QualityPredicate):
            yield from phrases(meaning.second)


def held_out(meaning: Meaning) -> tuple[str, ...]:
    """The combinations of this meaning that no training sentence shows, as ``relative:boy``."""
    found = []
    if isinstance(meaning, Event) and meaning.question:
        if meaning.verb.name in COMBINATIONS["question"]:
            found.append(f"question:{meaning.verb.name}")
    elif isinstance(meaning, Compound) and isinstance(meaning.second, QualityPredicate):
        name = meaning.second.adjective.name
        if name in COMBINATIONS["because-it"]:
            found.append(f"because-it:{name}")
    for phrase in phrases(meaning):
        if phrase.relative is not None and phrase.noun.name in COMBINATIONS["relative"]:
            found.append(f"relative:{phrase.noun.name}")
    return tuple(found)


def tags(meaning: Meaning) -> tuple[str, ...]:
    """The constructions that a meaning shows."""
    found = []
    if isinstance(meaning, Compound):
        found += _compound_tags(meaning)
        event: Meaning = meaning.main
    else:
        event = meaning
    if isinstance(event, Event):
        found.append(event.tense.replace(" ", "-"))
        if event.recipient is not None:
            found.append("giving")
        if event.is_negated or event.tense == "never":
            found.append("negation")
    elif isinstance(event, QualityPredicate):
        found.append("comparison" if event.than is not None else "quality")
        if event.is_negated:
            found.append("negation")
    elif isinstance(event, PredicateNoun):
        found.append("predicate-noun")
        if event.is_negated:
            found.append("negation")
    elif isinstance(event, Existence):
        found.append("existence")
    if isinstance(event, Event | QualityPredicate | PredicateNoun) and event.question:
        found += ["question", event.question]
    for phrase in phrases(meaning):
        if phrase.relative is not None:
            found.append("relative")
        if phrase.also is not None:
            found.append("coordination")
    return tuple(found)


def _compound_tags(compound: Compound) -> list[str]:
    if not isinstance(compound.second, QualityPredicate):
        return [compound.conjunction]
    which = compound.second.subject
    stands_for = compound.main.subject if which == "subject" else compound.main.object
    assert stands_for is not None
    pronoun = "person" if "person" in stands_for.noun.sorts else "it"
    return [f"{compound.conjunction}-{pronoun}"]


def join(words: Sequence[str], language: str) -> str:
    """The sentence that these words make: Chinese without blanks, French with one before "?"."""
    if language == "zh":
        return "".join(words)
    text = " ".join(words)
    text = text.replace("' ", "'") if language == "fr" else text.replace(" ?", "?")
    return text.replace(" .", ".").replace(" ,", ",")


LECTURE_KEYS = frozenset(join(english.realise(one).words, "en") for one in LECTURE_MEANINGS)


def split_of_sentence(english_sentence: str) -> str:
    """The split of a meaning, by its English sentence; the lectures' sentences are for testing."""
    return "test" if english_sentence in LECTURE_KEYS else split_of(english_sentence)


class Phrasebook:
    """The corpus in one direction, such as ``zh-en``.

    One meaning has one sentence in each language, and the other way round: a source has exactly
    one translation. The splits are decided by the meaning, so all directions share them.
    """

    def __init__(self, pair: str) -> None:
        if pair not in PAIRS:
            raise UsageError(
                f"the phrasebook has no pair {pair!r}: choose one of {', '.join(PAIRS)}."
            )
        self.pair = pair
        self.source_language, self.target_language = pair.split("-")

    @property
    def splits(self) -> tuple[str, ...]:
        """Training, two sets of new sentences, and words in constructions that are new to them."""
        return SPLITS

    def examples(self, split: str, seed: int) -> Iterator[Example]:
        """Distinct examples of one split, in an order drawn from the seed."""
        if split not in SPLITS:
            raise UsageError(
                f"the phrasebook has no split {split!r}: choose one of {', '.join(SPLITS)}."
            )
        return self._draw(split, seed)

    def _draw(self, split: str, seed: int) -> Iterator[Example]:
        sampler = Sampler(seed)
        is_new = split == "combinations"
        constructions = WITH_COMBINATIONS if is_new else CONSTRUCTIONS
        seen: set[bytes] = set()
        n_in_vain = 0
        while n_in_vain < _PATIENCE:
            n_in_vain += 1
            meaning = sampler.draw(constructions)
            combinations = held_out(meaning)
            if bool(combinations) != is_new:
                continue
            inner = english.realise(meaning)
            key = join(inner.words, "en")
            if not is_new and ((key in LECTURE_KEYS and "test") or split_of(key)) != split:
                continue
            digest = blake2b(key.encode(), digest_size=8).digest()
            if digest not in seen:
                seen.add(digest)
                n_in_vain = 0
                yield self._example(meaning, inner, combinations)

    def _example(
        self, meaning: Meaning, inner: PhrasebookSentence, combinations: tuple[str, ...] = ()
    ) -> Example:
        first, second = self.source_language, self.target_language
        source = inner if first == "en" else REALISE[first](meaning)
        target = inner if second == "en" else REALISE[second](meaning)
        return Example(
            join(source.words, first),
            join(target.words, second),
            source.side(),
            target.side(),
            align(source, target),
            tags(meaning) + combinations,
        )

    def lectures(self) -> tuple[Example, ...]:
        """The lectures' two sentences: the animal too tired, the street too wide."""
        return tuple(self._example(one, english.realise(one)) for one in LECTURE_MEANINGS)


def lecture_examples(pair: str) -> tuple[Example, ...]:
    """The lectures' two sentences in one direction; training never shows them, the test set may."""
    return Phrasebook(pair).lectures()
