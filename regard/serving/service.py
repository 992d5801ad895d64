"""What every route needs: the models, the queue, and how to wait for it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, ClassVar, TypeVar

from starlette.requests import Request

from regard.serving.catalogue import Catalogue
from regard.serving.queue import BatchQueue, BatchRunner, Cancelled, Item, Job, Listener
from regard.serving.refusals import RequestError
from regard.serving.settings import Settings
from regard.serving.traces import MomentCache, TraceCache

Result = TypeVar("Result")

_LOOK = 0.25  # seconds between two looks at whether the client is still there


@dataclass(frozen=True, eq=False)
class CallRunner:
    """Runs one function by itself: the payload is called, and gives the answer."""

    rows: ClassVar[int] = 1
    is_shared: ClassVar[bool] = False

    @property
    def key(self) -> Hashable:
        """Its own."""
        return ("call", id(self))

    def run(self, items: Sequence[Item]) -> None:
        """Call each."""
        for item in items:
            item.answer(item.payload())


@dataclass(frozen=True, eq=False)
class Service:
    """Models, settings and the queue of one process."""

    catalogue: Catalogue
    settings: Settings
    queue: BatchQueue
    traces: TraceCache = field(default_factory=TraceCache)
    moments: MomentCache = field(default_factory=MomentCache)

    def submit(
        self, runner: BatchRunner, payloads: Sequence[Any], listener: Listener | None = None
    ) -> Job:
        """Queue a request."""
        return self.queue.submit(runner, payloads, self.settings.bounds.seconds, listener)

    async def answer(
        self, request: Request, runner: BatchRunner, payloads: Sequence[Any]
    ) -> list[Any]:
        """The results, in order; given up when the time is over or the client has gone."""
        job = self.submit(runner, payloads)
        future = asyncio.wrap_future(job.done)
        try:
            while True:
                left = job.deadline - monotonic()
                await asyncio.wait({future}, timeout=max(0.0, min(left, _LOOK)))
                if future.done():
                    return future.result()
                if left <= 0:
                    raise self._too_slow()
                if await request.is_disconnected():
                    raise RequestError("the client has gone", status=499, code="gone")
        except Cancelled:
            raise self._too_slow() from None
        finally:
            job.cancel()
            future.cancel()

    async def alone(self, request: Request, work: Callable[[], Result]) -> Result:
        """What a function gives that is called by itself, in the queue's turn."""
        results = await self.answer(request, CallRunner(), [work])
        found: Result = results[0]
        return found

    def begin(self, runner: BatchRunner, payloads: Sequence[Any]) -> AsyncIterator[tuple[int, Any]]:
        """Queue a request now; what happens to its items comes as it happens, ends with them."""
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[tuple[int, Any] | None] = asyncio.Queue()

        def listen(place: int, event: Any) -> None:
            loop.call_soon_threadsafe(events.put_nowait, (place, event))

        job = self.submit(runner, payloads, listen)
        job.done.add_done_callback(lambda _: _end(loop, events))
        return self._events(job, events)

    async def _events(
        self, job: Job, events: "asyncio.Queue[tuple[int, Any] | None]"
    ) -> AsyncIterator[tuple[int, Any]]:
        try:
            while True:
                left = max(0.0, job.deadline - monotonic())
                event = await asyncio.wait_for(events.get(), left)
                if event is None:
                    break
                yield event
            job.done.result()
        except (TimeoutError, Cancelled):
            raise self._too_slow() from None
        finally:
            job.cancel()

    def _too_slow(self) -> RequestError:
        return RequestError(
            f"the answer was not there after {self.settings.bounds.seconds:g} s: ask for less, or "
            "come again later",
            status=503,
            code="too-slow",
            retry=5,
        )


def _end(loop: asyncio.AbstractEventLoop, events: "asyncio.Queue[tuple[int, Any] | None]") -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(events.put_nowait, None)
