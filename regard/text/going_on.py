"""Pieces of a text that goes on from what stands before it, as after a gap in a sentence.

Sentencepiece puts a space before every text, so that a word is the same piece wherever it stands.
What follows a gap without a space, as in Chinese always, must not get one: it was read without.
"""

from regard.text.piece import Piece, without_spaces, word_at
from regard.text.sentencepiece_text import SentencePieceText
from regard.text.tokenizer import Tokenizer
from regard.text.words import split

_BEFORE = "\ue000"  # for private use: no piece that is learned joins it with what follows


def going_on(tokenizer: Tokenizer, text: str) -> list[Piece]:
    """The pieces of a text before which something stands; a space is there if it is written."""
    if not isinstance(tokenizer, SentencePieceText) or not text.strip():
        return tokenizer.pieces(text)
    n, words = len(_BEFORE), split(text)
    starts = [word.start for word in words]
    found = []
    for one in tokenizer.pieces(_BEFORE + text):
        if one.end > n:
            start, end = without_spaces(text, max(0, one.start - n), one.end - n)
            found.append(Piece(one.id, one.text, start, end, word_at(words, starts, start)))
    return found
