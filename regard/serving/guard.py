"""Who may ask: the name by which the service was called, the page that calls, the key, the size.

A page of another place can make a browser call a service on loopback: by a name that it lets point
there (DNS rebinding, told by Host), or openly (told by Origin). Both are refused.
"""

import asyncio
import hmac
import ipaddress
import socket
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from regard.serving.refusals import RequestError, answer
from regard.serving.settings import Settings

KEY_IN_BODY = frozenset({"/translate", "/detect"})  # LibreTranslate's clients send it there
# LibreTranslate tells its languages to everyone; the page and the description are open too.
KEYED = ("/api/", "/v1/", "/translate", "/detect", "/metrics")


class Guard:
    """Lets pass what may be asked, with its whole body read."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.settings = app, settings
        self._names = frozenset(
            name.lower()
            for name in ("localhost", settings.host, socket.gethostname(), *settings.names)
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, then pass on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            await send({"type": "websocket.close", "code": 1003})
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if origin in self.settings.origins:  # refusals too: else the page cannot read them
            send = _allowing(send, str(origin))
        try:
            self._check_host(headers.get("host", ""))
            self._check_origin(origin, headers)
            if scope["method"] == "OPTIONS" and origin in self.settings.origins:
                await _preflight()(scope, receive, send)
                return
            self._check_key(scope["path"], headers)
            body = await self._read(receive, headers)
        except RequestError as refusal:
            await answer(refusal, scope["path"])(scope, receive, send)
            return
        if body is None:  # the client went before it had asked
            return
        await self.app(scope, _replaying(body, receive), send)

    def _check_host(self, host: str) -> None:
        name = _name(host)
        if name is None or not (name.lower() in self._names or _is_address(name)):
            raise RequestError(
                "the service does not answer to this name: call it by its address, or start it "
                "with --allow-host NAME",
                status=403,
                code="host",
            )

    def _check_origin(self, origin: str | None, headers: Mapping[str, str]) -> None:
        is_ours = origin is None or _authority(origin) == headers.get("host", "").lower()
        # A page of another place may also ask without saying so, by an image for example.
        is_sneaking = (
            origin is None
            and headers.get("sec-fetch-site") == "cross-site"
            and headers.get("sec-fetch-mode") != "navigate"
        )
        if (not is_ours or is_sneaking) and origin not in self.settings.origins:
            raise RequestError(
                "pages of other places may not ask: start the service with --cors ORIGIN to let "
                "one",
                status=403,
                code="origin",
            )

    def _check_key(self, path: str, headers: Mapping[str, str]) -> None:
        if not path.startswith(KEYED):
            return
        if path in KEY_IN_BODY and given_key(headers) is None:
            return  # the route looks into the body
        require_key(self.settings, headers)

    async def _read(self, receive: Receive, headers: Mapping[str, str]) -> bytes | None:
        limit, seconds = self.settings.bounds.body, self.settings.bounds.body_seconds
        said = headers.get("content-length", "0")
        if not (said.isascii() and said.isdigit()) or int(said) > limit:
            raise _too_large(limit)
        parts, size = [], 0
        try:
            async with asyncio.timeout(seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > limit:
                        raise _too_large(limit)
                    if not message.get("more_body", False):
                        return b"".join(parts)
        except TimeoutError:
            raise RequestError(
                f"the body was not whole after {seconds:g} s: send it at once",
                status=408,
                code="slow-body",
            ) from None


def require_key(settings: Settings, headers: Mapping[str, str], in_body: str | None = None) -> None:
    """Refuse who has no key, where one is needed."""
    if not settings.keys:
        return
    given = (given_key(headers) or in_body or "").encode()
    # Every key is compared, in a time that does not depend on where they differ.
    if not sum(hmac.compare_digest(given, key.encode()) for key in settings.keys):
        raise RequestError(
            "an API key is needed: send it as Authorization: Bearer KEY, or X-API-Key: KEY",
            status=401,
            code="key",
        )


def given_key(headers: Mapping[str, str]) -> str | None:
    """The key in the headers, if there is one."""
    kind, _, key = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and key.strip():
        return key.strip()
    return headers.get("x-api-key") or None


def _name(host: str) -> str | None:
    """The name in a Host header, without its port; nothing if it holds anything else."""
    if not host.isascii() or set(host) & set("/@?# \\"):
        return None
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _is_address(name: str) -> bool:
    """Whether it is an address: those cannot be made to point elsewhere."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _authority(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _too_large(limit: int) -> RequestError:
    return RequestError(
        f"the body is too large: send up to {limit:,} bytes", status=413, code="too-large"
    )


def _replaying(body: bytes, receive: Receive) -> Receive:
    """The body again, in one piece; afterwards what else comes from the client."""
    is_given = False

    async def replay() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _preflight() -> Response:
    return Response(
        status_code=204,
        headers={
            "Access-Control-Allow-Methods": "GET, POST",
            "Access-Control-Allow-Headers": "Authorization, Content-Type, X-API-Key",
            "Access-Control-Max-Age": "600",
        },
    )


def _allowing(send: Send, origin: str) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [
                *message.get("headers", ()),
                (b"access-control-allow-origin", origin.encode("latin-1")),
                (b"access-control-expose-headers", b"Retry-After, WWW-Authenticate, X-Request-ID"),
                (b"vary", b"Origin"),
            ]
        await send(message)

    return sending
