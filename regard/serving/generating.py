"""Texts that go on from a prompt: what a writer is asked, and how the engine lets it write."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from regard.serving.ticket import Item

Reason = Literal["stop", "length"]


@dataclass(frozen=True)
class Wish:
    """How to go on from a prompt; a temperature of 0 takes the most probable token."""

    prompt: str
    max_tokens: int = 16
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 1
    stop: tuple[str, ...] = ()


@dataclass(frozen=True)
class Written:
    """A piece of text as it is written; the last one says why there is no more."""

    text: str
    n_tokens: int = 1
    reason: Reason | None = None


@runtime_checkable
class TextWriter(Protocol):
    """A model that writes text, piece by piece."""

    @property
    def name(self) -> str:
        """By which it is asked for."""

    @property
    def context(self) -> int:
        """The most tokens of prompt and text together."""

    def count(self, text: str) -> int:
        """How many tokens a text has."""

    def write(self, wish: Wish) -> Iterator[Written]:
        """Go on from the prompt; the last piece, and no other, has a reason."""


@dataclass(frozen=True)
class Completed:
    """Everything that was written."""

    text: str
    n_tokens: int
    reason: Reason


@dataclass(frozen=True, eq=False)
class Generating:
    """Let a writer write, one text after the other."""

    writer: TextWriter
    rows: int = 1

    @property
    def key(self) -> Hashable:
        """The same writer."""
        return ("write", self.writer.name)

    def run(self, items: Sequence[Item]) -> None:
        """Write each text, told piece by piece, until it ends or nobody wants it."""
        for item in items:
            wish: Wish = item.payload
            pieces, n_tokens = "", 0
            reason: Reason = "stop"
            for written in until_stop(self.writer.write(wish), wish.stop):
                if not item.is_wanted:
                    break
                item.tell(written)
                pieces += written.text
                n_tokens += written.n_tokens
                reason = written.reason or reason
            item.answer(Completed(pieces, n_tokens, reason))


def until_stop(pieces: Iterator[Written], stops: Sequence[str]) -> Iterator[Written]:
    """The pieces up to the first of the words that end a text, which itself is left out.

    The beginning of such a word is held back until it is known not to become one.
    """
    held, n_held = "", 0
    for piece in pieces:
        held, n_held = held + piece.text, n_held + piece.n_tokens
        places = [held.find(stop) for stop in stops if stop and stop in held]
        if places:
            yield Written(held[: min(places)], n_held, "stop")
            return
        if piece.reason is not None:
            yield Written(held, n_held, piece.reason)
            return
        kept = max((_overlap(held, stop) for stop in stops), default=0)
        ready, held = held[: len(held) - kept], held[len(held) - kept :]
        if ready:
            yield Written(ready, n_held)
            n_held = 0
    yield Written(held, n_held, "stop")


def _overlap(text: str, stop: str) -> int:
    """How many signs at the end of the text may begin the word."""
    most = min(len(text), len(stop) - 1)
    return next((n for n in range(most, 0, -1) if text.endswith(stop[:n])), 0)
