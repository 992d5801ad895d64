"""What a conversation is made of: topics, with words to fill in and a memory of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from random import Random

Row = Mapping[str, str]  # words that go together: {"weather": "raining", "advice": "take a coat"}


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
    tables: tuple[tuple[Row, ...], ...] = ()
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


def words(name: str, *values: str) -> tuple[Row, ...]:
    """A table of one column."""
    return tuple({name: value} for value in values)


def sums(largest: int) -> tuple[Row, ...]:
    """a + b = c."""
    numbers = range(largest + 1)
    return tuple({"a": str(a), "b": str(b), "c": str(a + b)} for a in numbers for b in numbers)


def differences(largest: int) -> tuple[Row, ...]:
    """a - b = c, never below zero."""
    return tuple(
        {"a": str(a), "b": str(b), "c": str(a - b)}
        for a in range(largest + 1)
        for b in range(a + 1)
    )
