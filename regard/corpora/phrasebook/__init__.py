"""A synchronous grammar of English, Chinese and French: millions of sentences and their truth."""

from regard.corpora.phrasebook.phrasebook import (
    COMBINATIONS,
    PAIRS,
    VERSION,
    Phrasebook,
    join,
    lecture_examples,
)

__all__ = ["COMBINATIONS", "PAIRS", "VERSION", "Phrasebook", "join", "lecture_examples"]
