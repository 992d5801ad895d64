"""Text to ids and back. Nothing here knows of tensors."""

from regard.text.characters import Characters
from regard.text.listed_pieces import ListedPieces
from regard.text.piece import Piece, Word
from regard.text.sentencepiece_text import SentencePieceText
from regard.text.size import choose_vocabulary_size
from regard.text.special import BOS, EOS, NAMES, PAD, UNKNOWN
from regard.text.tokenizer import Tokenizer, learn, load
from regard.text.words import Words

__all__ = [
    "BOS",
    "EOS",
    "NAMES",
    "PAD",
    "UNKNOWN",
    "Characters",
    "ListedPieces",
    "Piece",
    "SentencePieceText",
    "Tokenizer",
    "Word",
    "Words",
    "choose_vocabulary_size",
    "learn",
    "load",
]
