"""The ids of a text whose words are given: where each word begins, and no id that is of two words.

The text is encoded as it is written, as a model has read it in other texts. Pieces of Chinese text
may span words, which stand there without spaces: such a piece is cut where the words part.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from regard.text.going_on import going_on
from regard.text.piece import Word
from regard.text.special import UNKNOWN
from regard.text.tokenizer import Tokenizer
from regard.text.words import join


@dataclass(frozen=True)
class WordIds:
    """Ids of a text, and the place among them of each word's first."""

    ids: list[int]
    firsts: list[int]


def written(words: Sequence[str]) -> tuple[str, list[Word]]:
    """The sentence that words make, and where each stands in it."""
    text = join(words)
    placed, end = list[Word](), 0
    for word in words:
        start = text.index(word, end)
        end = start + len(word)
        placed.append(Word(word, start, end))
    return text, placed


def cut_at_words(tokenizer: Tokenizer, text: str, words: Sequence[Word]) -> WordIds:
    """Encode a text so that each of its words, which come in order, has a first id of its own."""
    ids, firsts = list[int](), list[int]()
    starts, ends = [word.start for word in words], [word.end for word in words]

    def begin(k: int) -> None:
        """Word k begins here; of those before it that no piece stands for, nothing is known."""
        while len(firsts) < k:
            firsts.append(len(ids))
            ids.append(UNKNOWN)
        if len(firsts) == k:
            firsts.append(len(ids))

    for piece in tokenizer.pieces(text):
        covered = range(bisect_right(ends, piece.start), bisect_left(starts, piece.end))
        if len(covered) < 2:
            for k in covered:
                begin(k)
            ids.append(piece.id)
            continue
        for k in covered:
            begin(k)
            part = text[max(starts[k], piece.start) : min(ends[k], piece.end)]
            ids += _alone(tokenizer, part, goes_on=k > covered.start)
    while len(firsts) < len(words):
        firsts.append(len(ids))
        ids.append(UNKNOWN)
    return WordIds(ids, firsts)


def _alone(tokenizer: Tokenizer, part: str, *, goes_on: bool) -> list[int]:
    """The ids of a part of a piece; only the first may have the space that stands before it."""
    pieces = going_on(tokenizer, part) if goes_on else tokenizer.pieces(part)
    return [piece.id for piece in pieces if piece.end > piece.start] or [UNKNOWN]
