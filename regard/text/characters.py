"""Characters: every code point a token, spaces too. Small vocabularies, long sentences."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, SupportsIndex

from regard.text import vocabulary, words
from regard.text.piece import Piece, word_at
from regard.text.special import NAMES, UNKNOWN


class Characters:
    """A vocabulary of single characters, the most frequent first."""

    kind: ClassVar[str] = "characters"

    def __init__(self, tokens: Sequence[str], *, is_lowercase: bool = False) -> None:
        self.is_lowercase = is_lowercase
        self._tokens = (*NAMES, *tokens)
        self._ids = {token: i for i, token in enumerate(self._tokens) if i >= len(NAMES)}

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

    def encode(self, text: str) -> list[int]:
        """Ids of the characters; one never seen is UNKNOWN."""
        text = text.lower() if self.is_lowercase else text
        return [self._ids.get(character, UNKNOWN) for character in text]

    def encode_many(self, texts: Sequence[str], n_threads: int = 1) -> list[list[int]]:
        """Ids of many sentences (one thread: the work is Python's)."""
        return [self.encode(text) for text in texts]

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

    def token(self, id_: int) -> str:
        """How an id is printed."""
        return self._tokens[vocabulary.checked(id_, len(self))]

    def save(self, path_stem: str | Path) -> Path:
        """Write ``<path_stem>.json``."""
        return vocabulary.save(path_stem, self.kind, self._tokens, self.is_lowercase)

    @classmethod
    def from_saved(cls, saved: dict[str, Any]) -> "Characters":
        """The tokenizer a JSON file holds."""
        return cls(saved["tokens"][len(NAMES) :], is_lowercase=saved["is_lowercase"])

    @property
    def fingerprint(self) -> str:
        """Changes when the ids of any text may change."""
        return vocabulary.fingerprint(self.kind, self._tokens, self.is_lowercase)

    def __len__(self) -> int:
        return len(self._tokens)
