"""The process: listen, say where, and stop in order when told to.

HTTP is read by a parser in C, which by itself waits for ever and takes any size. Of a request the
server sees nothing before its head is whole, so what is too slow or too much is refused here: a
head that does not end, in bytes or in seconds; a body that does not come; an answer that nobody
reads; one connection too many.
"""

import asyncio
import json
import logging
import signal
import socket
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from regard.errors import ServiceError
from regard.serving.logs import LOGGER
from regard.serving.settings import Bounds, Settings

_log = logging.getLogger(LOGGER)

_MOST = 64 * 1024  # bytes of a request's first line and headers, and what arrived with their end
_NO_HTTP = "this is no HTTP request that can be read: see /openapi.json for what can be asked"
_LINGER = 1.0  # seconds in which a client may read why it was refused
_RETRY = 5  # seconds after which to come again


class BoundedProtocol(HttpToolsProtocol):
    """One connection, which has so long for each thing that it does."""

    bounds = Bounds()

    _is_in_head = False
    _is_refused = False
    _n_bytes = 0
    _n_unsent = 0
    _receiving: asyncio.TimerHandle | None = None  # until the head, or the body, must be whole
    _sending: asyncio.TimerHandle | None = None  # until some of the answer must have been read

    def connection_made(self, transport: Any) -> None:  # uvloop's are of no class of asyncio's
        """Take the connection, if there are not too many."""
        super().connection_made(transport)
        if self._has_room():
            self._expect_head()
            return
        n = self.bounds.connections
        self._refuse(
            HTTPStatus.SERVICE_UNAVAILABLE,
            f"all {n} connections are taken: come again in a moment",
            "connections",
        )

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        for timer in (self._receiving, self._sending):
            if timer is not None:
                timer.cancel()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, if the head is not too long by now."""
        if self._is_refused:
            return
        if self._receiving is None:
            self._expect_head()
        self._n_bytes += len(data)
        super().data_received(data)
        if self._is_in_head and self._n_bytes > _MOST and not self.transport.is_closing():
            self.send_400_response(f"the head of a request may have up to {_MOST:,} bytes")

    def eof_received(self) -> None:
        """Nothing more will be asked; what was is still answered."""
        if self._is_refused:
            self.transport.close()
        super().eof_received()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, as everything is refused: one sentence as JSON."""
        sentence = _NO_HTTP if msg.startswith("Invalid HTTP") else msg
        self._write(HTTPStatus.BAD_REQUEST, sentence, "http")
        self.transport.close()

    def on_message_begin(self) -> None:
        """A head begins."""
        if self._receiving is None:  # it came along with the end of another request
            self._expect_head()
        self._is_in_head, self._n_bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """It has ended, and a body may follow."""
        self._is_in_head = False
        # The application refuses it a little sooner, in its own words.
        self._expect(self.bounds.body_seconds + _LINGER, self._body_is_late)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is whole."""
        if self._receiving is not None:
            self._receiving.cancel()
            self._receiving = None
        super().on_message_complete()

    def pause_writing(self) -> None:
        """More of an answer waits than the client reads."""
        super().pause_writing()
        self._n_unsent = self.transport.get_write_buffer_size()
        self._sending = self.loop.call_later(self.bounds.body_seconds, self._check_sending)

    def resume_writing(self) -> None:
        """It has been read."""
        super().resume_writing()
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None

    def timeout_keep_alive_handler(self) -> None:
        """Nothing was asked for a while; an answer that was not read by now never is."""
        if self._receiving is not None:  # what has begun has a time of its own
            return
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        super().timeout_keep_alive_handler()

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing: there are no web sockets here, and no package to install for them."""

    def _expect_head(self) -> None:
        self._n_bytes = 0
        self._expect(self.bounds.head_seconds, self._head_is_late)

    def _expect(self, seconds: float, late: Callable[[], None]) -> None:
        if self._receiving is not None:
            self._receiving.cancel()
        self._receiving = self.loop.call_later(seconds, late)

    def _head_is_late(self) -> None:
        last: Any = self.cycle  # none before the first head is whole
        if last is not None and not last.response_complete:
            self._expect_head()  # the last request has its answer first
        elif self._is_in_head:
            seconds = self.bounds.head_seconds
            sentence = f"the head of the request was not whole after {seconds:g} s: send it at once"
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, sentence, "slow-head")
        else:
            self.transport.close()

    def _body_is_late(self) -> None:
        if self.flow.read_paused:  # by us
            self._expect(self.bounds.body_seconds + _LINGER, self._body_is_late)
        else:
            self.transport.abort()

    def _check_sending(self) -> None:
        n = self.transport.get_write_buffer_size()
        if n >= self._n_unsent:
            self.transport.abort()
            return
        self._n_unsent = n
        self._sending = self.loop.call_later(self.bounds.body_seconds, self._check_sending)

    def _has_room(self) -> bool:
        """Whether this connection may stay; one that is kept for nothing is closed for it."""
        if len(self.connections) <= self.bounds.connections:
            return True
        others = [one for one in self.connections if isinstance(one, BoundedProtocol)]
        others = [one for one in others if not (one._is_refused or one.transport.is_closing())]
        if len(others) <= self.bounds.connections:
            return True
        idle = [one for one in others if one.timeout_keep_alive_task and one._receiving is None]
        if idle:
            idle[0].timeout_keep_alive_handler()
        return bool(idle)

    def _refuse(self, status: HTTPStatus, sentence: str, code: str) -> None:
        """Say why, and close once that can have been read.

        A connection with unread bytes that is closed at once is reset, and the answer is lost.
        """
        _log.info("refused", extra={"facts": {"code": code}})
        self._is_refused = True
        self._write(status, sentence, code)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._expect(_LINGER, self.transport.abort)

    def _write(self, status: HTTPStatus, sentence: str, code: str) -> None:
        body = json.dumps({"error": sentence, "code": code}).encode()
        retry = f"retry-after: {_RETRY}\r\n" if status >= 500 else ""
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\n{retry}connection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)


def bounded(bounds: Bounds) -> type[BoundedProtocol]:
    """The protocol with bounds of its own; the server makes one of it for each connection."""
    return type("Bounded", (BoundedProtocol,), {"bounds": bounds})


class Server(uvicorn.Server):
    """Serves an application on a socket that is bound before anything else: port 0 is any free."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.settings = settings
        self.socket = _bound(settings.host, settings.port)
        bounds = settings.bounds
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                lifespan="on",
                timeout_graceful_shutdown=int(bounds.seconds) + 1,
                timeout_keep_alive=bounds.idle_seconds,  # type: ignore[arg-type]
                http=bounded(bounds),
                ws="none",
            )
        )

    @property
    def address(self) -> str:
        """Where to ask."""
        host, port = self.socket.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def serve_until_stopped(self, began: Callable[[str], None] = lambda _: None) -> None:
        """Answer until SIGTERM or Ctrl-C; what was begun is finished."""
        # uvicorn stops in order at these signals, and then raises them again for who else listens.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)
        began(self.address)
        _log.info("started", extra={"facts": {"address": self.address}})
        self.run(sockets=[self.socket])
        _log.info("stopped")


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(512)
    except socket.gaierror as error:
        bound.close()
        raise ServiceError(
            f"there is no host {host!r} to listen at ({error.strerror}): give --host an address "
            "of this machine"
        ) from error
    except (OSError, OverflowError) as error:
        bound.close()
        raise ServiceError(
            f"{host}:{port} cannot be listened at ({getattr(error, 'strerror', error)}): choose "
            "another --port, or 0 for any that is free"
        ) from error
    return bound
