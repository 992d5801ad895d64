"""What an embedded corpus gives: examples of a split, drawn from a seed."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import ClassVar, Protocol, runtime_checkable

from regard.errors import DataError

Box = tuple[
    int, int, int, int
]  # x0, y0, x1, y1 in pixels, from the top left; x1 and y1 are outside
SHARES = {"valid": 10, "test": 10}  # of 1,000 sources each; all others are for training


@dataclass(frozen=True)
class Side:
    """What is known of one sentence, word by word; places count from 0."""

    words: tuple[str, ...]
    heads: tuple[int, ...] = ()  # of each word the place of the word it depends on; -1: the root
    relations: tuple[str, ...] = ()  # what each word is to its head, by Universal Dependencies
    antecedents: tuple[tuple[int, int], ...] = ()  # (pronoun, head noun of what it stands for)


@dataclass(frozen=True)
class Example:
    """A pair of sentences, and the truth about them where the corpus knows it."""

    source: str
    target: str
    source_side: Side | None = None
    target_side: Side | None = None
    alignment: tuple[tuple[int, int], ...] = ()  # (place in source words, place in target words)
    tags: tuple[str, ...] = field(default=())  # constructions it shows: "question", "because-it"
    boxes: tuple[tuple[int, Box], ...] = ()  # (place in target words, what it names in the picture)


@runtime_checkable
class EmbeddedCorpus(Protocol):
    """A corpus that needs no download."""

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of its parts: "train", "valid", "test", and others that are held out."""
        ...

    def examples(self, split: str, seed: int) -> Iterator[Example]:
        """Distinct examples of one split; no source of it stands in another, whatever the seed."""
        ...


class DrawnCorpus:
    """A corpus whose examples are drawn: it checks the split, and ``_draw`` gives what is in it."""

    name: ClassVar[str]
    splits: ClassVar[tuple[str, ...]] = ("train", "valid", "test")

    def examples(self, split: str, seed: int) -> Iterator[Example]:
        """Distinct examples of one split, in an order that follows from the seed."""
        if split not in self.splits:
            raise DataError(
                f"the corpus {self.name} has no split {split!r}: choose {', '.join(self.splits)}."
            )
        return self._draw(split, seed)

    def _draw(self, split: str, seed: int) -> Iterator[Example]:
        raise NotImplementedError


def split_random(split: str, seed: int) -> Random:
    """Chance of a split's own; a text as seed gives the same numbers everywhere."""
    return Random(f"{split} {seed}")  # noqa: S311


def split_of(source: str) -> str:
    """Which of train, valid and test a sentence belongs to: decided by the sentence alone."""
    place = int.from_bytes(hashlib.blake2b(source.encode(), digest_size=4).digest()) % 1000
    for name, share in SHARES.items():
        if place < share:
            return name
        place -= share
    return "train"
