"""Byte-level byte-pair encoding, GPT-2's: pieces are made of bytes, so no text is unknown.

Text is cut into words with the space before them, numbers, signs and spaces; each is written in the
bytes of UTF-8, and neighbours are merged in the order the list of merges gives (Sennrich et al.
2016, Radford et al. 2019). In its files every byte is a printable character: a space is "Ġ".
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby, pairwise
from typing import Any, ClassVar, SupportsIndex

from regard.errors import TextError
from regard.special import BOS, EOS, NAMES, PAD, UNKNOWN, UNKNOWN_SURFACE
from regard.text import vocabulary, words
from regard.text.elsewhere import Elsewhere, Placed, special_of
from regard.text.tokens import Token, without_spaces, word_at

SPACE = "▁"  # how a space is printed
_KEPT = 1 << 16  # words whose pieces are remembered
_WHITE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_LAST = 0x20000  # no number has a higher code


class BytePairs(Elsewhere):
    """A list of pieces, and which pairs are merged, the first first."""

    kind: ClassVar[str] = "byte-pairs"

    def __init__(
        self,
        tokens: Sequence[str],
        merges: Sequence[tuple[str, str]],
        special: Mapping[str, Placed],
        *,
        begins_with_space: bool = False,
    ) -> None:
        super().__init__(tokens, special)
        self.merges = tuple(merges)
        self.begins_with_space = begins_with_space
        self._ranks = {pair: i for i, pair in enumerate(self.merges)}
        self._cuts: dict[str, tuple[str, ...]] = {}

    def encode(self, text: str) -> list[int]:
        """Ids of the pieces."""
        return [self._ids.get(piece, UNKNOWN) for piece in self._pieces(self._begun(text))]

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The text; bytes that are no character are shown as one that is none."""
        parts = []
        for id_ in map(int, ids):
            token = self._tokens[vocabulary.checked(id_, len(self))]
            if id_ == UNKNOWN:
                parts.append(UNKNOWN_SURFACE.encode())
            elif id_ not in (PAD, BOS, EOS):
                parts.append(_bytes_of(token))
        return b"".join(parts).decode(errors="replace")

    def pieces(self, text: str) -> list[Token]:
        """Each piece, its id and the characters of the original string it covers."""
        found = words.split(text)
        starts = [word.start for word in found]
        begun = self._begun(text)
        n_added = len(begun) - len(text)
        # The character each byte is of, and one more for the end.
        owners = [i - n_added for i, one in enumerate(begun) for _ in one.encode()]
        pieces, place = [], 0
        for piece in self._pieces(begun):
            start, end = max(0, owners[place]), owners[place + len(piece) - 1] + 1
            place += len(piece)
            start, end = without_spaces(text, start, end)
            id_ = self._ids.get(piece, UNKNOWN)
            pieces.append(Token(id_, self.token(id_), start, end, word_at(found, starts, start)))
        return pieces

    def token(self, id_: int) -> str:
        """How an id is printed: "▁" stands for a space, and <0xE4> for a byte of a character."""
        token = super().token(id_)
        if id_ < len(NAMES):
            return token
        shown = _bytes_of(token).decode(errors="backslashreplace")
        return re.sub(r"\\x(..)", lambda m: f"<0x{m[1].upper()}>", shown).replace(" ", SPACE)

    def _begun(self, text: str) -> str:
        needs_space = self.begins_with_space and text and not text.startswith(" ")
        return f" {text}" if needs_space else text

    def _pieces(self, text: str) -> Iterator[str]:
        try:
            found = _pattern().findall(text)
            written = ["".join(map(_LETTERS.__getitem__, one.encode())) for one in found]
        except UnicodeEncodeError as error:
            raise TextError(
                f"The text {text[:40]!r} cannot become ids: its character {error.start} is half of "
                "a surrogate pair, which is not Unicode text. Decode the file again as UTF-8."
            ) from error
        for word in written:
            if word not in self._cuts:
                if len(self._cuts) >= _KEPT:
                    self._cuts.clear()
                self._cuts[word] = self._merged(word)
            yield from self._cuts[word]

    def _merged(self, word: str) -> tuple[str, ...]:
        parts = list(word)
        while len(parts) > 1:
            best = min(pairwise(parts), key=lambda pair: self._ranks.get(pair, len(self._ranks)))
            if best not in self._ranks:
                break
            merged, i = list[str](), 0
            while i < len(parts):
                is_pair = tuple(parts[i : i + 2]) == best
                merged.append("".join(best) if is_pair else parts[i])
                i += 2 if is_pair else 1
            parts = merged
        return tuple(parts)

    def _saved(self) -> dict[str, Any]:
        return super()._saved() | {
            "begins_with_space": self.begins_with_space,
            "merges": [f"{first} {second}" for first, second in self.merges],
        }

    @classmethod
    def from_saved(cls, saved: dict[str, Any]) -> "BytePairs":
        """The tokenizer a JSON file holds."""
        try:
            pairs = [tuple(one.split(" ")) for one in saved["merges"]]
            merges = [(first, second) for first, second in pairs]
            begins_with_space = bool(saved["begins_with_space"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise TextError(
                "A tokenizer of byte pairs does not say what is merged: take it from a copy, or "
                "import the model again."
            ) from error
        tokens = saved["tokens"][len(NAMES) :]
        return cls(tokens, merges, special_of(saved), begins_with_space=begins_with_space)


def _letters() -> list[str]:
    """The character that stands for each byte: itself if it prints, else one from 256 on."""
    printing = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in printing else next(others)) for byte in range(256)]


_LETTERS = _letters()
_BYTES = {letter: byte for byte, letter in enumerate(_LETTERS)}


def _bytes_of(token: str) -> bytes:
    """The bytes a token stands for; one that is not written in such letters is plain text."""
    try:
        return bytes(_BYTES[letter] for letter in token)
    except KeyError:
        return token.encode()


@cache
def _pattern() -> re.Pattern[str]:
    """GPT-2's expression; Python has no class for numbers in every script, so it is written out."""
    numbers = _numbers()
    letter, sign = rf"[^\W_{numbers}]", rf"[^\w{_WHITE}]|_"
    return re.compile(
        rf"'s|'t|'re|'ve|'m|'ll|'d| ?{letter}+| ?[{numbers}]+| ?(?:{sign})+"
        rf"|[{_WHITE}]+(?![^{_WHITE}])|[{_WHITE}]+"
    )


def _numbers() -> str:
    """The ranges of all characters that are numbers and not letters."""
    is_number = (unicodedata.category(chr(code))[0] == "N" for code in range(_LAST))
    ranges, first = [], 0
    for found, run in groupby(is_number):
        end = first + sum(1 for _ in run)
        if found:
            ranges.append(f"\\U{first:08x}-\\U{end - 1:08x}")
        first = end
    return "".join(ranges)
