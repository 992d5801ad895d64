"""Corpora that need no download: sampled from a seed, with the truth about every example."""

from regard.corpora.catalogue import (
    CORPORA,
    SEED,
    SIZES,
    Extract,
    is_extract,
    open_corpus,
    parse_extract,
)
from regard.corpora.interface import Box, EmbeddedCorpus, Example, Side, split_of
from regard.corpora.texts import TEXTS, EmbeddedText

__all__ = [
    "CORPORA",
    "SEED",
    "SIZES",
    "TEXTS",
    "Box",
    "EmbeddedCorpus",
    "EmbeddedText",
    "Example",
    "Extract",
    "Side",
    "is_extract",
    "open_corpus",
    "parse_extract",
    "split_of",
]
