"""How days and years are written other than in plain digits: ordinals, Chinese numerals, eras."""

from datetime import date

from regard.corpora.dates.ways import FIRST, LAST, Texts

YEARS = range(FIRST.year, LAST.year + 1)
DAYS = range(1, 32)
DIGITS = "〇一二三四五六七八九"

# The first day of each Japanese era; one lasts until the next begins.
ERAS = {
    "大正": date(1912, 7, 30),
    "昭和": date(1926, 12, 25),
    "平成": date(1989, 1, 8),
    "令和": date(2019, 5, 1),
}
FIRST_OF_ERA = "元"  # how its year 1 is written
REPUBLIC = 1911  # year 1 of the calendar of Taiwan is 1912
LAST_COUNTED = date(2050, 12, 31)  # nobody counts from an event so far ahead


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
