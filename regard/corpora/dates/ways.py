"""A way of writing dates: pieces, each of which turns one number of the day into text."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

FIRST, LAST = date(1900, 1, 1), date(2099, 12, 31)
# What a year of two digits means: a fixed window, whatever today's date is.
FIRST_SHORT, LAST_SHORT = date(1970, 1, 1), date(2069, 12, 31)

Texts = Mapping[int, str]  # number -> how it is written


@dataclass(frozen=True)
class Piece:
    """A part of a written date; ``field`` says which number of the day its text depends on."""

    field: str  # "year", "month", "day", "weekday", or "literal" for text that is always the same
    texts: Texts


@dataclass(frozen=True)
class Way:
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
