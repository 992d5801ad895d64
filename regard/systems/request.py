"""One sentence to translate, and what its translation has to begin with and contain."""

from dataclasses import dataclass

from regard.decoding import Phrase
from regard.errors import UsageError
from regard.special import UNKNOWN
from regard.text import Tokenizer
from regard.text.given import checked_text, checked_texts
from regard.text.words import join

_NEVER_MERGED = "，"  # a sign that forms no piece with a letter


@dataclass(frozen=True)
class Request:
    """A source sentence; its translation begins with ``prefix`` and contains each of ``must``."""

    source: str
    prefix: str = ""
    must: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checked_text(self.source, "source")
        checked_text(self.prefix, "prefix")
        object.__setattr__(self, "must", tuple(checked_texts(self.must, "must")))


def spellings(tokenizer: Tokenizer, phrase: str) -> Phrase:
    """A phrase in tokens, as it begins a sentence or follows a space, and as it follows a sign.

    Inside a Chinese sentence no space stands before a word, and no piece begins with one.
    """
    stripped = phrase.strip()
    if not stripped:
        raise UsageError(
            "an empty phrase cannot be asked for: say which words the translation must contain"
        )
    ids = tuple(tokenizer.encode(phrase))
    if not ids or UNKNOWN in ids:
        raise UsageError(
            f"the translation cannot be made to contain {phrase!r}: the model's vocabulary has no "
            "tokens for it"
        )
    if join(["a", stripped[0]]) == f"a {stripped[0]}":
        return (ids,)
    pieces = tokenizer.pieces(_NEVER_MERGED + stripped)
    inside = tuple(piece.id for piece in pieces if piece.start >= len(_NEVER_MERGED))
    is_apart = all(piece.start or piece.end <= len(_NEVER_MERGED) for piece in pieces)
    return (ids, inside) if is_apart and inside and inside != ids else (ids,)
