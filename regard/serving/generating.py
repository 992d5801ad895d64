"""Texts that go on from a prompt: what a writer is asked, and how the engine lets it write."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, runtime_checkable

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

    def write(
        self, wishes: Sequence[Wish], is_wanted: Callable[[int], bool]
    ) -> Iterator[tuple[int, Written]]:
        """Go on from every prompt, each piece with the place of its wish.

        The last piece of a text, and no other, has a reason. Texts that are not wanted any more
        need not be gone on with.
        """


@dataclass(frozen=True)
class Completed:
    """Everything that was written."""

    text: str
    n_tokens: int
    reason: Reason


@dataclass(frozen=True, eq=False)
class Generating:
    """Let a writer write, several texts together."""

    writer: TextWriter
    rows: int = 64
    is_shared: ClassVar[bool] = False

    @property
    def key(self) -> Hashable:
        """The same writer."""
        return ("write", self.writer.name)

    def run(self, items: Sequence[Item]) -> None:
        """Write each text, told piece by piece, until it ends or nobody wants it."""
        texts = [_Text(item.payload.stop) for item in items]

        def is_wanted(place: int) -> bool:
            return texts[place].reason is None and items[place].is_wanted

        for place, piece in self.writer.write([item.payload for item in items], is_wanted):
            item, text = items[place], texts[place]
            if not is_wanted(place):
                continue
            if (ready := text.take(piece)) is not None:
                item.tell(ready)
            if text.reason is not None:
                item.answer(Completed(text.told, text.n_told, text.reason))
        for item, text in zip(items, texts, strict=True):
            if not item.is_answered:  # nobody waits for it
                item.answer(Completed(text.told, text.n_told, "stop"))


@dataclass
class _Text:
    """A text up to the first of the words that end it, which itself is left out.

    The beginning of such a word is held back until it is known not to become one.
    """

    stops: Sequence[str]
    held: str = ""
    n_held: int = 0
    told: str = ""
    n_told: int = 0
    reason: Reason | None = None  # why there is no more

    def take(self, piece: Written) -> Written | None:
        """One more piece; gives what can be told."""
        held, self.n_held = self.held + piece.text, self.n_held + piece.n_tokens
        places = [held.find(stop) for stop in self.stops if stop and stop in held]
        if places:
            return self._tell(held[: min(places)], "stop")
        if piece.reason is not None:
            return self._tell(held, piece.reason)
        kept = max((_overlap(held, stop) for stop in self.stops), default=0)
        ready, self.held = held[: len(held) - kept], held[len(held) - kept :]
        return self._tell(ready, None) if ready else None

    def _tell(self, text: str, reason: Reason | None) -> Written:
        written = Written(text, self.n_held, reason)
        self.told, self.n_told = self.told + text, self.n_told + self.n_held
        self.n_held, self.reason = 0, reason
        return written


def until_stop(pieces: Iterable[Written], stops: Sequence[str]) -> Iterator[Written]:
    """The pieces of one text that are told."""
    text = _Text(stops)
    for piece in pieces:
        if (ready := text.take(piece)) is not None:
            yield ready
        if text.reason is not None:
            return


def _overlap(text: str, stop: str) -> int:
    """How many signs at the end of the text may begin the word."""
    most = min(len(text), len(stop) - 1)
    return next((n for n in range(most, 0, -1) if text.endswith(stop[:n])), 0)
