"""Nobody holds a connection for long without asking or reading, and there are only so many."""

import json
import logging
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files

import httpx
import pytest

from regard.serving import Bounds, Catalogue, Settings
from tests.unit.serving.conftest import Live, copier, living

SHORT = Bounds(head_seconds=0.3, body_seconds=0.3, idle_seconds=0.3)
LONG = {"head_seconds": 30.0, "body_seconds": 30.0, "idle_seconds": 30.0}
PATIENCE = 20  # seconds after which a connection counts as never closed
HEAD = b"POST /api/v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    with living(Catalogue((copier(),)), Settings(port=0, bounds=SHORT)) as live:
        yield live


@contextmanager
def few(n: int) -> Iterator[Live]:
    """A service that takes so many connections."""
    settings = Settings(port=0, bounds=Bounds(connections=n, **LONG))  # type: ignore[arg-type]
    with living(Catalogue((copier(),)), settings) as live:
        yield live


def connected(live: Live, *, room: int | None = None) -> socket.socket:
    line = socket.socket()
    if room is not None:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    line.settimeout(PATIENCE)
    line.connect(live.server.socket.getsockname())
    return line


def read_all(line: socket.socket) -> tuple[bytes, dict[str, str]]:
    """The head of the last answer before the connection was closed, and its JSON."""
    said = b""
    with suppress(ConnectionError):
        while part := line.recv(65536):
            said += part
    head, _, body = said.rpartition(b"\r\n\r\n")
    return head, json.loads(body) if body else {}


def trickle(line: socket.socket, data: bytes = b"a") -> None:
    """One byte after the other, for as long as they are taken."""
    until = time.monotonic() + PATIENCE
    with suppress(ConnectionError):
        while time.monotonic() < until:
            line.sendall(data)
            time.sleep(0.02)
        pytest.fail("it was never closed")


def until_empty(live: Live) -> None:
    until = time.monotonic() + PATIENCE
    while live.server.server_state.connections:
        assert time.monotonic() < until, "it was never closed"
        time.sleep(0.02)


@pytest.mark.parametrize("begins", [b"G", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: local"])
def test_a_head_that_stops_is_refused(live: Live, begins: bytes) -> None:
    lines = [connected(live) for _ in range(5)]
    for line in lines:
        line.sendall(begins)
    for line in lines:
        with line:
            head, said = read_all(line)
        assert head.startswith(b"HTTP/1.1 408 ")
        assert b"connection: close" in head
        assert (said["code"], "0.3 s" in said["error"]) == ("slow-head", True)


def test_a_head_that_trickles_is_refused_too(live: Live) -> None:
    with connected(live) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
        trickle(line)


def test_who_says_nothing_is_let_go_without_a_word(live: Live) -> None:
    with connected(live) as line:
        assert line.recv(100) == b""


@pytest.mark.parametrize("sent", [b"", b"\r\n"])
def test_a_connection_that_is_kept_for_nothing(live: Live, sent: bytes) -> None:
    with connected(live) as line:
        line.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        said = b""
        while not said.endswith(b"}"):
            said += line.recv(4096)
        if sent:  # between two requests, empty lines are allowed
            trickle(line, sent)
        else:
            assert read_all(line) == (b"", {})


def test_a_kept_connection_may_ask_again(live: Live) -> None:
    with httpx.Client(base_url=live.url) as client:
        for _ in range(5):
            time.sleep(0.1)
            assert client.get("/health").status_code == 200
        assert len(live.server.server_state.connections) == 1


def test_a_body_that_does_not_come(live: Live) -> None:
    with connected(live) as line:
        line.sendall(HEAD + b"Content-Length: 20\r\n\r\n{")
        head, said = read_all(line)
    assert head.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in head
    assert (said["code"], "0.3 s" in said["error"]) == ("slow-body", True)


def test_a_body_that_trickles_behind_a_refusal(live: Live) -> None:
    with connected(live) as line:
        line.sendall(
            HEAD.replace(b"localhost", b"evil.example") + b"Content-Length: 999999\r\n\r\n"
        )
        assert line.recv(4096).startswith(b"HTTP/1.1 403 ")
        trickle(line)


def test_an_answer_may_take_longer_than_its_question() -> None:
    settings = Settings(port=0, bounds=SHORT)
    with living(Catalogue((copier(seconds=0.04),)), settings) as live, httpx.Client() as client:
        for _ in range(2):
            body = {"text": "a" * 12, "beam": 1}
            answer = client.post(f"{live.url}/api/v1/translate", json=body, timeout=30)
            assert answer.status_code == 200


def test_questions_that_were_sent_ahead_wait_for_their_turn() -> None:
    body = json.dumps({"text": "a" * 12, "beam": 1}).encode()
    asked = HEAD + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    settings = Settings(port=0, bounds=SHORT)
    with living(Catalogue((copier(seconds=0.04),)), settings) as live, connected(live) as line:
        line.sendall(asked + asked + asked[:40])  # the third stops in its head
        said = b""
        while part := line.recv(65536):
            said += part
    assert said.count(b"HTTP/1.1 200 ") == 2
    assert said.count(b"HTTP/1.1 408 ") == 1


def test_who_does_not_read_is_let_go(live: Live) -> None:
    path = "studio.js"
    largest = files("regard.inspection.viewer").joinpath(path)
    until_empty(live)
    n = 40_000_000 // len(largest.read_bytes())  # more than sockets hold
    with connected(live, room=4096) as line:
        line.sendall(f"GET /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * n)
        while not live.server.server_state.connections:
            time.sleep(0.01)
        until_empty(live)


def test_there_are_only_so_many_connections() -> None:
    with few(3) as live:
        lines = [connected(live) for _ in range(3)]
        for line in lines:
            line.sendall(b"GET / HTTP/1.1\r\n")
        while len(live.server.server_state.connections) < 3:
            time.sleep(0.01)
        answer = httpx.post(f"{live.url}/api/v1/translate", json={"text": "a" * 10_000})
        assert (answer.status_code, answer.json()["code"]) == (503, "connections")
        assert "3 connections" in answer.json()["error"]
        assert int(answer.headers["retry-after"]) >= 1
        assert answer.headers["connection"] == "close"
        lines[0].close()
        while len(live.server.server_state.connections) > 2:
            time.sleep(0.01)
        assert httpx.get(f"{live.url}/health").status_code == 200
        for line in lines:
            line.close()


def test_a_connection_that_is_kept_for_nothing_makes_room() -> None:
    with few(2) as live, httpx.Client() as first, httpx.Client() as second:
        for client in (first, second):
            assert client.get(f"{live.url}/health").status_code == 200
        assert httpx.get(f"{live.url}/health").status_code == 200
        assert httpx.get(f"{live.url}/health").status_code == 200


def test_what_is_refused_at_the_door_is_in_the_log(
    live: Live, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "regard.serving"), connected(live) as line:
        line.sendall(b"GET /secretword HTTP/1.1\r\nHost: secretword")
        read_all(line)
    (record,) = [one for one in caplog.records if one.getMessage() == "refused"]
    assert vars(record)["facts"] == {"code": "slow-head"}


def test_a_web_socket_is_an_ordinary_request(live: Live, caplog: pytest.LogCaptureFixture) -> None:
    headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    with caplog.at_level(logging.WARNING, "uvicorn"):
        answer = httpx.get(f"{live.url}/health", headers=headers)
    assert answer.status_code == 200
    assert not caplog.records
