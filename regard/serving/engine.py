"""One thread that does all computing: what arrives together is done together, in fair turns."""

import logging
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from threading import Condition, Thread
from time import monotonic
from typing import Any

from regard.errors import RegardError, ServiceError
from regard.serving.refusals import RequestError
from regard.serving.ticket import Abandoned, Hear, Item, Runner, Ticket

_log = logging.getLogger(__name__)

_PATIENCE = 0.1  # of the time that the last batch took: a whole batch again is worth it
_MOST_PATIENCE = 0.05  # seconds

Watch = Callable[[int, int, float], None]  # items done together, of how many requests, in seconds


class Engine:
    """Takes tickets until ``waiting`` items wait, and works them off batch by batch.

    A batch has one item of each request in turn, so that a long request delays no short one. When
    the last batch held several items the next begins as soon as as many are there, or after
    ``gather`` seconds, or a tenth of what the last one took; who asks alone is never kept waiting.
    """

    def __init__(
        self, *, waiting: int = 512, gather: float = 0.003, watch: Watch | None = None
    ) -> None:
        self._waiting, self._gather, self._watch = waiting, gather, watch
        self._tickets: deque[Ticket] = deque()
        self._changed = Condition()
        self._is_closing = False
        self._n_last, self._took_last = 1, 0.0
        self._free_since = monotonic()
        self._seconds_each = 0.05  # for an item, as a guess that learns
        self._thread = Thread(target=self._work, name="regard-engine", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def close(self, timeout: float | None = None) -> None:
        """Take nothing more, finish what was taken, and end."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout)

    @property
    def n_waiting(self) -> int:
        """Items that have not begun."""
        return sum(len(ticket.todo) for ticket in tuple(self._tickets))

    def submit(
        self, runner: Runner, payloads: Sequence[Any], seconds: float, hear: Hear | None = None
    ) -> Ticket:
        """Queue a request, or refuse it because too many wait."""
        ticket = Ticket(runner, payloads, seconds, hear)
        with self._changed:
            if self._is_closing:
                raise RequestError("the service is stopping", status=503, code="stopping", retry=5)
            self._drop_unwanted()
            n = self.n_waiting
            if n + len(payloads) > self._waiting:
                raise RequestError(
                    f"{n} sentences wait already and the queue takes {self._waiting}: come again "
                    "in a moment",
                    status=429,
                    code="busy",
                    retry=max(1, min(60, round(n * self._seconds_each))),
                )
            if payloads:
                self._tickets.append(ticket)
                self._changed.notify_all()
        return ticket

    def _work(self) -> None:
        while batch := self._next():
            began = monotonic()
            self._run(batch)
            self._free_since = monotonic()
            took = self._free_since - began
            self._n_last, self._took_last = len(batch), took
            self._seconds_each = 0.8 * self._seconds_each + 0.2 * took / len(batch)
            if self._watch is not None:
                self._watch(len(batch), len({id(item.ticket) for item in batch}), took)

    def _next(self) -> list[Item]:
        """The next batch; nothing once the engine is closed and everything is done."""
        with self._changed:
            while True:
                self._drop_unwanted()
                if self._tickets:
                    self._linger()
                    self._drop_unwanted()
                    if self._tickets:
                        return self._chosen()
                elif self._is_closing:
                    return []
                else:
                    self._changed.wait(1.0)

    def _linger(self) -> None:
        """Wait a moment for those who were answered together and will ask again together."""
        runner = self._tickets[0].runner
        enough = min(runner.rows, self._n_last)
        patience = max(self._gather, min(_PATIENCE * self._took_last, _MOST_PATIENCE))
        until = max(self._free_since, self._tickets[0].arrived) + patience
        while not self._is_closing and self._n_alike(runner) < enough:
            left = until - monotonic()
            if left <= 0:
                return
            self._changed.wait(left)

    def _n_alike(self, runner: Runner) -> int:
        return sum(len(one.todo) for one in self._tickets if one.runner.key == runner.key)

    def _chosen(self) -> list[Item]:
        """One item of each request that can be done with the first, again and again until full."""
        runner = self._tickets[0].runner
        alike = deque(one for one in self._tickets if one.runner.key == runner.key)
        batch: list[Item] = []
        while alike and len(batch) < runner.rows:
            ticket = alike.popleft()
            batch.append(ticket.todo.popleft())
            if ticket.todo:
                alike.append(ticket)
        # Who still has something to do goes to the end, behind those who wait for something else.
        begun = {id(item.ticket) for item in batch}
        others = [one for one in self._tickets if id(one) not in begun]
        rest = [one for one in self._tickets if id(one) in begun and one.todo]
        self._tickets = deque([*others, *rest])
        return batch

    def _drop_unwanted(self) -> None:
        if not all(one.todo and one.is_wanted for one in self._tickets):
            kept = (one for one in self._tickets if one.todo and one.is_wanted)
            self._tickets = deque(kept)

    def _run(self, batch: Sequence[Item]) -> None:
        """Do a batch; where it fails, each request has its own chance to succeed or to fail."""
        runner = batch[0].ticket.runner
        try:
            runner.run(batch)
            left = [item for item in batch if not item.is_answered]
            error: Exception = ServiceError("the answer was lost: ask again")
        except Exception as raised:
            left = [item for item in batch if not item.is_answered]
            error = raised
        tickets = {id(item.ticket): item.ticket for item in left}
        if len(tickets) > 1 and not isinstance(error, Abandoned):
            for ticket in tickets.values():
                self._run([item for item in left if item.ticket is ticket])
            return
        if left and not isinstance(error, Abandoned | RegardError):
            _log_error(error)
        for item in left:
            item.fail(error)


def _log_error(error: Exception) -> None:
    """Where it happened, but not what was said: the text of an error may quote the user's."""
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    where = " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(frames))
    _log.error("failed", extra={"facts": {"error": type(error).__name__, "where": where}})
