"""Whatever is sent, the answer is 4xx and one sentence, never 5xx."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis.errors import Unsatisfiable
from schemathesis.specs.openapi.checks import (
    negative_data_rejection,
    positive_data_acceptance,
)

from regard.serving import Bounds, Catalogue, Settings, open_models
from tests.unit.serving.conftest import Live, copier, living, parrot


@pytest.fixture(scope="module")
def live(folder: Callable[..., Path]) -> Iterator[Live]:
    opened = open_models([str(folder("zh-en", n_layers=1, n_decoder_layers=1))])
    models = (*opened.models, copier("copy", ("en", "de")), parrot()[0])
    bounds = Bounds(characters=200, tokens=30, looked=8)  # so that most are short, or refused
    settings = Settings(port=0, bounds=bounds)
    with living(Catalogue(models), settings) as live:
        yield live


@pytest.fixture(scope="module")
def client(live: Live) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=live.url, timeout=30) as client:
        yield client


# Status, type, headers and schema are as described. How much a model takes is not, so what fits
# its schema may be refused; and schemathesis does not count a 413 as a refusal.
OUR_OWN = [positive_data_acceptance, negative_data_rejection]


# schemathesis asks `random` for a seed, of which hypothesis does not approve.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module")
@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_no_request_makes_the_service_fail(live: Live, mode: schemathesis.GenerationMode) -> None:
    api = schemathesis.openapi.from_url(f"{live.url}/openapi.json")
    paths = set()
    for result in api.get_all_operations():
        operation = result.ok()

        @hypothesis_settings(
            max_examples=5,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def no_failure(case: schemathesis.Case) -> None:
            paths.add(case.path)
            answer = case.call(timeout=60)
            assert answer.status_code < 500, answer.text
            if answer.status_code >= 400 and "json" in answer.headers.get("content-type", ""):
                assert answer.json()["error"]
            case.validate_response(answer, excluded_checks=OUR_OWN)

        with suppress(Unsatisfiable):  # a path without parameters cannot be asked wrongly
            no_failure()
    assert set(PATHS) <= paths


BODIES = {
    "no JSON": b"{",
    "nothing": b"",
    "a number": b"5",
    "not UTF-8": b'{"text": "\xff\xfe"}',
    "half a character": b'{"text": "\\ud800", "source": "\\ud800", "prompt": "\\ud800"}',
    "not a number": b'{"text": "a", "source": "a", "beam": NaN, "temperature": NaN}',
    "infinity": b'{"text": "a", "source": "a", "alpha": 1e999, "layer": 1e999, "top_p": 1e999}',
    "deep": b'{"text": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "deep objects": b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
    "large numbers": b'{"text": "a", "source": "a", "beam": 1' + b"0" * 4000 + b"}",
    "very large numbers": b'{"text": "a", "source": "a", "beam": 1' + b"0" * 9000 + b"}",
    "wrong types": b'{"text": {"a": 1}, "source": 3, "prompt": false, "q": null}',
    "huge": b'{"text": "' + b"a" * 1_000_000 + b'"}',
    "too huge": b'{"text": "' + b"a" * 1_100_000 + b'"}',
    "null bytes": b'{"text": 0, "source": 0, "model": "\\u0000"}',
}
PATHS = (
    *(f"/api/v1/{name}" for name in ("translate", "translate/stream", "trace", "use")),
    *("/api/v1/arithmetic", "/api/v1/heads", "/api/v1/ablate", "/api/v1/export"),
    *("/translate", "/detect", "/v1/completions"),
)


@pytest.mark.parametrize("what", BODIES)
def test_bodies_that_make_no_sense(client: httpx.Client, what: str) -> None:
    for path in PATHS:
        headers = {"Content-Type": "application/json"}
        answer = client.post(path, content=BODIES[what], headers=headers)
        assert 400 <= answer.status_code < 500, (path, answer.text)
        said = answer.json()["error"]
        sentence = said["message"] if isinstance(said, dict) else said
        assert 5 < len(sentence) < 500
        assert "\n" not in sentence


@pytest.mark.parametrize("body", [b"[]", b"null", b"5"])
def test_a_body_that_is_no_object(client: httpx.Client, body: bytes) -> None:
    for path in PATHS:
        answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422
        assert "send a JSON object" in answer.text, (path, answer.text)
        assert "Question" not in answer.text


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_a_body_that_is_not_called_json(client: httpx.Client, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    answer = client.post("/api/v1/translate", content=b'{"text": "a"}', headers=headers)
    assert answer.status_code == 422
    assert answer.json()["error"].endswith("send it with Content-Type: application/json")


def test_of_a_wrong_value_one_thing_is_said(client: httpx.Client) -> None:
    answer = client.post("/translate", json={"q": 5, "source": "en", "target": "de"})
    assert answer.json()["error"] == "q: input should be a valid string"


def test_a_form_that_cannot_be_read(client: httpx.Client) -> None:
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = client.post("/translate", content=b"--y\r\n\r\nq", headers=headers)
    assert (answer.status_code, answer.json()) == (
        400,
        {"error": "the body is neither JSON nor a form that can be read", "code": "body"},
    )


@pytest.mark.parametrize("sent", [b"FOO /\r\n\r\n", b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n"])
def test_what_is_no_http(client: httpx.Client, sent: bytes) -> None:
    with socket.create_connection((client.base_url.host, client.base_url.port or 80)) as line:
        line.settimeout(20)
        line.sendall(sent)
        head, _, body = line.makefile("rb").read().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/json" in head
    assert json.loads(body)["error"].startswith("this is no HTTP request that can be read")


@pytest.mark.parametrize("begins", [b"GET /", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: "])
def test_a_head_that_does_not_end(client: httpx.Client, begins: bytes) -> None:
    with socket.create_connection((client.base_url.host, client.base_url.port or 80)) as line:
        line.settimeout(20)
        said = b""
        line.sendall(begins)
        with suppress(ConnectionError):
            for _ in range(64):  # a megabyte, were it read
                line.sendall(b"a" * 16_384)
        with suppress(ConnectionError):
            said = line.recv(100)
    assert said == b"" or said.startswith(b"HTTP/1.1 400 ")
    assert client.get("/health").status_code == 200


def test_texts_that_are_strange_but_text(client: httpx.Client) -> None:
    strange = ["\u0000", "\u202e abc", "🙂" * 9, " ", "\n", "a\u0301" * 9, "﷽" * 9, "\ufeff"]
    for model in ("zh-en", "copy"):
        answer = client.post("/api/v1/translate", json={"text": strange, "model": model})
        assert answer.status_code == 200
        assert len(answer.json()["translations"]) == len(strange)


def test_the_description_of_the_api_says_what_there_is(client: httpx.Client) -> None:
    said = client.get("/openapi.json").json()
    assert set(PATHS) | {"/health", "/languages", "/v1/models", "/metrics"} <= set(said["paths"])
    assert said["info"]["title"] == "Regard"
