"""A token in its place in the text: what a picture of attention writes beside its rows."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """One token, with the characters of the original string it stands for.

    ``text[start:end]`` is what the token covers, without the spaces around it. Tokens that share a
    character (its bytes, or the letters of a ligature) all cover that whole character. ``word`` is
    an index into ``words.split(text)``.
    """

    id: int
    text: str
    start: int
    end: int
    word: int


@dataclass(frozen=True, slots=True)
class Word:
    """A word, a Chinese character or a sign, and where it stands in the string."""

    text: str
    start: int
    end: int


def word_at(words: Sequence[Word], starts: Sequence[int], position: int) -> int:
    """The index of the word at a character, or of the next one where the character is a space."""
    i = bisect_right(starts, position) - 1
    if i < 0 or position >= words[i].end:
        i += 1
    return max(0, min(i, len(words) - 1))


def without_spaces(text: str, start: int, end: int) -> tuple[int, int]:
    """Leave out the spaces around what is covered, unless there is nothing else."""
    covered = text[start:end]
    if not (kept := covered.strip()):
        return start, end
    return start + covered.index(kept), start + covered.index(kept) + len(kept)
