"""Sequences of symbols to copy, to turn round or to sort: what a memory is tried with."""

from regard.corpora.sequences.corpus import SYMBOLS, VERSION, Copy, Reverse, Sequences, Sort

__all__ = ["SYMBOLS", "VERSION", "Copy", "Reverse", "Sequences", "Sort"]
