"""Every way of writing that is known: what CLDR says of each locale, and what people also write."""

from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from typing import Any

from babel import Locale
from babel.dates import tokenize_pattern

from regard.corpora.dates.ways import (
    DAYS,
    FIRST,
    FIRST_OF_ERA,
    FIRST_SHORT,
    LAST,
    LAST_COUNTED,
    LAST_SHORT,
    REPUBLIC,
    YEARS,
    DateStyle,
    Piece,
    Texts,
    chinese,
    chinese_year,
    first_only,
    literal,
    ordinals,
)
from regard.corpora.tables import read_words

_FORMATS = read_words(__package__, "formats.toml")
LOCALES: list[str] = _FORMATS["locales"]
LENGTHS: list[str] = _FORMATS["lengths"]
ERAS: dict[str, date] = _FORMATS["eras"]
COUNTED = 12  # times as often as others: their years have to be learned one by one


@cache
def all_ways() -> tuple[DateStyle, ...]:
    """Every way of writing, each once."""
    found = {way.name: way for name in LOCALES for way in _ways(name)}
    return tuple(found.values())


def _ways(name: str) -> Iterator[DateStyle]:
    locale = Locale.parse(name)
    for length in LENGTHS:
        yield _way(locale, locale.date_formats[length].pattern)
    for skeleton in _FORMATS["skeletons"]:
        yield _way(locale, locale.datetime_skeletons[skeleton].pattern)
    for pattern in _FORMATS["more"].get(name, ()):
        yield _way(locale, pattern)
    days = first_only() if name == "fr" else ordinals()
    for pattern in _FORMATS["with_ordinals"].get(name, ()):
        yield _way(locale, pattern, note=", ordinal", day=days)
    if name == "en_US":
        for pattern in _FORMATS["with_dots"]:
            yield _way(locale, pattern, note=", dotted", month=_dotted(locale))
    if name in ("zh_CN", "zh_TW"):
        numerals = {n: chinese(n) for n in DAYS}
        years = {year: chinese_year(year) for year in YEARS}
        for pattern in _FORMATS["in_chinese"]:
            note = ", Chinese numerals"
            yield _way(locale, pattern, note=note, day=numerals, month=numerals, year=years)
    if name == "zh_TW":
        first, last = date(REPUBLIC + 1, 1, 1), LAST_COUNTED
        years = {year: str(year - REPUBLIC) for year in range(first.year, last.year + 1)}
        for pattern in _FORMATS["of_the_republic"]:
            yield _way(locale, pattern, first=first, last=last, share=COUNTED, year=years)
    if name == "ja":
        yield from _eras(locale)


def _eras(locale: Any) -> Iterator[DateStyle]:
    ends = [first - timedelta(days=1) for first in [*ERAS.values()][1:]]
    for (era, first), last in zip(ERAS.items(), [*ends, LAST_COUNTED], strict=True):
        counted = {year: year - first.year + 1 for year in range(first.year, last.year + 1)}
        years = {year: FIRST_OF_ERA if n == 1 else str(n) for year, n in counted.items()}
        for pattern in (f"'{era}'y年M月d日", f"'{era}'y年M月d日(E)"):
            yield _way(locale, pattern, first=first, last=last, share=COUNTED, year=years)


def _way(
    locale: Any,
    pattern: str,
    *,
    note: str = "",
    first: date = FIRST,
    last: date = LAST,
    share: int = 1,
    **instead: Texts,
) -> DateStyle:
    """The way a CLDR pattern describes, with other texts for some of its fields."""
    pieces = []
    for _, value in tokenize_pattern(pattern):
        if isinstance(value, str):
            pieces.append(literal(_plain(value)))
        else:
            piece = _piece(locale, *value)
            pieces.append(Piece(piece.field, instead.get(piece.field, piece.texts)))
            if value == ("y", 2):
                first, last = FIRST_SHORT, LAST_SHORT
    name = "_".join(filter(None, (locale.language, locale.territory)))
    return DateStyle(name, f"{name}: {pattern}{note}", tuple(pieces), first, last, share)


def _piece(locale: Any, letter: str, width: int) -> Piece:
    if letter == "y":
        return Piece("year", {year: str(year)[-2:] if width == 2 else str(year) for year in YEARS})
    if letter == "d":
        return Piece("day", {n: f"{n:0{width}}" for n in DAYS})
    context = "stand-alone" if letter in "Lc" else "format"
    if letter in "ML" and width < 3:
        return Piece("month", {n: f"{n:0{width}}" for n in range(1, 13)})
    if letter not in "MLEc":
        raise ValueError(f"{locale}: the letter {letter!r} of a CLDR pattern has no meaning here")
    field, names = ("month", locale.months) if letter in "ML" else ("weekday", locale.days)
    texts = names[context]["wide" if width == 4 else "abbreviated"]
    return Piece(field, {n: _plain(text) for n, text in texts.items()})


def _dotted(locale: Any) -> Texts:
    """Short names of months with a dot, as English texts have them; May is not short for May."""
    short, whole = (locale.months["format"][width] for width in ("abbreviated", "wide"))
    return {n: name if name == whole[n] else f"{name}." for n, name in short.items()}


def _plain(text: str) -> str:
    """With the spaces that people type: CLDR has narrow ones and such as do not break."""
    return text.replace("\u202f", " ").replace("\u00a0", " ")
