"""The vocabulary of a model of pictures, which reads and writes no text."""

from collections.abc import Iterable
from typing import Any, ClassVar, SupportsIndex

from regard.text import vocabulary
from regard.text.tokens import Token


class NoText(vocabulary.ListedVocabulary):
    """A vocabulary without words: what is asked of a tokenizer has the answer "nothing"."""

    kind: ClassVar[str] = "none"

    def __init__(self) -> None:
        super().__init__(())

    @staticmethod
    def _cut(text: str) -> Iterable[str]:
        return ()

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """Nothing."""
        return "".join(vocabulary.surfaces(self._tokens, ids))

    def pieces(self, text: str) -> list[Token]:
        """None."""
        return []

    @classmethod
    def from_saved(cls, saved: dict[str, Any]) -> "NoText":
        """The tokenizer a JSON file holds."""
        return cls()
