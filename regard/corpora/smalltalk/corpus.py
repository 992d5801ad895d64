"""The corpus "smalltalk": what was said before and is said now -> the answer."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from regard.corpora.interface import Example, split_of
from regard.corpora.smalltalk import chinese, english
from regard.corpora.smalltalk.topic import Topic
from regard.errors import DataError
from regard.text.turns import join_turns

VERSION = "1"
LANGUAGES = {"en": english.TOPICS, "zh": chinese.TOPICS}
PAIRS = tuple(LANGUAGES)  # a question and its answer are of one language

_MANY = 50  # fillings of a topic: of so many, whole ones are held out
_SHARE = 12  # one in so many is
_PATIENCE = 100_000  # draws without a new example after which there are taken to be no more
_SIGNS = ".?!。？！"


@dataclass(frozen=True)
class Exchange:
    """What one says and the other answers."""

    said: str
    answer: str
    topic: Topic
    filling: dict[str, str]
    is_recall: bool = False

    @property
    def is_fixed(self) -> bool:
        """Whether there is nothing in it to combine."""
        return not self.topic.tables

    @property
    def is_new(self) -> bool:
        """Whether training never shows it: these words together, or this word asked back."""
        is_combined = self.is_recall or self.topic.n_fillings >= _MANY
        if not (self.filling and is_combined):
            return False
        key = f"{self.topic.name} {sorted(self.filling.items())}"
        digest = hashlib.blake2b(key.encode(), digest_size=4).digest()
        return int.from_bytes(digest) % _SHARE == 0


class Smalltalk:
    """Conversations about names, countries, colours, sums and the weather, and about nothing.

    What was said decides what is answered, so exact match is a fair measure. Some answers need the
    turns before: who says "My name is Tom." may ask "What is my name?" next.
    """

    splits = ("train", "valid", "test", "combinations")

    def __init__(self, language: str | None = None) -> None:
        self.languages = (language,) if language else tuple(LANGUAGES)

    def examples(self, split: str, seed: int) -> Iterator[Example]:
        """Distinct examples of one split, in an order drawn from the seed."""
        if split not in self.splits:
            raise DataError(
                f"the corpus smalltalk has no split {split!r}: choose {', '.join(self.splits)}."
            )
        return self._draw(split, seed)

    def _draw(self, split: str, seed: int) -> Iterator[Example]:
        random = Random(f"{split} {seed}")  # noqa: S311 - a text gives the same numbers everywhere
        seen: set[str] = set()
        n_in_vain = 0
        while n_in_vain < _PATIENCE:
            n_in_vain += 1
            language = random.choice(self.languages)
            before, now = _drawn(random, LANGUAGES[language])
            turns = [] if before is None else [_careless(before.said, random), before.answer]
            source = join_turns([*turns, _careless(now.said, random)])
            if source not in seen and _split(before, now, source) == split:
                seen.add(source)
                n_in_vain = 0
                yield Example(source, now.answer, tags=(language, *_tags(before, now)))


def _drawn(random: Random, topics: tuple[Topic, ...]) -> tuple[Exchange | None, Exchange]:
    """What is said now, and mostly something that was said before."""
    weights = [topic.weight for topic in topics]
    first, second = random.choices(topics, weights, k=2)
    if random.random() < 0.5:
        return None, _asked(random, second) if random.random() < 0.1 else _said(random, second)
    before = _said(random, first)
    if first.asks and random.random() < 0.5:
        said = random.choice(first.asks).format_map(before.filling)
        answer = first.recalled.format_map(before.filling)
        return before, Exchange(said, answer, first, before.filling, is_recall=True)
    if second.asks and second.asks != first.asks and random.random() < 0.1:
        return before, _asked(random, second)
    return before, _said(random, second)


def _said(random: Random, topic: Topic) -> Exchange:
    filling = topic.fill(random)
    said = random.choice(topic.says).format_map(filling)
    return Exchange(said, topic.answer.format_map(filling), topic, filling)


def _asked(random: Random, topic: Topic) -> Exchange:
    """Asked for what was never said."""
    if not topic.asks:
        return _said(random, topic)
    filling = topic.fill(random)
    said = random.choice(topic.asks).format_map(filling)
    return Exchange(said, topic.forgotten.format_map(filling), topic, {})


def _careless(said: str, random: Random) -> str:
    """As people type: often without the sign at the end, or without capitals."""
    chance = random.random()
    if chance < 0.6:
        return said
    bare = said.rstrip(_SIGNS)
    return bare if chance < 0.8 else bare.replace(",", "").lower()


def _split(before: Exchange | None, now: Exchange, source: str) -> str | None:
    if now.is_new:
        return "combinations"
    if before is not None and before.is_new:
        return None  # it would show what is held out
    return "train" if before is None and now.is_fixed else split_of(source)


def _tags(before: Exchange | None, now: Exchange) -> tuple[str, ...]:
    kind = "recall" if now.is_recall else "forgotten" if not now.filling else "said"
    if now.is_fixed:
        kind = "fixed"
    return (now.topic.name, kind, "first" if before is None else "later")
