"""A sentence in the words its corpus knows, as the model's tokens allow."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from regard.systems.alignment import Read
from regard.text import Piece
from regard.text.words import split


@runtime_checkable
class Cutting(Protocol):
    """Of a tokenizer, what is needed here."""

    def pieces(self, text: str) -> list[Piece]:
        """The tokens of a text in their places."""
        ...


@dataclass(frozen=True)
class Units:
    """What the model reads; ``places[i]`` is the unit of word i, or there are none to speak of."""

    read: Read
    places: tuple[int, ...] = ()


def read_units(
    tokenizer: Cutting, text: str, words: Sequence[str] = (), *, limit: int | None = None
) -> Units:
    """Cut a text into its words; words that share a token are one unit, as the model sees them.

    Without words, or if they are not those of the text, it is cut at spaces and signs. Tokens
    beyond the limit are not read.
    """
    spans = _spans(text, words)
    is_known = spans is not None and bool(words)
    if spans is None or not is_known:
        spans = [(word.start, word.end) for word in split(text)]
    pieces = tokenizer.pieces(text)[:limit] if spans else []
    touched = [_touched(piece, spans) for piece in pieces]
    is_joined = {k for first, last in touched for k in range(first, last)}
    unit, places = 0, []
    for k in range(len(spans)):
        places.append(unit)
        unit += k not in is_joined
    texts: list[str] = []
    for unit in sorted(set(places)):
        own = [span for span, place in zip(spans, places, strict=True) if place == unit]
        texts.append(text[own[0][0] : own[-1][1]])
    named = [
        replace(piece, word=places[first])
        for piece, (first, _) in zip(pieces, touched, strict=True)
        if places
    ]
    return Units(Read(tuple(texts), tuple(named)), tuple(places) if is_known else ())


def _spans(text: str, words: Sequence[str]) -> list[tuple[int, int]] | None:
    spans, end = [], 0
    for word in words:
        start = text.find(word, end)
        if start < 0:
            return None
        end = start + len(word)
        spans.append((start, end))
    return spans


def _touched(piece: Piece, spans: list[tuple[int, int]]) -> tuple[int, int]:
    """The first and the last word a token covers; a token of no letter stands with the next."""
    covered = [k for k, (start, end) in enumerate(spans) if start < piece.end and piece.start < end]
    if covered:
        return covered[0], covered[-1]
    after = [k for k, (start, _) in enumerate(spans) if start >= piece.start]
    nearest = after[0] if after else max(0, len(spans) - 1)
    return nearest, nearest
