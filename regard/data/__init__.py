"""Corpora to batches: read, clean, encode, and cut into rows of equal length."""

from regard.data.account import Account
from regard.data.batch import Batch, Corpus, MemoryCorpus, Subset, collate
from regard.data.batching import Batches, BatchIterator, MixedBatches, Place, Plan
from regard.data.cleaning import Cleaner
from regard.data.coreference import read_coreference
from regard.data.gold import GoldLinks, NeighbourLinks, PairLinks, StreamLinks, TaughtBatches
from regard.data.images import Cell, ImageCodec, open_picture
from regard.data.labelled import (
    Classified,
    Labelled,
    Parsed,
    Tagged,
    read_classified,
    read_tagged,
    words_of,
)
from regard.data.labelled_rows import (
    NOTHING,
    LabelledBatches,
    LabelledRows,
    labelled_batch,
    text_row,
    word_rows,
)
from regard.data.picture_batches import PictureBatches
from regard.data.picture_reading import Part, read_picture_set
from regard.data.picture_sets import PictureSet, join_picture_sets
from regard.data.prepared import PreparedCorpus, prepare
from regard.data.readers import Pair, read_corpus, read_pairs
from regard.data.spec import Spec, parse_labelled, parse_spec
from regard.data.texts import PreparedText, TextSpec, documents, parse_text, prepare_text
from regard.data.treebank import (
    ROOT,
    AnnotatedPair,
    AnnotatedSentence,
    Antecedent,
    annotated_pair,
    arcs_between_units,
    read_annotated_pairs,
    read_treebank,
)
from regard.data.windows import Passages, Windows, held_out_windows, passage_batch, require_text

__all__ = [
    "NOTHING",
    "ROOT",
    "Account",
    "AnnotatedPair",
    "AnnotatedSentence",
    "Antecedent",
    "Batch",
    "BatchIterator",
    "Batches",
    "Cell",
    "Classified",
    "Cleaner",
    "Corpus",
    "GoldLinks",
    "ImageCodec",
    "Labelled",
    "LabelledBatches",
    "LabelledRows",
    "MemoryCorpus",
    "MixedBatches",
    "NeighbourLinks",
    "Pair",
    "PairLinks",
    "Parsed",
    "Part",
    "Passages",
    "PictureBatches",
    "PictureSet",
    "Place",
    "Plan",
    "PreparedCorpus",
    "PreparedText",
    "Spec",
    "StreamLinks",
    "Subset",
    "Tagged",
    "TaughtBatches",
    "TextSpec",
    "Windows",
    "annotated_pair",
    "arcs_between_units",
    "collate",
    "documents",
    "held_out_windows",
    "join_picture_sets",
    "labelled_batch",
    "open_picture",
    "parse_labelled",
    "parse_spec",
    "parse_text",
    "passage_batch",
    "prepare",
    "prepare_text",
    "read_annotated_pairs",
    "read_classified",
    "read_coreference",
    "read_corpus",
    "read_pairs",
    "read_picture_set",
    "read_tagged",
    "read_treebank",
    "require_text",
    "text_row",
    "word_rows",
    "words_of",
]
