"""The process: listen, say where, and stop in order when told to."""

import logging
import signal
import socket
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from regard.errors import ServiceError
from regard.serving.logs import LOGGER
from regard.serving.protocol import bounded
from regard.serving.settings import Settings

_log = logging.getLogger(LOGGER)


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
