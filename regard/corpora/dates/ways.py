"""A way of writing dates: pieces, each of which turns one number of the day into text.

Not all are plain digits: there are ordinals, Chinese numerals and eras.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

FIRST, LAST = date(1900, 1, 1), date(2099, 12, 31)
# What a year of two digits means: a fixed window, whatever today's date is.
FIRST_SHORT, LAST_SHORT = date(1970, 1, 1), date(2069, 12, 31)

Texts = Mapping[int, str]  # number -> how it is written
YEARS = range(FIRST.year, LAST.year + 1)
DAYS = range(1, 32)
DIGITS = "〇一二三四五六七八九"

FIRST_OF_ERA = "元"  # how its year 1 is written
REPUBLIC = 1911  # year 1 of the calendar of Taiwan is 1912
LAST_COUNTED = date(2050, 12, 31)  # nobody counts from an event so far ahead


@dataclass(frozen=True)
class Piece:
    """A part of a written date; ``field`` says which number of the day its text depends on."""

    field: str  # "year", "month", "day", "weekday", or "literal" for text that is always the same
    texts: Texts


@dataclass(frozen=True)
class DateStyle:
    """One way of writing the days from ``first`` to ``last``, as some people do."""

    locale: str
    name: str
    pieces: tuple[Piece, ...]
    first: date = FIRST
    last: date = LAST
    share: int = 1  # how often it is drawn, against others

    def write(self, day: date) -> list[str]:
        """The texts of the pieces, in order."""
        numbers = {
            "literal": 0,
            "year": day.year,
            "month": day.month,
            "day": day.day,
            "weekday": day.weekday(),
        }
        return [piece.texts[numbers[piece.field]] for piece in self.pieces]

    def texts(self, field: str) -> Texts:
        """How its piece for that field writes numbers; nothing if it has none."""
        return next((piece.texts for piece in self.pieces if piece.field == field), {})

    @property
    def has_case(self) -> bool:
        """Whether writing it in small letters makes a difference."""
        texts = [text for piece in self.pieces for text in piece.texts.values()]
        return any(text != text.lower() for text in texts)


def literal(text: str) -> Piece:
    """A piece that is always the same."""
    return Piece("literal", {0: text})


def ordinals() -> Texts:
    """1st, 2nd, 3rd, 4th … 11th, 12th, 13th … 21st."""
    endings = {1: "st", 2: "nd", 3: "rd"}
    return {n: f"{n}{'th' if n in (11, 12, 13) else endings.get(n % 10, 'th')}" for n in DAYS}


def first_only() -> Texts:
    """French: the first of a month is an ordinal, other days are not."""
    return {n: "1er" if n == 1 else str(n) for n in DAYS}


def chinese(n: int) -> str:
    """A number under 100 in Chinese numerals: 16 is 十六."""
    tens, units = divmod(n, 10)
    if not tens:
        return DIGITS[units]
    return ("" if tens == 1 else DIGITS[tens]) + "十" + (DIGITS[units] if units else "")


def chinese_year(year: int) -> str:
    """A year digit by digit: 2026 is 二〇二六."""
    return "".join(DIGITS[int(digit)] for digit in str(year))


def from_chinese(text: str) -> str:
    """Chinese numerals as digits, whichever of the two ways they are written."""
    if "十" not in text:
        return "".join(str(DIGITS.index(character)) for character in text)
    tens, _, units = text.partition("十")
    return str((DIGITS.index(tens) if tens else 1) * 10 + (DIGITS.index(units) if units else 0))
