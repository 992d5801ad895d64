"""Text to ids and back. Nothing here knows of tensors."""

from regard.text.byte_pairs import BytePairs
from regard.text.characters import Characters
from regard.text.elsewhere import Elsewhere, Placed
from regard.text.fertility import Fertility, measure_fertility
from regard.text.listed_pieces import ListedPieces
from regard.text.no_text import NoText
from regard.text.sentencepiece_text import SentencePieceText
from regard.text.size import choose_vocabulary_size, needed_characters
from regard.text.tokenizer import Tokenizer, learn, load
from regard.text.tokens import Token, Word
from regard.text.wordpiece import WordPiece
from regard.text.words import Words

__all__ = [
    "BytePairs",
    "Characters",
    "Elsewhere",
    "Fertility",
    "ListedPieces",
    "NoText",
    "Placed",
    "SentencePieceText",
    "Token",
    "Tokenizer",
    "Word",
    "WordPiece",
    "Words",
    "choose_vocabulary_size",
    "learn",
    "load",
    "measure_fertility",
    "needed_characters",
]
