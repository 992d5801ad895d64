"""Texts that go on from a prompt: what a writer is asked, and how the engine lets it write."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, runtime_checkable

from regard.serving.ticket import Item
from regard.text.streaming import StopFilter

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
class Piece:
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
    ) -> Iterator[tuple[int, Piece]]:
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


class _Text:
    """What is told of a text, up to the first of its stop words."""

    def __init__(self, stops: Sequence[str]) -> None:
        self.told, self.n_told = "", 0
        self.reason: Reason | None = None  # why there is no more
        self._filter, self._n_held = StopFilter(stops), 0

    def take(self, piece: Piece) -> Piece | None:
        """One more piece; gives what can be told."""
        is_last = piece.reason is not None
        new = self._filter.end(piece.text) if is_last else self._filter.add(piece.text)
        self.reason = "stop" if self._filter.is_stopped else piece.reason
        self._n_held += piece.n_tokens
        if not new and self.reason is None:
            return None
        told, self._n_held = Piece(new, self._n_held, self.reason), 0
        self.told, self.n_told = self.told + new, self.n_told + told.n_tokens
        return told
