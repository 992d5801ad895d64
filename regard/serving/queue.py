"""The queue: what arrives together is computed together, by threads of its own, in fair turns."""

import logging
import traceback
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Condition, Lock, Thread
from time import monotonic
from typing import Any, Protocol, runtime_checkable

import torch

from regard.errors import RegardError, ServiceError
from regard.serving.refusals import RequestError

_log = logging.getLogger(__name__)

_FEWEST = 8  # items that are worth being divided among the workers
_PATIENCE = 0.1  # of the time that the last batch took: a whole batch again is worth it
_MOST_PATIENCE = 0.05  # seconds

Listener = Callable[[int, Any], None]  # the place of an item in its request, and an event of it
OnBatch = Callable[[int, int, float], None]  # items done together, of how many jobs, in seconds


@runtime_checkable
class BatchRunner(Protocol):
    """How a batch of items is computed: items of runners with the same key are done together."""

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


class Cancelled(Exception):  # noqa: N818 - nothing went wrong
    """Nobody waits for the answer any more."""


class Item:
    """One sentence of a request, or another thing to do."""

    def __init__(self, job: "Job", place: int, payload: Any) -> None:
        self.job, self.place, self.payload = job, place, payload
        self.is_answered = False

    @property
    def is_wanted(self) -> bool:
        """Whether somebody still waits for it."""
        return not self.is_answered and self.job.is_wanted

    def emit(self, event: Any) -> None:
        """Say how it goes, if anybody listens."""
        if self.job.listener is not None:
            with suppress(RuntimeError):  # the loop of the listener has ended
                self.job.listener(self.place, event)

    def answer(self, result: Any) -> None:
        """Hand over the result, once."""
        assert not self.is_answered, "an item has one answer"
        self.is_answered = True
        self.job.take(self, result)

    def fail(self, error: BaseException) -> None:
        """The request of which this is a part has no answer."""
        self.is_answered = True
        self.job.fail(error)


class Job:
    """A request in the queue; ``done`` has the results of all its items, in order."""

    def __init__(
        self,
        runner: BatchRunner,
        payloads: Sequence[Any],
        seconds: float,
        listener: Listener | None = None,
    ) -> None:
        self.runner, self.listener = runner, listener
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


@dataclass
class _Worker:
    """A thread that works off one batch after the other; what it does, and what it did last."""

    batch: list[Item] = field(default_factory=list)
    n_last: int = 1
    took_last: float = 0.0
    free_since: float = field(default_factory=monotonic)

    @property
    def n_open(self) -> int:
        """Items of its batch that are not answered yet."""
        return sum(not item.is_answered for item in self.batch)


class BatchQueue:
    """Takes jobs until ``capacity`` items wait, and works them off batch by batch.

    A batch has one item of each request in turn, so that a long request delays no short one. Work
    that is shared is done by ``n_workers`` threads side by side, each with its share of what there
    is; other work is done alone. When the last batch held several items the next begins as soon as
    as many are there, or after ``gather`` seconds, or a tenth of what the last one took; who asks
    alone is never kept waiting.
    """

    def __init__(
        self,
        *,
        capacity: int = 512,
        gather: float = 0.003,
        n_workers: int = 1,
        on_batch: OnBatch | None = None,
    ) -> None:
        self._capacity, self._gather, self._on_batch = capacity, gather, on_batch
        self._jobs: deque[Job] = deque()
        self._changed = Condition()
        self._is_closing = False
        self._seconds_each = 0.05  # for an item, as a guess that learns
        self._n_threads = torch.get_num_threads()
        self._workers = [_Worker() for _ in range(n_workers)]
        self._threads = [
            Thread(target=self._work, args=(worker,), name=f"regard-queue-{i}", daemon=True)
            for i, worker in enumerate(self._workers)
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
        return sum(len(job.todo) for job in tuple(self._jobs))

    def submit(
        self,
        runner: BatchRunner,
        payloads: Sequence[Any],
        seconds: float,
        listener: Listener | None = None,
    ) -> Job:
        """Queue a request, or refuse it because too many wait."""
        job = Job(runner, payloads, seconds, listener)
        with self._changed:
            if self._is_closing:
                raise RequestError("the service is stopping", status=503, code="stopping", retry=5)
            self._drop_unwanted()
            n = self.n_waiting
            if n + len(payloads) > self._capacity:
                raise RequestError(
                    f"{n} sentences wait already and the queue takes {self._capacity}: come again "
                    "in a moment",
                    status=429,
                    code="busy",
                    retry=max(1, min(60, round(n * self._seconds_each))),
                )
            if payloads:
                self._jobs.append(job)
                self._changed.notify_all()
        return job

    def _work(self, worker: _Worker) -> None:
        while batch := self._next(worker):
            began = monotonic()
            # Workers of one thread each: two threads of a small step wait for each other.
            is_shared = batch[0].job.runner.is_shared
            torch.set_num_threads(1 if is_shared else self._n_threads)
            self._run(batch)
            took = monotonic() - began
            self._rest(worker, took)
            if self._on_batch is not None:
                self._on_batch(len(batch), len({id(item.job) for item in batch}), took)
        torch.set_num_threads(self._n_threads)

    def _rest(self, worker: _Worker, took: float) -> None:
        with self._changed:
            n, worker.batch = len(worker.batch), []
            worker.n_last, worker.took_last, worker.free_since = n, took, monotonic()
            self._seconds_each = 0.8 * self._seconds_each + 0.2 * took / n / len(self._workers)
            self._changed.notify_all()

    def _next(self, worker: _Worker) -> list[Item]:
        """The next batch; nothing once the queue is closed and everything is begun."""
        with self._changed:
            while True:
                self._drop_unwanted()
                if self._can_begin():
                    self._linger(worker)
                    self._drop_unwanted()
                    if self._can_begin():
                        worker.batch = self._chosen()
                        return worker.batch
                elif self._is_closing and not self._jobs:
                    return []
                else:
                    self._changed.wait(1.0)

    def _can_begin(self) -> bool:
        """Whether what waits first may be done beside what is being done."""
        working = [worker.batch[0].job.runner for worker in self._workers if worker.batch]
        return bool(self._jobs) and (
            not working
            or (self._jobs[0].runner.is_shared and all(one.is_shared for one in working))
        )

    def _linger(self, worker: _Worker) -> None:
        """Wait a moment for those who were answered together and will ask again together."""
        runner = self._jobs[0].runner
        patience = max(self._gather, min(_PATIENCE * worker.took_last, _MOST_PATIENCE))
        until = max(worker.free_since, self._jobs[0].arrived) + patience
        while not self._is_closing:
            enough = min(self._share(runner), worker.n_last)
            left = until - monotonic()
            if left <= 0 or self._n_alike(runner) >= enough:
                return
            self._changed.wait(left)

    def _share(self, runner: BatchRunner) -> int:
        """How many items a worker takes at once, so that all workers have as much to do."""
        n_workers = len(self._workers)
        if n_workers == 1 or not runner.is_shared:
            return runner.rows
        n = self._n_alike(runner) + sum(worker.n_open for worker in self._workers)
        return max(1, min(runner.rows // n_workers, max(_FEWEST, -(-n // n_workers))))

    def _n_alike(self, runner: BatchRunner) -> int:
        return sum(len(one.todo) for one in self._jobs if one.runner.key == runner.key)

    def _chosen(self) -> list[Item]:
        """One item of each request that can be done with the first, again and again until full."""
        runner = self._jobs[0].runner
        alike = deque(one for one in self._jobs if one.runner.key == runner.key)
        batch: list[Item] = []
        n_most = self._share(runner)
        while alike and len(batch) < n_most:
            job = alike.popleft()
            batch.append(job.todo.popleft())
            if job.todo:
                alike.append(job)
        # Who still has something to do goes to the end, behind those who wait for something else.
        begun = {id(item.job) for item in batch}
        others = [one for one in self._jobs if id(one) not in begun]
        rest = [one for one in self._jobs if id(one) in begun and one.todo]
        self._jobs = deque([*others, *rest])
        return batch

    def _drop_unwanted(self) -> None:
        if not all(one.todo and one.is_wanted for one in self._jobs):
            kept = (one for one in self._jobs if one.todo and one.is_wanted)
            self._jobs = deque(kept)

    def _run(self, batch: Sequence[Item]) -> None:
        """Do a batch; where it fails, each request has its own chance to succeed or to fail."""
        runner = batch[0].job.runner
        try:
            runner.run(batch)
            left = [item for item in batch if not item.is_answered]
            error: Exception = ServiceError("the answer was lost: ask again")
        except Exception as raised:
            left = [item for item in batch if not item.is_answered]
            error = raised
        jobs = {id(item.job): item.job for item in left}
        if len(jobs) > 1 and not isinstance(error, Cancelled):
            for job in jobs.values():
                self._run([item for item in left if item.job is job])
            return
        if left and not isinstance(error, Cancelled | RegardError):
            _log_error(error)
        for item in left:
            item.fail(error)


def _log_error(error: Exception) -> None:
    """Where it happened, but not what was said: the text of an error may quote the user's."""
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    where = " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(frames))
    _log.error("failed", extra={"facts": {"error": type(error).__name__, "where": where}})
