"""How far word alignments are from those that people drew (Och and Ney 2003).

With A the links found, S those that are sure and P ⊇ S those that are possible:
``precision = |A ∩ P| / |A|``, ``recall = |A ∩ S| / |S|`` and
``AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)``, over all sentences together.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from regard.errors import DataError, UsageError

Link = tuple[int, int]  # (source word, target word), from 0
_LINK = re.compile(r"(\d+)([-p])(\d+)")


@dataclass(frozen=True)
class GoldAlignment:
    """The links of one sentence that people are sure of, and all that are possible."""

    sure: frozenset[Link]
    possible: frozenset[Link]  # the sure ones too

    def __post_init__(self) -> None:
        object.__setattr__(self, "possible", self.possible | self.sure)


@dataclass(frozen=True)
class AlignmentQuality:
    """How good alignments are; shares are of one, and the error rate is best at zero."""

    error_rate: float
    precision: float
    recall: float
    n_found: int
    n_sure: int
    n_possible: int
    n_sentences: int


def parse_gold(line: str, first: int = 0) -> GoldAlignment:
    """Read ``0-0 1p2``: a sure link and a possible one, of words counted from ``first``."""
    sure: set[Link] = set()
    possible: set[Link] = set()
    for written in line.split():
        match = _LINK.fullmatch(written)
        if match is None:
            raise DataError(
                f"{written!r} is no link: a sure one is written 0-2, a possible one 0p2 "
                "(source word, target word)"
            )
        link = (int(match[1]) - first, int(match[3]) - first)
        if min(link) < 0:
            raise DataError(
                f"{written!r} names a word before the first: these links count from {first}"
            )
        (sure if match[2] == "-" else possible).add(link)
    return GoldAlignment(frozenset(sure), frozenset(possible))


def alignment_error(
    found: Sequence[Iterable[Link]], gold: Sequence[GoldAlignment]
) -> AlignmentQuality:
    """Alignment error rate, precision and recall of the links of some sentences."""
    if len(found) != len(gold):
        raise UsageError(
            f"there are alignments of {len(found):,} sentences and gold of {len(gold):,}: line n "
            "of one has to belong to line n of the other"
        )
    n_found = n_sure = n_possible = n_right = n_allowed = 0
    for links, truth in zip(found, gold, strict=True):
        mine = set(links)
        n_found, n_sure = n_found + len(mine), n_sure + len(truth.sure)
        n_possible += len(truth.possible)
        n_right += len(mine & truth.sure)
        n_allowed += len(mine & truth.possible)
    total = n_found + n_sure
    return AlignmentQuality(
        1 - (n_right + n_allowed) / total if total else 0.0,
        n_allowed / n_found if n_found else 0.0,
        n_right / n_sure if n_sure else 0.0,
        n_found,
        n_sure,
        n_possible,
        len(gold),
    )
