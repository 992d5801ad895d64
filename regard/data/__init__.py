"""Corpora to batches: read, clean, encode, and cut into rows of equal length."""

from regard.data.account import Account
from regard.data.batch import Batch, Corpus, MemoryCorpus, Subset, collate
from regard.data.batching import Batches, BatchIterator, Place
from regard.data.cleaning import Cleaner
from regard.data.prepared import PreparedCorpus, prepare
from regard.data.readers import Pair, read_corpus, read_pairs
from regard.data.spec import Spec, parse_spec

__all__ = [
    "Account",
    "Batch",
    "BatchIterator",
    "Batches",
    "Cleaner",
    "Corpus",
    "MemoryCorpus",
    "Pair",
    "Place",
    "PreparedCorpus",
    "Spec",
    "Subset",
    "collate",
    "parse_spec",
    "prepare",
    "read_corpus",
    "read_pairs",
]
