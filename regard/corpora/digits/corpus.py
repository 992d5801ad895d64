"""The corpus "digits": a drawn digit -> its label."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from regard.corpora.interface import Example, split_of
from regard.errors import DataError

VERSION = "1"


@dataclass(frozen=True)
class Digits:
    """Digits from 0 to 9 in turns, each by another hand."""

    splits: ClassVar[tuple[str, ...]] = ("train", "valid", "test")

    def examples(self, split: str, seed: int) -> Iterator[Example]:
        """Distinct digits of one split, without end."""
        if split not in self.splits:
            raise DataError(
                f"the corpus digits has no split {split!r}: choose {', '.join(self.splits)}."
            )
        return self._draw(split, seed)

    def _draw(self, split: str, seed: int) -> Iterator[Example]:
        random = Random(f"{split} {seed}")  # noqa: S311 - a text gives the same numbers everywhere
        seen: set[str] = set()
        while True:
            for digit in range(10):
                source = ""
                while not source or source in seen or split_of(source) != split:
                    source = f"digit {digit}, hand {random.randrange(10**9)}"
                seen.add(source)
                yield Example(source=source, target=str(digit))
