"""The corpus "digits": a drawn digit -> its label."""

from collections.abc import Iterator
from dataclasses import dataclass

from regard.corpora.interface import DrawnCorpus, Example, split_of, split_random

VERSION = "1"


@dataclass(frozen=True)
class Digits(DrawnCorpus):
    """Digits from 0 to 9 in turns, each by another hand."""

    name = "digits"

    def _draw(self, split: str, seed: int) -> Iterator[Example]:
        random = split_random(split, seed)
        seen: set[str] = set()
        while True:
            for digit in range(10):
                source = ""
                while not source or source in seen or split_of(source) != split:
                    source = f"digit {digit}, hand {random.randrange(10**9)}"
                seen.add(source)
                yield Example(source=source, target=str(digit))
