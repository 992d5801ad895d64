"""Threads that do all computing: what arrives together is done together, in fair turns."""

import logging
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Condition, Thread
from time import monotonic
from typing import Any

import torch

from regard.errors import RegardError, ServiceError
from regard.serving.refusals import RequestError
from regard.serving.ticket import Abandoned, Hear, Item, Runner, Ticket

_log = logging.getLogger(__name__)

_FEWEST = 8  # items that are worth being divided among the lanes
_PATIENCE = 0.1  # of the time that the last batch took: a whole batch again is worth it
_MOST_PATIENCE = 0.05  # seconds

Watch = Callable[[int, int, float], None]  # items done together, of how many requests, in seconds


@dataclass
class _Lane:
    """A thread that works off one batch after the other; what it does, and what it did last."""

    batch: list[Item] = field(default_factory=list)
    n_last: int = 1
    took_last: float = 0.0
    free_since: float = field(default_factory=monotonic)

    @property
    def n_open(self) -> int:
        """Items of its batch that are not answered yet."""
        return sum(not item.is_answered for item in self.batch)


class Engine:
    """Takes tickets until ``waiting`` items wait, and works them off batch by batch.

    A batch has one item of each request in turn, so that a long request delays no short one. Work
    that is shared is done by ``n_lanes`` threads side by side, each with its share of what there
    is; other work is done alone. When the last batch held several items the next begins as soon as
    as many are there, or after ``gather`` seconds, or a tenth of what the last one took; who asks
    alone is never kept waiting.
    """

    def __init__(
        self,
        *,
        waiting: int = 512,
        gather: float = 0.003,
        n_lanes: int = 1,
        watch: Watch | None = None,
    ) -> None:
        self._waiting, self._gather, self._watch = waiting, gather, watch
        self._tickets: deque[Ticket] = deque()
        self._changed = Condition()
        self._is_closing = False
        self._seconds_each = 0.05  # for an item, as a guess that learns
        self._n_threads = torch.get_num_threads()
        self._lanes = [_Lane() for _ in range(n_lanes)]
        self._threads = [
            Thread(target=self._work, args=(lane,), name=f"regard-engine-{i}", daemon=True)
            for i, lane in enumerate(self._lanes)
        ]

    def start(self) -> None:
        """Begin to work."""
        for thread in self._threads:
            thread.start()

    def close(self, timeout: float | None = None) -> None:
        """Take nothing more, finish what was taken, and end."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout)

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

    def _work(self, lane: _Lane) -> None:
        while batch := self._next(lane):
            began = monotonic()
            # Lanes of one thread each: two threads of a small step wait for each other.
            is_shared = batch[0].ticket.runner.is_shared
            torch.set_num_threads(1 if is_shared else self._n_threads)
            self._run(batch)
            took = monotonic() - began
            self._rest(lane, took)
            if self._watch is not None:
                self._watch(len(batch), len({id(item.ticket) for item in batch}), took)
        torch.set_num_threads(self._n_threads)

    def _rest(self, lane: _Lane, took: float) -> None:
        with self._changed:
            n, lane.batch = len(lane.batch), []
            lane.n_last, lane.took_last, lane.free_since = n, took, monotonic()
            self._seconds_each = 0.8 * self._seconds_each + 0.2 * took / n / len(self._lanes)
            self._changed.notify_all()

    def _next(self, lane: _Lane) -> list[Item]:
        """The next batch; nothing once the engine is closed and everything is begun."""
        with self._changed:
            while True:
                self._drop_unwanted()
                if self._can_begin():
                    self._linger(lane)
                    self._drop_unwanted()
                    if self._can_begin():
                        lane.batch = self._chosen()
                        return lane.batch
                elif self._is_closing and not self._tickets:
                    return []
                else:
                    self._changed.wait(1.0)

    def _can_begin(self) -> bool:
        """Whether what waits first may be done beside what is being done."""
        working = [lane.batch[0].ticket.runner for lane in self._lanes if lane.batch]
        return bool(self._tickets) and (
            not working
            or (self._tickets[0].runner.is_shared and all(one.is_shared for one in working))
        )

    def _linger(self, lane: _Lane) -> None:
        """Wait a moment for those who were answered together and will ask again together."""
        runner = self._tickets[0].runner
        patience = max(self._gather, min(_PATIENCE * lane.took_last, _MOST_PATIENCE))
        until = max(lane.free_since, self._tickets[0].arrived) + patience
        while not self._is_closing:
            enough = min(self._share(runner), lane.n_last)
            left = until - monotonic()
            if left <= 0 or self._n_alike(runner) >= enough:
                return
            self._changed.wait(left)

    def _share(self, runner: Runner) -> int:
        """How many items a lane takes at once, so that all lanes have as much to do."""
        n_lanes = len(self._lanes)
        if n_lanes == 1 or not runner.is_shared:
            return runner.rows
        n = self._n_alike(runner) + sum(lane.n_open for lane in self._lanes)
        return max(1, min(runner.rows // n_lanes, max(_FEWEST, -(-n // n_lanes))))

    def _n_alike(self, runner: Runner) -> int:
        return sum(len(one.todo) for one in self._tickets if one.runner.key == runner.key)

    def _chosen(self) -> list[Item]:
        """One item of each request that can be done with the first, again and again until full."""
        runner = self._tickets[0].runner
        alike = deque(one for one in self._tickets if one.runner.key == runner.key)
        batch: list[Item] = []
        n_most = self._share(runner)
        while alike and len(batch) < n_most:
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
