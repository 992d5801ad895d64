"""Corpora to batches: read, clean, encode, and cut into rows of equal length."""

from regard.data.account import Account
from regard.data.batch import Batch, Corpus, MemoryCorpus, Subset, collate
from regard.data.batching import Batches, BatchIterator, Place, Plan
from regard.data.cleaning import Cleaner
from regard.data.prepared import PreparedCorpus, prepare
from regard.data.readers import Pair, read_corpus, read_pairs
from regard.data.spec import Spec, parse_spec
from regard.data.texts import PreparedText, TextSpec, documents, parse_text, prepare_text
from regard.data.windows import Passages, Windows, held_out_windows, passage_batch

__all__ = [
    "Account",
    "Batch",
    "BatchIterator",
    "Batches",
    "Cleaner",
    "Corpus",
    "MemoryCorpus",
    "Pair",
    "Passages",
    "Place",
    "Plan",
    "PreparedCorpus",
    "PreparedText",
    "Spec",
    "Subset",
    "TextSpec",
    "Windows",
    "collate",
    "documents",
    "held_out_windows",
    "parse_spec",
    "parse_text",
    "passage_batch",
    "prepare",
    "prepare_text",
    "read_corpus",
    "read_pairs",
]
