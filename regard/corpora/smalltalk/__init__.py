"""Small talk in English and Chinese: what is said, what is answered, and what was said before."""

from regard.corpora.smalltalk.corpus import LANGUAGES, PAIRS, VERSION, Smalltalk

__all__ = ["LANGUAGES", "PAIRS", "VERSION", "Smalltalk"]
