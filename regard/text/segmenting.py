"""Words of text that is written without spaces, found by the words of the training data.

Chinese and Japanese do not say where words part. A tagger that learned tags of words needs them cut
as they were in its training data: of all ways to cut a text, the one with the largest product of
``P(word) = count / total`` is taken (a unigram model; Sproat et al. 1996). A character that is part
of no known word stands by itself.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from regard.text.tokens import Word
from regard.text.words import ONE_BY_ONE, split

_MOST = 200_000  # words that are kept
_UNSEEN = 0.5  # what a word that was never seen counts

_WITHOUT_SPACES = re.compile(f"[{ONE_BY_ONE}]")
_PARTED = re.compile(rf"[{ONE_BY_ONE}]\s+[{ONE_BY_ONE}]")
_UNPARTED = re.compile(f"[{ONE_BY_ONE}][{ONE_BY_ONE}]")


def is_parted(text: str) -> bool:
    """Whether spaces stand between characters that are usually written without."""
    return _PARTED.search(text) is not None


def is_unparted(text: str) -> bool:
    """Whether characters that are written without spaces leave open where words part."""
    return _UNPARTED.search(text) is not None and not is_parted(text)


def parted(text: str) -> list[Word]:
    """What spaces tell apart."""
    return [Word(one.group(), one.start(), one.end()) for one in re.finditer(r"\S+", text)]


@dataclass(frozen=True)
class Lexicon:
    """How often each word that is written without spaces stands in the training data."""

    counts: Mapping[str, int]

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> "Lexicon":
        """The words of sentences that were cut by hand."""
        found = Counter(
            word for words in sentences for word in words if _WITHOUT_SPACES.search(word)
        )
        return cls(dict(found.most_common(_MOST)))

    @cached_property
    def has_words(self) -> bool:
        """Whether the data were cut into words, and not into characters."""
        return self._longest > 1

    def words(self, text: str) -> list[Word]:
        """The words of a text: as spaces part its characters, or as the known words cut it best."""
        if self.has_words and is_parted(text):
            return [word for one in parted(text) for word in self._without_signs(one)]
        atoms, found, begin = split(text), list[Word](), 0
        for place in range(1, len(atoms) + 1):
            if place == len(atoms) or atoms[place].start > atoms[place - 1].end:
                found += self._cut(text, atoms[begin:place])
                begin = place
        return found

    @cached_property
    def _longest(self) -> int:
        """Atoms (characters, mostly) of the longest word."""
        return max((len(split(word)) for word in self.counts), default=0)

    @cached_property
    def _total(self) -> int:
        return sum(self.counts.values())

    def _cost(self, word: str) -> float:
        return math.log((self._total + 1) / self.counts.get(word, _UNSEEN))

    def _cut(self, text: str, atoms: Sequence[Word]) -> list[Word]:
        """The cheapest way through a run of atoms without a gap, each step a word."""
        cheapest, before = [0.0], [0]
        for end in range(1, len(atoms) + 1):
            ways = []
            for begin in range(max(0, end - max(1, self._longest)), end):
                word = text[atoms[begin].start : atoms[end - 1].end]
                if begin == end - 1 or word in self.counts:
                    ways.append((cheapest[begin] + self._cost(word), begin))
            cost, begin = min(ways)
            cheapest.append(cost)
            before.append(begin)
        words, end = list[Word](), len(atoms)
        while end:
            start, stop = atoms[before[end]].start, atoms[end - 1].end
            words.append(Word(text[start:stop], start, stop))
            end = before[end]
        return words[::-1]

    def _without_signs(self, word: Word) -> list[Word]:
        """A word that was given, and the signs around it, which stand by themselves."""
        if word.text in self.counts:
            return [word]
        atoms = [
            Word(one.text, word.start + one.start, word.start + one.end) for one in split(word.text)
        ]
        inner = [place for place, one in enumerate(atoms) if any(map(str.isalnum, one.text))]
        if not inner:
            return atoms
        first, last = inner[0], inner[-1]
        start, end = atoms[first].start, atoms[last].end
        whole = Word(word.text[start - word.start : end - word.start], start, end)
        return [*atoms[:first], whole, *atoms[last + 1 :]]
