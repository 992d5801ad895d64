"""Corpora that need no download: sampled from a seed, with the truth about every example."""

from regard.corpora.interface import Corpus, Example, Side, split_of

__all__ = ["Corpus", "Example", "Side", "split_of"]
