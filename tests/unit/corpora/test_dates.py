"""The corpus of dates: what is written has one meaning, and that is the target.

CLDR's texts change from version to version: what is compared with words here is old and settled.
"""

from datetime import date, timedelta
from itertools import islice

import pytest
from babel.dates import format_date

from regard.corpora import split_of
from regard.corpora.dates import Dates
from regard.corpora.dates.corpus import shuffled, split_of_date
from regard.corpora.dates.formats import LENGTHS, LOCALES, all_ways
from regard.corpora.dates.reading import readings
from regard.corpora.dates.ways import FIRST, LAST, chinese, chinese_year, from_chinese, ordinals
from regard.errors import DataError

SPLITS = ("train", "valid", "test", "combinations")
SOME_DAYS = [date(1900, 1, 1), date(1969, 12, 31), date(2000, 2, 29), date(2026, 11, 16), LAST]


def drawn(split: str, seed: int, n: int) -> list[tuple[str, str]]:
    return [(e.source, e.target) for e in islice(Dates().examples(split, seed), n)]


def texts(day: date) -> set[str]:
    """Everything that may be written for a day."""
    ways = [way for way in all_ways() if way.first <= day <= way.last]
    written = {"".join(way.write(day)) for way in ways}
    return written | {text.lower() for text in written}


@pytest.mark.parametrize(
    "text",
    [
        *("Monday, November 16, 2026", "november 16, 2026", "November 16th, 2026"),
        *("the 16th of November 2026", "16 November 2026", "Nov. 16, 2026", "11/16/26"),
        *("2026年11月16日", "2026年11月16日星期一", "2026年11月16号", "二〇二六年十一月十六日"),
        *("民國115年11月16日", "令和8年11月16日", "2026年11月16日月曜日"),
        *("16. November 2026", "16.11.2026", "16 novembre 2026", "16 de noviembre de 2026"),
        *("16 ноября 2026 г.", "2026년 11월 16일", "2026-11-16"),
    ],
)
def test_a_day_is_written_as_people_do(text: str) -> None:
    assert text in texts(date(2026, 11, 16))
    assert readings(text) == {date(2026, 11, 16)}


@pytest.mark.parametrize("name", LOCALES)
def test_the_formats_of_cldr_are_written_as_babel_writes_them(name: str) -> None:
    for day in SOME_DAYS:
        for length in LENGTHS:
            text = format_date(day, length, name).replace("\u202f", " ").replace("\u00a0", " ")
            is_short = text not in texts(day)
            # A year of two digits is written only where it has one meaning.
            assert not is_short or (length == "short" and not 1970 <= day.year <= 2069), text


@pytest.mark.parametrize("seed", [1, 7])
def test_the_source_determines_the_target(seed: int) -> None:
    for split, n in zip(SPLITS, (2000, 20, 20, 40), strict=True):
        for source, target in drawn(split, seed, n):
            assert readings(source) == {date.fromisoformat(target)}, source


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("03/04/2026", ["2026-03-04", "2026-04-03"]),
        ("3/4/26", ["2026-03-04", "2026-04-03"]),
        ("Tue, 3/4/2026", ["2026-03-04", "2026-04-03"]),  # British too; the weekday is not asked
        ("04/04/2026", ["2026-04-04"]),
        ("13/04/2026", ["2026-04-13"]),
        ("04/13/2026", ["2026-04-13"]),
        ("13/13/2026", []),
        ("2026/3/4", ["2026-03-04"]),
        ("31/04/2026", []),
        ("14/3/69", ["2069-03-14"]),
        ("14/3/70", ["1970-03-14"]),
        ("14/3/026", []),
        ("昭和64年1月7日", ["1989-01-07"]),
        ("平成元年1月8日", ["1989-01-08"]),
        ("昭和64年1月8日", []),  # the era ended the day before
        ("someday", []),
    ],
)
def test_every_known_way_of_reading_is_tried(text: str, days: list[str]) -> None:
    assert sorted(day.isoformat() for day in readings(text)) == days


def test_what_has_two_readings_is_never_drawn() -> None:
    assert "3/4/2026" in texts(date(2026, 3, 4)) & texts(date(2026, 4, 3))
    assert split_of_date("3/4/2026") is None
    assert split_of_date("13/04/2026") is not None


def test_the_meaning_is_the_same_for_every_way_of_writing() -> None:
    """Nothing is written that is read as other days only."""
    day = FIRST
    while day <= LAST:
        for text in texts(day):
            assert day in readings(text), text
        day += timedelta(days=2111)


def test_weekdays_are_right() -> None:
    names = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    n_seen = 0
    for source, target in drawn("train", 1, 4000):
        for weekday, name in enumerate(names):
            if name in source:
                n_seen += 1
                assert date.fromisoformat(target).weekday() == weekday, source
    assert n_seen > 50


def test_splits_share_no_source_whatever_the_seed() -> None:
    sources = {
        split: {source for seed in (1, 2) for source, _ in drawn(split, seed, 40)}
        for split in SPLITS
    }
    for split in ("train", "valid", "test"):
        assert {split_of(source) for source in sources[split]} == {split}
    for one in SPLITS:
        for other in SPLITS:
            assert one == other or not sources[one] & sources[other]


def test_a_held_out_month_and_day_are_so_in_every_layout_with_any_year() -> None:
    split = {
        month_and_day: {
            split_of_date(text) == "combinations"
            for year in (1950, 2026)
            for text in (
                f"{month_and_day}, {year}",
                f"{month_and_day.lower()} {year}",
                f"{month_and_day.split()[1]} {month_and_day.split()[0]} {year}",
            )
        }
        for month in ("January", "May", "October")
        for month_and_day in (f"{month} {day}" for day in range(1, 32))
    }
    assert all(len(found) == 1 for found in split.values())
    assert 0 < sum(found == {True} for found in split.values()) < 10


def test_examples_are_distinct_and_follow_from_the_seed() -> None:
    first = drawn("train", 3, 2000)
    assert len(set(first)) == len({source for source, _ in first}) == 2000
    assert drawn("train", 3, 2000) == first
    assert not set(drawn("train", 4, 200)) >= set(first[:200])
    assert not any("\n" in source or "\t" in source or "  " in source for source, _ in first)


def test_all_locales_and_all_years_are_drawn() -> None:
    examples = list(islice(Dates().examples("train", 1), 3000))
    assert {tag for example in examples for tag in example.tags} == set(LOCALES)
    assert len({example.target[:4] for example in examples}) == 200


def test_the_alignment_joins_the_words_for_year_month_and_day() -> None:
    for example in islice(Dates().examples("train", 5), 1000):
        assert example.source_side is not None
        assert example.target_side is not None
        assert "".join(example.source_side.words) == "".join(example.source.split())
        assert "".join(example.target_side.words) == example.target
        words = example.source_side.words
        assert {target for _, target in example.alignment} == {0, 2, 4}
        day = [words[source] for source, target in example.alignment if target == 4]
        assert len(day) == 1
        digits = "".join(c for c in day[0] if c.isdigit() and c.isascii()) or from_chinese(day[0])
        assert int(digits) == int(example.target[-2:])


def test_an_unknown_split_is_refused_at_once() -> None:
    with pytest.raises(DataError) as caught:
        Dates().examples("tests", 1)
    assert str(caught.value) == (
        "the corpus dates has no split 'tests': choose train, valid, test, combinations."
    )


def test_ordinals_and_chinese_numerals() -> None:
    written = ordinals()
    assert [written[n] for n in (1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 31)] == [
        *("1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "23rd", "31st")
    ]
    assert [chinese(n) for n in (3, 10, 16, 20, 31)] == ["三", "十", "十六", "二十", "三十一"]
    assert chinese_year(2026) == "二〇二六"
    for n in range(1, 100):
        assert from_chinese(chinese(n)) == str(n)


@pytest.mark.parametrize("n", [1, 2, 5, 64, 1000])
def test_the_shuffled_order_has_every_number_once(n: int) -> None:
    found = list(shuffled(n, 3))
    assert sorted(found) == list(range(n))
    assert list(shuffled(n, 3)) == found
    if n == 1000:
        assert found != list(shuffled(n, 4))
        assert found[:50] != sorted(found[:50])
