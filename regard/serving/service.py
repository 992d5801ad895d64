"""What every route needs: the models, the engine, and how to wait for it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeVar

from starlette.requests import Request

from regard.serving.catalogue import Catalogue
from regard.serving.engine import Engine
from regard.serving.looking import Alone, Traces
from regard.serving.moments import Moments
from regard.serving.refusals import RequestError
from regard.serving.settings import Settings
from regard.serving.ticket import Abandoned, Hear, Runner, Ticket

Result = TypeVar("Result")

_LOOK = 0.25  # seconds between two looks at whether the client is still there


@dataclass(frozen=True, eq=False)
class Service:
    """Models, settings and the engine of one process."""

    catalogue: Catalogue
    settings: Settings
    engine: Engine
    traces: Traces = field(default_factory=Traces)
    moments: Moments = field(default_factory=Moments)

    def submit(self, runner: Runner, payloads: Sequence[Any], hear: Hear | None = None) -> Ticket:
        """Hand a request to the engine."""
        return self.engine.submit(runner, payloads, self.settings.bounds.seconds, hear)

    async def answer(self, request: Request, runner: Runner, payloads: Sequence[Any]) -> list[Any]:
        """The results, in order; given up when the time is over or the client has gone."""
        ticket = self.submit(runner, payloads)
        future = asyncio.wrap_future(ticket.done)
        try:
            while True:
                left = ticket.deadline - monotonic()
                await asyncio.wait({future}, timeout=max(0.0, min(left, _LOOK)))
                if future.done():
                    return future.result()
                if left <= 0:
                    raise self._too_slow()
                if await request.is_disconnected():
                    raise RequestError("the client has gone", status=499, code="gone")
        except Abandoned:
            raise self._too_slow() from None
        finally:
            ticket.cancel()
            future.cancel()

    async def alone(self, request: Request, work: Callable[[], Result]) -> Result:
        """What a function gives that the engine calls by itself."""
        results = await self.answer(request, Alone(), [work])
        found: Result = results[0]
        return found

    def begin(self, runner: Runner, payloads: Sequence[Any]) -> AsyncIterator[tuple[int, Any]]:
        """Queue a request now; what happens to its items comes as it happens, ends with them."""
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[tuple[int, Any] | None] = asyncio.Queue()

        def hear(place: int, event: Any) -> None:
            loop.call_soon_threadsafe(queue.put_nowait, (place, event))

        ticket = self.submit(runner, payloads, hear)
        ticket.done.add_done_callback(lambda _: _end(loop, queue))
        return self._events(ticket, queue)

    async def _events(
        self, ticket: Ticket, queue: "asyncio.Queue[tuple[int, Any] | None]"
    ) -> AsyncIterator[tuple[int, Any]]:
        try:
            while True:
                left = max(0.0, ticket.deadline - monotonic())
                event = await asyncio.wait_for(queue.get(), left)
                if event is None:
                    break
                yield event
            ticket.done.result()
        except (TimeoutError, Abandoned):
            raise self._too_slow() from None
        finally:
            ticket.cancel()

    def _too_slow(self) -> RequestError:
        return RequestError(
            f"the answer was not there after {self.settings.bounds.seconds:g} s: ask for less, or "
            "come again later",
            status=503,
            code="too-slow",
            retry=5,
        )


def _end(loop: asyncio.AbstractEventLoop, queue: "asyncio.Queue[tuple[int, Any] | None]") -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(queue.put_nowait, None)
