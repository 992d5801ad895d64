"""Spans of tagged words, as conlleval counts them (Tjong Kim Sang and Buchholz 2000).

Tags say "B-PER" where a span begins, "I-PER" where it goes on, "O" outside; "E-" and "S-", where a
span ends or stands alone, are understood too. A span that goes on without having begun, or as
another type, begins there. It is found if its type, its beginning and its end are right.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from regard.evaluation.labels import OfLabel, counted

OUTSIDE = "O"
_TAG = re.compile(r"([BIES])-(.+)", re.DOTALL)


@dataclass(frozen=True)
class Span:
    """Words ``start`` to ``end``, which is not part of it, are of a type."""

    type: str
    start: int
    end: int


def tells_spans(tags: Iterable[str]) -> bool:
    """Whether these are tags of spans: all "O" or "B-...", "I-...", and some are not "O"."""
    inside = set(tags) - {OUTSIDE}
    return bool(inside) and all(_TAG.fullmatch(tag) for tag in inside)


def spans(tags: Sequence[str]) -> list[Span]:
    """The spans of one sentence, in order."""
    found: list[Span] = []
    begun: tuple[str, int] | None = None  # its type, and where
    for place, tag in enumerate([*tags, OUTSIDE]):
        part = _TAG.fullmatch(tag)
        letter, kind = (part[1], part[2]) if part else (OUTSIDE, "")
        if begun is not None and (letter in "OBS" or kind != begun[0]):
            found.append(Span(begun[0], begun[1], place))
            begun = None
        if letter != OUTSIDE and begun is None:
            begun = kind, place
        if letter in "ES" and begun is not None:
            found.append(Span(begun[0], begun[1], place + 1))
            begun = None
    return found


def by_type(given: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> list[OfLabel]:
    """How well the spans of each type are found, over sentences."""
    kinds: list[Counter[str]] = [Counter(), Counter(), Counter()]
    for one, other in zip(given, gold, strict=True):
        sides = set(spans(one)), set(spans(other))
        for counter, found in zip(kinds, (*sides, sides[0] & sides[1]), strict=True):
            counter.update(span.type for span in found)
    return counted(*kinds)
