"""What was asked and is not answered yet: a request's ticket, and an item for each sentence."""

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from threading import Lock
from time import monotonic
from typing import Any, Protocol, runtime_checkable

Hear = Callable[[int, Any], None]  # the place of an item in its request, and what happened to it


@runtime_checkable
class Runner(Protocol):
    """Work that the engine does: items of runners with the same key are done together."""

    @property
    def key(self) -> Hashable:
        """Equal where items may be done together."""

    @property
    def rows(self) -> int:
        """How many items are done together at most."""

    @property
    def is_shared(self) -> bool:
        """Whether other work that says so may be done at the same time, by another thread."""

    def run(self, items: Sequence["Item"]) -> None:
        """Answer every item."""


class Abandoned(Exception):  # noqa: N818 - nothing went wrong
    """Nobody waits for the answer any more."""


class Item:
    """One sentence of a request, or another thing to do."""

    def __init__(self, ticket: "Ticket", place: int, payload: Any) -> None:
        self.ticket, self.place, self.payload = ticket, place, payload
        self.is_answered = False

    @property
    def is_wanted(self) -> bool:
        """Whether somebody still waits for it."""
        return not self.is_answered and self.ticket.is_wanted

    def tell(self, event: Any) -> None:
        """Say how it goes, if anybody listens."""
        if self.ticket.hear is not None:
            with suppress(RuntimeError):  # the loop of the listener has ended
                self.ticket.hear(self.place, event)

    def answer(self, result: Any) -> None:
        """Hand over the result, once."""
        assert not self.is_answered, "an item has one answer"
        self.is_answered = True
        self.ticket.take(self, result)

    def fail(self, error: BaseException) -> None:
        """The request of which this is a part has no answer."""
        self.is_answered = True
        self.ticket.fail(error)


class Ticket:
    """A request in the engine's hands; ``done`` has the results of all its items, in order."""

    def __init__(
        self, runner: Runner, payloads: Sequence[Any], seconds: float, hear: Hear | None = None
    ) -> None:
        self.runner, self.hear = runner, hear
        self.arrived = monotonic()
        self.deadline = self.arrived + seconds
        self.done: Future[list[Any]] = Future()
        self.todo = deque(Item(self, place, payload) for place, payload in enumerate(payloads))
        self._results: list[Any] = [None] * len(payloads)
        self._n_open = len(payloads)
        self._is_cancelled = False
        self._lock = Lock()  # its items may be answered by several threads
        if not payloads:
            self.done.set_result([])

    @property
    def is_wanted(self) -> bool:
        """Whether somebody still waits for it, in time."""
        return not (self._is_cancelled or self.done.done() or monotonic() > self.deadline)

    def take(self, item: Item, result: Any) -> None:
        """Keep the result of an item; the last one completes the request."""
        with self._lock:
            self._results[item.place] = result
            self._n_open -= 1
            if self._n_open == 0 and self.done.set_running_or_notify_cancel():
                self.done.set_result(self._results)

    def fail(self, error: BaseException) -> None:
        """Give the request up."""
        with self._lock:
            self.todo.clear()
            if not self.done.done() and self.done.set_running_or_notify_cancel():
                self.done.set_exception(error)

    def cancel(self) -> None:
        """Nobody waits any more: what has not begun is never begun."""
        self._is_cancelled = True
