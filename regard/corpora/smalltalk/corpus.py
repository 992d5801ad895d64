"""The corpus "smalltalk": what was said before and is said now -> the answer."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from random import Random

from regard.corpora.interface import DrawnCorpus, Example, split_of, split_random
from regard.corpora.tables import read_words, with_tuples
from regard.text.turns import join_turns

VERSION = "1"
_MANY = 50  # fillings of a topic: of so many, whole ones are held out
_SHARE = 12  # one in so many is
_PATIENCE = 100_000  # draws without a new example after which there are taken to be no more
_SIGNS = ".?!。？！"

Row = Mapping[str, str]  # words that go together: {"weather": "raining", "advice": "take a coat"}
Table = tuple[Row, ...]


@dataclass(frozen=True)
class Topic:
    """Something that is said in several ways, and answered in one.

    Names in braces are filled from ``tables``, one row of each. Who is told something can be asked
    for it afterwards with ``asks``, and knows it as ``recalled``; asked out of the blue, all that
    is left to say is ``forgotten``.
    """

    name: str
    says: tuple[str, ...]
    answer: str
    tables: tuple[Table, ...] = ()
    asks: tuple[str, ...] = ()
    recalled: str = ""
    forgotten: str = ""
    weight: int = 1  # how often it comes up

    @property
    def n_fillings(self) -> int:
        """In how many ways the braces can be filled."""
        return prod(len(table) for table in self.tables)

    def fill(self, random: Random) -> dict[str, str]:
        """Words for the braces, drawn by chance."""
        return _merged(tuple(random.choice(table) for table in self.tables))

    def fillings(self) -> list[dict[str, str]]:
        """All there are."""
        return [_merged(rows) for rows in product(*self.tables)]


def _merged(rows: tuple[Row, ...]) -> dict[str, str]:
    return {name: word for row in rows for name, word in row.items()}


def _sums(largest: int) -> Table:
    """a + b = c."""
    numbers = range(largest + 1)
    return tuple({"a": str(a), "b": str(b), "c": str(a + b)} for a in numbers for b in numbers)


def _differences(largest: int) -> Table:
    """a - b = c, never below zero."""
    return tuple(
        {"a": str(a), "b": str(b), "c": str(a - b)}
        for a in range(largest + 1)
        for b in range(a + 1)
    )


def _topics(language: str) -> tuple[Topic, ...]:
    """The topics of a language, as its TOML file beside this module has them."""
    found = read_words(__package__, f"{language}.toml")
    tables: dict[str, Table] = {"sums": _sums(10), "differences": _differences(10)}
    for name, values in found["words"].items():
        tables[name] = tuple({name: value} for value in values)
    for name, columns in found["rows"].items():
        tables[name] = tuple(
            {name: value, other: text}
            for other, texts in columns.items()
            for text, values in texts.items()
            for value in values
        )
    topics = []
    for topic in found["topics"]:
        own = tuple(tables[name] for name in topic.get("tables", ()))
        topics.append(Topic(**with_tuples(topic | {"tables": own})))
    return tuple(topics)


LANGUAGES = {language: _topics(language) for language in ("en", "zh")}
PAIRS = tuple(LANGUAGES)  # a question and its answer are of one language


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


class Smalltalk(DrawnCorpus):
    """Conversations about names, countries, colours, sums and the weather, and about nothing.

    What was said decides what is answered, so exact match is a fair measure. Some answers need the
    turns before: who says "My name is Tom." may ask "What is my name?" next.
    """

    name = "smalltalk"
    splits = ("train", "valid", "test", "combinations")

    def __init__(self, language: str | None = None) -> None:
        self.languages = (language,) if language else tuple(LANGUAGES)

    def _draw(self, split: str, seed: int) -> Iterator[Example]:
        random = split_random(split, seed)
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
