"""Counts as English writes them."""

import re
from pathlib import Path

import pytest

from regard.counting import counted, duration, noun

PROJECT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "0 updates"),
        (1, "1 update"),
        (1.0, "1 update"),
        (2, "2 updates"),
        (1500, "1,500 updates"),
    ],
)
def test_a_number_and_its_noun(n: float, text: str) -> None:
    assert counted(n, "update") == text


def test_other_plurals_and_parts() -> None:
    assert counted(0.5, "minute") == "0.5 minutes"
    assert counted(2, "process", "processes") == "2 processes"
    assert (noun(1, "is", "are"), noun(3, "is", "are")) == ("is", "are")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "1 second"),
        (61, "61 seconds"),
        (100, "2 minutes"),
        (7_200, "2 hours"),
        (12_600, "3.5 hours"),
    ],
)
def test_a_length_of_time(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_command_line_counts_with_one_function() -> None:
    """No "1 updates": a count before these nouns is written by ``counted``."""
    nouns = "minutes|updates|sentences|pairs|lines|texts|examples|checkpoints|epochs|runs|pieces"
    told = re.compile(rf"\{{[^{{}}]*(?:n_|len\(|minutes|update)[^{{}}]*\}} (?:{nouns})\b")
    found = [
        f"{path.name}: {match.group()}"
        for folder in ("cli", "systems", "training")
        for path in sorted((PROJECT / "regard" / folder).rglob("*.py"))
        for match in told.finditer(path.read_text(encoding="utf-8"))
    ]
    # A share of several, more than one for certain, or a number that is given with "of".
    allowed = ("n_averaged} checkpoints", "cut):,} sentences", "len(self.held):,} validation")
    assert [one for one in found if not any(part in one for part in allowed)] == []
