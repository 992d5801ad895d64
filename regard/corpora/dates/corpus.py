"""The corpus "dates": a day as people write it -> the day by ISO 8601."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

import babel
import numpy as np
import numpy.typing as npt

from regard.corpora.dates.formats import all_ways
from regard.corpora.dates.reading import read
from regard.corpora.dates.ways import FIRST, LAST, DateStyle
from regard.corpora.interface import DrawnCorpus, Example, Side, split_of

# The second part is Babel's: with another CLDR, other texts are drawn.
VERSION = f"1 (Babel {babel.__version__})"

_HELD_OUT = 50  # one combination of a month's word and a day of it in so many is never trained on
_N_DAYS = LAST.toordinal() - FIRST.toordinal() + 1
_FIELDS = {"year": 0, "month": 2, "day": 4}  # place in 2026 - 11 - 16
_BLOCK = 4_096
_ROUNDS = 4
_ODD = 0x9E3779B97F4A7C15  # 2^64 / golden ratio: its multiples are spread evenly

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Dates(DrawnCorpus):
    """Days from 1900 to 2099 in twenty-two locales; what is written has one meaning in all."""

    name = "dates"
    splits = ("train", "valid", "test", "combinations")

    def _draw(self, split: str, seed: int) -> Iterator[Example]:
        styles = [(way, False) for way in all_ways() for _ in range(way.share)]
        styles += [(way, True) for way in all_ways() if way.has_case]
        seen: set[str] = set()
        for number in shuffled(len(styles) * _N_DAYS, seed):
            n, style = divmod(number, len(styles))
            way, is_lowercase = styles[style]
            day = date.fromordinal(FIRST.toordinal() + n)
            if not way.first <= day <= way.last:
                continue
            texts = way.write(day)
            source = "".join(texts)
            if is_lowercase:
                source = source.lower()
            # Most sources are not of a small split: asking that first is cheap.
            if split != "combinations" and split_of(source) != split:
                continue
            if source not in seen and split_of_date(source) == split:
                seen.add(source)
                yield _example(way, texts, source, day)


def split_of_date(source: str) -> str | None:
    """Which split a written date belongs to; ``None`` if it can mean two days.

    Decided by the text alone: a word for a month and a day of that month which are held out are
    so in every layout, whoever writes them, with any year.
    """
    found = read(source)
    if found is None:
        return None
    day, month_word = found
    if _is_held_out(month_word, day.month, day.day):
        return "combinations"
    return split_of(source)


def _is_held_out(month_word: str, month: int, day: int) -> bool:
    key = f"{month_word} {month} {day}".encode()
    return int.from_bytes(hashlib.blake2b(key, digest_size=4).digest()) % _HELD_OUT == 0


def _example(way: DateStyle, texts: Sequence[str], source: str, day: date) -> Example:
    """With the truth about it: which words say the year, the month and the day."""
    words: list[str] = []
    alignment: list[tuple[int, int]] = []
    start = 0
    for piece, text in zip(way.pieces, texts, strict=True):
        for word in source[start : start + len(text)].split():
            if piece.field in _FIELDS:
                alignment.append((len(words), _FIELDS[piece.field]))
            words.append(word)
        start += len(text)
    target = day.isoformat()
    year, month, number = target.split("-")
    return Example(
        source=source,
        target=target,
        source_side=Side(tuple(words)),
        target_side=Side((year, "-", month, "-", number)),
        alignment=tuple(alignment),
        tags=(way.locale,),
    )


def shuffled(n: int, seed: int) -> Iterator[int]:
    """Every number below n once, in an order that follows from the seed.

    A Feistel network permutes the numbers of 2b bits, whatever its rounds compute (Luby and
    Rackoff 1988); those that are too large are left out.
    """
    half = max(1, ((n - 1).bit_length() + 1) // 2)
    keys = np.random.default_rng([seed, n]).integers(0, 2**63, _ROUNDS, dtype=np.uint64)
    for start in range(0, 1 << 2 * half, _BLOCK):
        stop = min(start + _BLOCK, 1 << 2 * half)
        numbers = _permute(np.arange(start, stop, dtype=np.uint64), half, keys)
        yield from numbers[numbers < n].tolist()


def _permute(numbers: Words, half: int, keys: Words) -> Words:
    mask = np.uint64((1 << half) - 1)
    left, right = numbers >> np.uint64(half), numbers & mask
    for key in keys:
        left, right = right, left ^ (_scramble(right ^ key) & mask)
    return (left << np.uint64(half)) | right


def _scramble(numbers: Words) -> Words:
    """Bits that have little to do with the bits given; overflow is meant."""
    for shift in (31, 29):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(_ODD)
    return numbers ^ (numbers >> np.uint64(32))
