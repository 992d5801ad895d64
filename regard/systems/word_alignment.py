"""Alignments between words that were cut beforehand, as gold alignments count them."""

from collections.abc import Iterable, Iterator, Sequence

from regard.systems.alignment import Extraction, align_in_ways
from regard.systems.scoring import windows
from regard.systems.translation import Translator
from regard.text.sentences import Units, read_units
from regard.text.words import join

Link = tuple[int, int]
WordPair = tuple[Sequence[str], Sequence[str]]
_TOGETHER = 32


def align_words(
    translator: Translator, pairs: Iterable[WordPair], extractions: Sequence[Extraction]
) -> Iterator[tuple[tuple[Link, ...], ...]]:
    """For each pair of word lists, and each extraction, the links (source, target) from 0.

    The model reads the words joined to a sentence, for it has learned from sentences. Words that
    share a token are linked together.
    """
    for window in windows(pairs, _TOGETHER):
        units = [
            (
                _read(translator, source, is_source=True),
                _read(translator, target, is_source=False),
            )
            for source, target in window
        ]
        per_way = align_in_ways(translator.models[0], units, extractions)
        for row, (source, target) in enumerate(units):
            yield tuple(_words(found[row].links, source, target) for found in per_way)


def _read(translator: Translator, words: Sequence[str], *, is_source: bool) -> Units:
    tokenizer = translator.source_tokenizer if is_source else translator.target_tokenizer
    return read_units(tokenizer, join(words), words, limit=translator.limit)


def _words(links: Iterable[Link], source: Units, target: Units) -> tuple[Link, ...]:
    """The words of both units of every link."""
    return tuple(
        sorted(
            (i, j)
            for of_source, of_target in links
            for i, place in enumerate(source.places)
            if place == of_source
            for j, other in enumerate(target.places)
            if other == of_target
        )
    )
