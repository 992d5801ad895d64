"""Around every request: a number for it, counts, a line in the log, and headers that protect."""

import logging
import uuid
from time import perf_counter
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from regard.serving.logs import LOGGER
from regard.serving.metrics import Metrics

_log = logging.getLogger(LOGGER)

POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
]
GONE = 499  # the client went before its answer


class Watch:
    """Counts and logs what passes; of a path only its route is told, of a body nothing."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and tell how it went: before the last of the answer leaves.

        Whoever has an answer finds it in the counts and in the log.
        """
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        number, began, status, size, is_told = uuid.uuid4().hex, perf_counter(), GONE, 0, False

        def tell() -> None:
            nonlocal is_told
            if is_told:
                return
            is_told = True
            seconds = perf_counter() - began
            route = _route(scope)
            self.metrics.end(scope["method"], route, status, seconds)
            facts: dict[str, Any] = {
                "request": number,
                "method": scope["method"],
                "route": route,
                "status": status,
                "ms": round(1000 * seconds, 1),
                "bytes": size,
            }
            _log.info("request", extra={"facts": facts})

        async def sending(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [*message.get("headers", ()), *_HEADERS]
                message["headers"] = [*headers, (b"x-request-id", number.encode())]
            elif message["type"] == "http.response.body":
                size += len(message.get("body", b""))
                if not message.get("more_body", False):
                    tell()
            await send(message)

        self.metrics.begin()
        try:
            await self.app(scope, receive, sending)
        except Exception:
            status = 500
            raise
        finally:
            tell()


def _route(scope: Scope) -> str:
    """The route's own path, never the one that was asked for: that may hold anything."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) and path else "other"
