"""A needle in a haystack: words that mean nothing, among them one key and its value.

Whoever answers has seen that one place, however far back: with local attention alone no farther
than its layers reach.
"""

from collections.abc import Iterator
from random import Random

from regard.corpora.interface import DrawnCorpus, Example, split_random

VERSION = "1"
PAIRS = ("128", "512", "2k", "8k", "32k", "128k")  # words of a text
N_VALUES = 32
_N_WORDS = 40
_USUAL = "512"
# The first word decides the split, so that no text stands in two of them.
_FIRST = {"train": (0, 30), "valid": (30, 35), "test": (35, 40)}


class Needle(DrawnCorpus):
    """Texts of so many words ("2k" is 2,048), which end by asking for what was planted."""

    name = "needle"

    def __init__(self, length: str = _USUAL) -> None:
        self.n_words = n_words_of(length)

    def _draw(self, split: str, seed: int) -> Iterator[Example]:
        random = split_random(f"{split} {self.n_words}", seed)
        while True:
            yield plant(random, self.n_words, random.randrange(*_FIRST[split]))


def plant(random: Random, n_words: int, first: int) -> Example:
    """A text of so many words, the first of them given: a value is planted and asked for."""
    words = [f"w{random.randrange(_N_WORDS)}" for _ in range(n_words - 3)]
    words[0] = f"w{first}"
    value = f"v{random.randrange(N_VALUES)}"
    place = random.randrange(1, len(words) + 1)
    words[place:place] = ["key", value]
    return Example(" ".join([*words, "?"]), value)


def n_words_of(length: str) -> int:
    """A length in words: 512 is 512, and 8k is 8,192."""
    return int(length[:-1]) * 1024 if length.endswith("k") else int(length)
