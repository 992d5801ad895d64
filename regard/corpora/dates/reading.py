"""What a written date can mean, by every way of writing that is known.

Whatever the numbers, the text around them is the same: ``16 novembre 2026`` has the skeleton
``#novembre#``, which is looked up to learn what its numbers stand for.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache

from regard.corpora.dates.formats import all_ways
from regard.corpora.dates.ways import DIGITS, FIRST_OF_ERA, DateStyle, from_chinese

_CHINESE = re.compile(f"[{DIGITS}十]+(?=[年月日号])")
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th|er)\b")
_NUMBER = re.compile(r"\d+")
_NOT_WORD = re.compile(rf"[\d\s.{DIGITS}十]+")
_SAMPLE_DAYS = range(22, 29)  # all weekdays, and no number among them is a month


@dataclass(frozen=True, eq=False)
class Years:
    """What a text for a year means in one calendar; each calendar is there once."""

    meant: dict[str, int]


@dataclass(frozen=True)
class Meaning:
    """What the numbers in a text stand for, one field for each."""

    fields: tuple[str, ...]
    month: int | None  # where a word says it
    years: Years
    first: date
    last: date


@dataclass
class DateEntry:
    """What is known of a skeleton."""

    meanings: list[Meaning]
    month_word: str


def skeleton(source: str) -> tuple[str, list[str]]:
    """The text of a date without its numbers, spaces and capitals; and its numbers."""
    text = source.casefold()
    if "年" in text:
        text = _CHINESE.sub(lambda found: from_chinese(found[0]), text).replace(
            f"{FIRST_OF_ERA}年", "1年"
        )
    text = _ORDINAL.sub("", text)
    return "".join(_NUMBER.sub("#", text).split()), _NUMBER.findall(text)


def readings(source: str) -> set[date]:
    """Every day that a text can mean; weekdays are not asked for help."""
    outline, numbers = skeleton(source)
    return _readings(outline, numbers)


def read(source: str) -> tuple[date, str] | None:
    """The day a text means and its word for the month; ``None`` if there is not just one."""
    outline, numbers = skeleton(source)
    found = _readings(outline, numbers)
    return (found.pop(), _table()[outline].month_word) if len(found) == 1 else None


def _readings(outline: str, numbers: Sequence[str]) -> set[date]:
    entry = _table().get(outline)
    if entry is None:
        return set()
    found = (_apply(meaning, numbers) for meaning in entry.meanings)
    return {day for day in found if day is not None}


def _apply(meaning: Meaning, numbers: Sequence[str]) -> date | None:
    """The day these numbers say if they are meant so; ``None`` if there is no such day."""
    day, month, year = 0, meaning.month, None
    for field, text in zip(meaning.fields, numbers, strict=True):
        if field == "year":
            year = meaning.years.meant.get(text)
        elif len(text) > 2:
            return None
        elif field == "day":
            day = int(text)
        elif field == "month":
            month = int(text)
    if year is None or month is None or not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    try:
        read = date(year, month, day)
    except ValueError:  # the 31st of a short month
        return None
    return read if meaning.first <= read <= meaning.last else None


@cache
def _table() -> dict[str, DateEntry]:
    """Skeleton -> what it can mean, learned by writing a few days in every way."""
    table: dict[str, DateEntry] = {}
    calendars: dict[tuple[tuple[str, int], ...], Years] = {}
    for way in all_ways():
        meant = _years(way)
        years = calendars.setdefault(tuple(meant.items()), Years(meant))
        for day in _samples(way, meant):
            outline, numbers = skeleton("".join(way.write(day)))
            fields = tuple(_field(number, day, meant) for number in numbers)
            month = None if "month" in fields else day.month
            meaning = Meaning(fields, month, years, way.first, way.last)
            word = _word(way.texts("month")[day.month])
            entry = table.setdefault(outline, DateEntry([], word))
            if meaning not in entry.meanings:
                entry.meanings.append(meaning)
            # Two ways may part one text differently; which came first must not matter.
            entry.month_word = min(entry.month_word, word)
    return table


def _years(way: DateStyle) -> dict[str, int]:
    texts = way.texts("year")
    years = range(way.first.year, way.last.year + 1)
    return {_number(texts[year]): year for year in years}


def _number(text: str) -> str:
    """A year in digits, as a skeleton's numbers are."""
    if text == FIRST_OF_ERA:
        return "1"
    return text if text.isascii() else from_chinese(text)


def _samples(way: DateStyle, meant: dict[str, int]) -> Iterator[date]:
    """Days that show every text of a way, of whose numbers no two are the same."""
    years = sorted(set(meant.values()) - {way.first.year, way.last.year})
    written = {year: int(number) for number, year in meant.items()}
    year = next(y for y in years if written[y] > 12 and written[y] not in _SAMPLE_DAYS)
    weekdays = way.texts("weekday")
    for month in range(1, 13):
        for n in _SAMPLE_DAYS if weekdays else _SAMPLE_DAYS[:1]:
            day = date(year, month, n)
            # Vietnamese counts its weekdays: the 2 of "Th 2" is not February.
            if not weekdays or str(month) not in _NUMBER.findall(weekdays[day.weekday()]):
                yield day


def _field(number: str, day: date, meant: dict[str, int]) -> str:
    if meant.get(number) == day.year:
        return "year"
    return {day.day: "day", day.month: "month"}.get(int(number), "weekday")


def _word(month: str) -> str:
    """The name of a month without numbers, dots and capitals: nothing if it is a number."""
    return _NOT_WORD.sub("", month.casefold())
