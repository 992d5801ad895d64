"""The corpora "copy", "reverse" and "sort": a sequence of symbols -> the same in another order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import ClassVar

from regard.corpora.interface import DrawnCorpus, Example, Side, split_of, split_random
from regard.errors import DataError

VERSION = "1"
SYMBOLS = "0123456789abcdefghijklmnopqrstuvwxyz"  # in the order in which they are sorted

_FEW = 10_000  # so many sequences of one length, or fewer, are shuffled; of more, some are drawn


@dataclass(frozen=True)
class Sequences(DrawnCorpus):
    """Sequences of 1 to ``longest`` symbols, each length as often as the others while it lasts.

    Those of ``long`` have more symbols than any that is trained on, up to ``longest_held_out``:
    who has learned the rule, and not the lengths, writes them too.
    """

    n_symbols: int = 10
    shortest: int = 1
    longest: int = 20
    longest_held_out: int = 40

    splits: ClassVar[tuple[str, ...]] = ("train", "valid", "test", "long")

    def __post_init__(self) -> None:
        if not 2 <= self.n_symbols <= len(SYMBOLS):
            raise DataError(
                f"the corpus {self.name} has 2 to {len(SYMBOLS)} symbols, not {self.n_symbols}."
            )
        if not 1 <= self.shortest <= self.longest < self.longest_held_out:
            raise DataError(
                f"the corpus {self.name} cannot have lengths from {self.shortest} to "
                f"{self.longest} and then to {self.longest_held_out}: what is needed is 1 <= "
                "shortest <= longest < longest_held_out."
            )

    def order(self, words: Sequence[str]) -> list[int]:
        """The places of the source, in the order in which the target has them."""
        raise NotImplementedError

    def _draw(self, split: str, seed: int) -> Iterator[Example]:
        random = split_random(split, seed)
        is_long = split == "long"
        first, last = (
            (self.longest + 1, self.longest_held_out) if is_long else (self.shortest, self.longest)
        )
        of_length = [self._of_length(n, split, random) for n in range(first, last + 1)]
        while of_length:
            chosen = random.randrange(len(of_length))
            words = next(of_length[chosen], None)
            if words is None:
                del of_length[chosen]
            else:
                yield self._example(words)

    def _of_length(self, length: int, split: str, random: Random) -> Iterator[tuple[str, ...]]:
        """Distinct sequences of one length that belong to a split."""
        symbols = SYMBOLS[: self.n_symbols]
        if self.n_symbols**length <= _FEW:
            all_of_them = list(product(symbols, repeat=length))
            random.shuffle(all_of_them)
            yield from (words for words in all_of_them if _belongs(words, split))
            return
        seen: set[tuple[str, ...]] = set()
        n_in_vain = 0
        # Where nothing new was found for so long, hardly anything is left.
        while n_in_vain < 100 * _FEW:
            words = tuple(random.choices(symbols, k=length))
            n_in_vain += 1
            if words not in seen and _belongs(words, split):
                seen.add(words)
                n_in_vain = 0
                yield words

    def _example(self, words: tuple[str, ...]) -> Example:
        """With the truth about it: which symbol of the target is which of the source."""
        order = self.order(words)
        target = tuple(words[place] for place in order)
        return Example(
            source=" ".join(words),
            target=" ".join(target),
            source_side=Side(words),
            target_side=Side(target),
            alignment=tuple((place, n) for n, place in enumerate(order)),
            tags=(f"length-{len(words)}",),
        )


class Copy(Sequences):
    """The sequence again."""

    name = "copy"

    def order(self, words: Sequence[str]) -> list[int]:
        """The places of the source, in the order in which the target has them."""
        return list(range(len(words)))


class Reverse(Sequences):
    """The sequence from its end to its beginning."""

    name = "reverse"

    def order(self, words: Sequence[str]) -> list[int]:
        """The places of the source, in the order in which the target has them."""
        return list(range(len(words)))[::-1]


class Sort(Sequences):
    """The sequence sorted, digits before letters; of equal symbols the earlier one is first."""

    name = "sort"

    def order(self, words: Sequence[str]) -> list[int]:
        """The places of the source, in the order in which the target has them."""
        return sorted(range(len(words)), key=lambda place: words[place])


def _belongs(words: tuple[str, ...], split: str) -> bool:
    # What is long is held out by its length alone.
    return split == "long" or split_of(" ".join(words)) == split
