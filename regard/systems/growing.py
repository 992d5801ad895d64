"""Text that grows token by token: only its end is turned into characters again."""

from collections.abc import Sequence

from regard.text import Tokenizer

BROKEN = "\ufffd"  # bytes that are no character yet
_WINDOW = 32  # tokens from which the next is read: more than any character is made of


class Growing:
    """What comes after an opening; a token may only be readable with those before and after it."""

    def __init__(self, tokenizer: Tokenizer, opening: Sequence[int]) -> None:
        self._tokenizer = tokenizer
        self._settled = ""
        self._begin(opening)

    def _begin(self, ids: Sequence[int]) -> None:
        """From here on tokens are read after these, whose own text is known."""
        self._ids = list(ids)
        self._n_known = len(self._tokenizer.decode(self._ids))

    def add(self, token: int) -> str:
        """All text after the opening, with one more token."""
        self._ids.append(token)
        text = self._settled + self._tokenizer.decode(self._ids)[self._n_known :]
        if len(self._ids) > 2 * _WINDOW and not text.endswith(BROKEN):
            self._settled = text
            self._begin(self._ids[-_WINDOW:])
        return text
