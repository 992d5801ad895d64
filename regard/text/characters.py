"""Characters: every code point a token, spaces too. Small vocabularies, long sentences."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, ClassVar, SupportsIndex

from regard.text import vocabulary, words
from regard.text.piece import Piece, word_at
from regard.text.special import NAMES, UNKNOWN


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
            counts.update(sentence.lower() if is_lowercase else sentence)
        kept = vocabulary.most_frequent(counts, size, of="characters")
        return cls(kept, is_lowercase=is_lowercase)

    @staticmethod
    def _cut(text: str) -> Iterable[str]:
        """The tokens of a text."""
        return text

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The characters in a row."""
        return "".join(vocabulary.surfaces(self._tokens, ids))

    def pieces(self, text: str) -> list[Piece]:
        """Each character, its id and its place; "İ" lower-cased is two ids in one place."""
        found = words.split(text)
        starts = [word.start for word in found]
        pieces = []
        for i, character in enumerate(text):
            for lowered in character.lower() if self.is_lowercase else character:
                id_ = self._ids.get(lowered, UNKNOWN)
                pieces.append(Piece(id_, self._tokens[id_], i, i + 1, word_at(found, starts, i)))
        return pieces

    @classmethod
    def from_saved(cls, saved: dict[str, Any]) -> "Characters":
        """The tokenizer a JSON file holds."""
        return cls(saved["tokens"][len(NAMES) :], is_lowercase=saved["is_lowercase"])
