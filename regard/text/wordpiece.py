"""WordPiece: words cut into the longest pieces a list has (Schuster and Nakajima 2012; BERT's).

Text is cut at spaces and signs, Chinese characters stand one by one, and where the model was made
so, everything is lower-cased and accents are taken off. Then each word is cut from its beginning:
the longest piece of the list, and again; "##" marks a piece that goes on. A word that cannot be
cut is unknown as a whole.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, SupportsIndex

from regard.errors import TextError
from regard.special import NAMES, UNKNOWN
from regard.text import vocabulary, words
from regard.text.elsewhere import Elsewhere, Placed, special_of
from regard.text.tokens import Token, word_at

GOES_ON = "##"
LONGEST = 100  # characters of a word; a longer one is unknown
_KEPT = 1 << 16  # words whose pieces are remembered
_CONTROLS = ("Cc", "Cf", "Cs", "Co")
# Those of BERT: CJK ideographs and their extensions, neither kana nor Hangul.
_CHINESE = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
_WHITE = frozenset(
    "\t\n\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
# BERT cuts "don't" into three, and a reader wants it whole.
_SHORT_FORM = re.compile(r"(?<=\w) ?(['’]) ?(?=(?:s|t|ll|re|ve|d|m)\b)")


class WordPiece(Elsewhere):
    """A list of pieces, and how text is made even before it is cut."""

    kind: ClassVar[str] = "wordpiece"

    def __init__(
        self,
        tokens: Sequence[str],
        special: Mapping[str, Placed],
        *,
        is_lowercase: bool = True,
        strips_accents: bool | None = None,
        splits_chinese: bool = True,
    ) -> None:
        super().__init__(tokens, special, is_lowercase=is_lowercase)
        self.strips_accents = is_lowercase if strips_accents is None else strips_accents
        self.splits_chinese = splits_chinese
        self._table = _Table(is_lowercase, self.strips_accents, splits_chinese)
        self._cuts: dict[str, tuple[tuple[int, int], ...]] = {}

    def encode(self, text: str) -> list[int]:
        """Ids of the pieces."""
        return [
            id_
            for word in text.translate(self._table).split(" ")
            if word
            for id_, _ in self._cut_word(word)
        ]

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The sentence: pieces that go on are joined to those before."""
        joined: list[str] = []
        for token in vocabulary.surfaces(self._tokens, ids):
            if token.startswith(GOES_ON) and joined:
                joined[-1] += token.removeprefix(GOES_ON)
            else:
                joined.append(token.removeprefix(GOES_ON) or token)
        return _SHORT_FORM.sub(r"\1", words.join(joined))

    def pieces(self, text: str) -> list[Token]:
        """Each piece, its id and the characters of the original string it covers."""
        found = words.split(text)
        starts = [word.start for word in found]
        pieces = []
        for word, origins in self._words(text):
            begin = 0
            for id_, end in self._cut_word(word):
                start, stop = origins[begin], origins[end - 1] + 1
                at = word_at(found, starts, start)
                pieces.append(Token(id_, self._tokens[id_], start, stop, at))
                begin = end
        return pieces

    def _words(self, text: str) -> Iterable[tuple[str, list[int]]]:
        """Each word as it is read, and for each of its characters where that came from."""
        word, origins = "", list[int]()
        for i, character in enumerate(f"{text} "):
            for one in self._table[ord(character)]:
                if one != " ":
                    word += one
                    origins.append(i)
                elif word:
                    yield word, origins
                    word, origins = "", []

    def _cut_word(self, word: str) -> tuple[tuple[int, int], ...]:
        """The ids of a word's pieces, each with the place in the word where it ends."""
        known = self._cuts.get(word)
        if known is None:
            if len(self._cuts) >= _KEPT:
                self._cuts.clear()
            known = self._cuts[word] = tuple(self._pieces_of(word))
        return known

    def _pieces_of(self, word: str) -> list[tuple[int, int]]:
        unknown = [(UNKNOWN, len(word))]
        if len(word) > LONGEST:
            return unknown
        cut: list[tuple[int, int]] = []
        begin = 0
        while begin < len(word):
            mark = GOES_ON if begin else ""
            for end in range(len(word), begin, -1):
                id_ = self._ids.get(mark + word[begin:end])
                if id_ is not None:
                    break
            else:
                return unknown
            cut.append((id_, end))
            begin = end
        return cut

    def _saved(self) -> dict[str, Any]:
        return super()._saved() | {
            "strips_accents": self.strips_accents,
            "splits_chinese": self.splits_chinese,
        }

    @classmethod
    def from_saved(cls, saved: dict[str, Any]) -> "WordPiece":
        """The tokenizer a JSON file holds."""
        choices = [saved.get(key) for key in ("strips_accents", "splits_chinese")]
        if not all(isinstance(one, bool) for one in choices):
            raise TextError(
                "A tokenizer of word pieces does not say strips_accents and splits_chinese: take "
                "it from a copy, or import the model again."
            )
        return cls(
            saved["tokens"][len(NAMES) :],
            special_of(saved),
            is_lowercase=saved["is_lowercase"],
            strips_accents=choices[0],
            splits_chinese=bool(choices[1]),
        )


class _Table(dict[int, str]):
    """What each character is read as; a space is where words are cut. Filled as text comes."""

    def __init__(self, is_lowercase: bool, strips_accents: bool, splits_chinese: bool) -> None:
        super().__init__()
        self._choices = is_lowercase, strips_accents, splits_chinese

    def __missing__(self, code: int) -> str:
        found = self[code] = _read_as(chr(code), *self._choices)
        return found


def _read_as(character: str, is_lowercase: bool, strips_accents: bool, splits_chinese: bool) -> str:
    if character in _WHITE:
        return " "
    if character == "\ufffd" or unicodedata.category(character) in _CONTROLS:
        return ""
    apart = splits_chinese and any(low <= ord(character) <= high for low, high in _CHINESE)
    read = character
    if strips_accents:
        spelled = unicodedata.normalize("NFD", read)
        read = "".join(one for one in spelled if unicodedata.category(one) != "Mn")
    if is_lowercase:
        read = "".join(one.lower() for one in read)
    read = "".join(f" {one} " if _is_sign(one) else " " if one in _WHITE else one for one in read)
    return f" {read} " if apart else read


def _is_sign(character: str) -> bool:
    """A punctuation mark, or any ASCII character that is neither letter, digit nor space."""
    is_ascii_sign = "!" <= character <= "~" and not character.isalnum()
    return is_ascii_sign or unicodedata.category(character).startswith("P")
