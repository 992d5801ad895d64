"""Text as its tokens come: what each of them adds, and where a stop word ends it."""

from collections.abc import Sequence

from regard.text.tokenizer import Tokenizer

_BROKEN = "\ufffd"  # bytes that are no character yet
_WINDOW = 32  # tokens from which the next is read: more than any character is made of


class StreamedText:
    """The text of tokens that come one by one after an opening, whose own text is known.

    Bytes that are no whole character are ``waiting`` for the next token. Only the last tokens are
    decoded again, so that a long text costs no more a token than a short one.
    """

    def __init__(self, tokenizer: Tokenizer, opening: Sequence[int] = ()) -> None:
        self.waiting = ""
        self._tokenizer = tokenizer
        self._begin(opening)

    def _begin(self, ids: Sequence[int]) -> None:
        self._ids = list(ids)
        self._n_given = len(self._tokenizer.decode(self._ids))

    def add(self, token: int) -> str:
        """What one more token adds to the text, as far as that is certain."""
        self._ids.append(token)
        text = self._tokenizer.decode(self._ids)
        n_whole = max(self._n_given, len(text.rstrip(_BROKEN)))
        new, self.waiting = text[self._n_given : n_whole], text[n_whole:]
        self._n_given = n_whole
        if len(self._ids) > 2 * _WINDOW and not self.waiting:
            self._begin(self._ids[-_WINDOW:])
        return new


class StopFilter:
    """Text up to the first of the stop words, which itself is left out.

    What may be the beginning of a stop word is held back until it is known not to become one.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self.is_stopped = False
        self._stops = [stop for stop in stops if stop]
        self._held = ""

    def add(self, text: str) -> str:
        """What of the text up to here can be given, and was not yet."""
        if self.is_stopped:
            return ""
        text = self._held + text
        ends = [place for stop in self._stops if (place := text.find(stop)) >= 0]
        self.is_stopped = bool(ends)
        given = text[: min(ends)] if ends else text[: len(text) - self._n_held(text)]
        self._held = "" if ends else text[len(given) :]
        return given

    def end(self, text: str = "") -> str:
        """What is left to give, with the last of the text."""
        return self.add(text) + self._held

    def _n_held(self, text: str) -> int:
        """How many characters at the end may begin a stop word."""
        begun = (
            n
            for stop in self._stops
            for n in range(min(len(text), len(stop) - 1), 0, -1)
            if text.endswith(stop[:n])
        )
        return max(begun, default=0)
