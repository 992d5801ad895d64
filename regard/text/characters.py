"""Characters: every code point a token, spaces too. Small vocabularies, long sentences.

The mark between turns of a conversation is one token as well, with the spaces around it.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, ClassVar, SupportsIndex

from regard.special import NAMES, TURN, UNKNOWN
from regard.text import vocabulary, words
from regard.text.tokens import Token, word_at

_TOKEN = re.compile(f" ?{TURN} ?|.", re.DOTALL)


class Characters(vocabulary.ListedVocabulary):
    """A vocabulary of single characters, the most frequent first."""

    kind: ClassVar[str] = "characters"

    @classmethod
    def train(
        cls, sentences: Iterable[str], size: int | None = None, *, is_lowercase: bool = False
    ) -> "Characters":
        """Keep the ``size`` most frequent characters (special ids included), or all of them."""
        counts: Counter[str] = Counter()
        for sentence in sentences:
            counts.update(cls._cut(sentence.lower() if is_lowercase else sentence))
        kept = vocabulary.most_frequent(counts, size, of="characters")
        return cls(kept, is_lowercase=is_lowercase)

    @staticmethod
    def _cut(text: str) -> Iterable[str]:
        """The tokens of a text."""
        return _TOKEN.findall(text) if TURN in text else text

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The characters in a row."""
        return "".join(vocabulary.surfaces(self._tokens, ids))

    def pieces(self, text: str) -> list[Token]:
        """Each character, its id and its place; "İ" lower-cased is two ids in one place."""
        found = words.split(text)
        starts = [word.start for word in found]
        pieces = []
        for match in _TOKEN.finditer(text):
            start, end = match.span()
            for lowered in self._cut(match[0].lower() if self.is_lowercase else match[0]):
                id_ = self._ids.get(lowered, UNKNOWN)
                word = word_at(found, starts, start)
                pieces.append(Token(id_, self._tokens[id_], start, end, word))
        return pieces

    @classmethod
    def from_saved(cls, saved: dict[str, Any]) -> "Characters":
        """The tokenizer a JSON file holds."""
        return cls(saved["tokens"][len(NAMES) :], is_lowercase=saved["is_lowercase"])
