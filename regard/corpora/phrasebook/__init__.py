"""A synchronous grammar of English, Chinese and French: millions of sentences and their truth."""

from regard.corpora.phrasebook.held_out import COMBINATIONS
from regard.corpora.phrasebook.phrasebook import (
    PAIRS,
    VERSION,
    Phrasebook,
    join,
    lecture_examples,
)

__all__ = ["COMBINATIONS", "PAIRS", "VERSION", "Phrasebook", "join", "lecture_examples"]
