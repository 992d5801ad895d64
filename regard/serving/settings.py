"""How a service is run: where it listens, who may ask, and how much."""

import ipaddress
import re
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass, field

from regard.errors import ServiceError
from regard.serving.refusals import RequestError
from regard.systems import OpenedModel
from regard.text import Tokenizer

_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")
_ORIGIN = re.compile(rf"[a-z][a-z0-9+.-]*://({_NAME.pattern}|\[[0-9a-f:.]+\])(:[0-9]{{1,5}})?")


@dataclass(frozen=True)
class Bounds:
    """What a request may ask for, how many sentences may wait, and what a connection may take."""

    characters: int = 20_000  # of all texts of a request
    sentences: int = 128  # of a request
    tokens: int = 512  # of a sentence
    looked: int = 128  # of a sentence that is looked into: weights grow with its square
    body: int = 1 << 20  # bytes of a request
    seconds: float = 30.0  # until a request is given up
    waiting: int = 512  # sentences in the queue
    beam: int = 16
    new_tokens: int = 1024  # that a text generator may write
    connections: int = 256  # at the same time
    head_seconds: float = 10.0  # for a request's first line and headers to arrive
    body_seconds: float = 30.0  # for its body; and for some of an answer to be read
    idle_seconds: float = 15.0  # between two requests of a connection

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise ServiceError(f"{name} = {value} lets no request through: give more than 0")
        if self.waiting < self.sentences:
            raise ServiceError(
                f"a queue of {self.waiting} sentences cannot take a request of {self.sentences}: "
                "make the queue longer, or allow fewer sentences"
            )

    def check_size(self, texts: Sequence[str]) -> None:
        """Refuse more or longer texts than one request may have."""
        if len(texts) > self.sentences:
            raise RequestError(
                f"{len(texts):,} sentences are too many for one request: send up to "
                f"{self.sentences:,}",
                status=413,
                code="too-many",
            )
        n = sum(map(len, texts))
        if n > self.characters:
            raise RequestError(
                f"{n:,} characters are too many for one request: send up to {self.characters:,}",
                status=413,
                code="too-long",
            )

    def check_beam(self, width: int) -> None:
        """Refuse a beam that is too wide."""
        if width > self.beam:
            raise RequestError(
                f"a beam of {width} is too wide here: ask for up to {self.beam}", code="beam"
            )


def check_tokens(what: str, tokenizer: Tokenizer, text: str, limit: int) -> None:
    """Refuse a text of more tokens than the limit."""
    n = len(tokenizer.encode(text))
    if n > limit:
        raise RequestError(
            f"{what} has {n:,} tokens, and {limit:,} are allowed here: split it",
            status=413,
            code="too-long",
        )


@dataclass(frozen=True)
class Settings:
    """Where the service listens and whom it answers."""

    host: str = "127.0.0.1"
    port: int = 8000
    keys: frozenset[str] = frozenset()
    is_open: bool = False  # to everyone who can reach the host, without a key
    origins: tuple[str, ...] = ()  # pages of other places that may ask
    names: tuple[str, ...] = ()  # by which the service may be called, besides its addresses
    rows: int = 64  # sentences searched together
    gather: float = 0.003  # seconds to wait for requests that come together
    bounds: Bounds = field(default_factory=Bounds)

    def __post_init__(self) -> None:
        if not (is_loopback(self.host) or self.keys or self.is_open):
            raise ServiceError(
                f"--host {self.host} lets other machines ask: give --api-key KEY, or --open if "
                "everyone who can reach it may"
            )
        if any(not key.strip() or not key.isascii() for key in self.keys):
            raise ServiceError("an API key is ASCII and not empty: choose another")
        for origin in self.origins:
            if not _ORIGIN.fullmatch(origin):
                raise ServiceError(
                    f"--cors {origin} is no origin: give one as https://example.org or "
                    "http://localhost:3000, without a path"
                )
        for name in self.names:
            if not _NAME.fullmatch(name):
                raise ServiceError(
                    f"--allow-host {name} is no name of a host: give one as translate.example.org, "
                    "without a port"
                )
        if self.rows < 1 or not 0 <= self.gather <= 1:
            raise ServiceError(
                f"batches of {self.rows} after {self.gather:g} s are not possible: give 1 or more "
                "sentences and between 0 and 1 s"
            )


def read_input(
    opened: OpenedModel, text: str, bounds: Bounds, n_tokens: int, what: str = "the text"
) -> str | bytes:
    """An input within the bounds, as the model takes it: a text, or the bytes of a picture."""
    if opened.reads == "pictures":
        try:
            return b64decode(text, validate=True)
        except ValueError:
            raise RequestError(
                f"{what} is no picture: send a PNG or JPEG file in base64", code="picture"
            ) from None
    bounds.check_size([text])
    check_tokens(what, opened.tokenizer, text, n_tokens)
    return text


def is_loopback(host: str) -> bool:
    """Whether a host is reached from its own machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
