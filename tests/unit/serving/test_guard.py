"""Who may ask: names, pages, keys, sizes; and what every answer carries."""

import asyncio
import json
import logging
import re
from collections.abc import Iterator

import httpx
import pytest

from regard.serving import Bounds, Catalogue, Settings, create_app
from regard.serving.logs import Lines
from tests.unit.serving.conftest import Live, copier, living


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    settings = Settings(
        port=0,
        origins=("http://page.example",),
        names=("box.example",),
        bounds=Bounds(body=2000),
    )
    with living(Catalogue((copier(),)), settings) as live:
        yield live


@pytest.mark.parametrize(
    ("host", "is_let"),
    [
        ("localhost:1", True),
        ("127.0.0.1", True),
        ("[::1]:80", True),
        ("10.1.2.3:5000", True),  # an address cannot be made to point elsewhere
        ("box.example", True),
        ("BOX.example:80", True),
        ("evil.example", False),
        ("localhost.evil.example", False),
        ("evil.example/localhost", False),
        ("a@localhost", False),
        ("", False),
        ("[", False),
    ],
)
def test_names(live: Live, host: str, is_let: bool) -> None:
    answer = httpx.get(f"{live.url}/health", headers={"Host": host})
    assert (answer.status_code == 200) is is_let
    if not is_let:
        assert answer.status_code in (400, 403)


@pytest.mark.parametrize(
    ("headers", "is_let"),
    [
        ({"Origin": "SELF"}, True),
        ({"Origin": "http://page.example"}, True),
        ({"Origin": "http://evil.example"}, False),
        ({"Origin": "https://page.example"}, False),
        ({"Origin": "null"}, False),
        ({"Origin": "http://[bad"}, False),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, False),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, True),
        ({"Sec-Fetch-Site": "same-origin"}, True),
    ],
)
def test_pages(live: Live, headers: dict[str, str], is_let: bool) -> None:
    sent = {name: live.url if value == "SELF" else value for name, value in headers.items()}
    answer = httpx.get(f"{live.url}/health", headers=sent)
    assert answer.status_code == (200 if is_let else 403)
    allowed = answer.headers.get("access-control-allow-origin")
    assert allowed == ("http://page.example" if "http://page.example" in sent.values() else None)


def test_a_page_that_was_named_may_ask_first(live: Live) -> None:
    headers = {"Origin": "http://page.example", "Access-Control-Request-Method": "POST"}
    answer = httpx.options(f"{live.url}/api/v1/translate", headers=headers)
    assert answer.status_code == 204
    assert answer.headers.get_list("access-control-allow-origin") == ["http://page.example"]
    assert "Authorization" in answer.headers["access-control-allow-headers"]


def test_a_page_that_was_named_can_read_why_it_was_refused() -> None:
    settings = Settings(keys=frozenset({"one"}), origins=("http://page.example",))
    app = create_app(Catalogue(), settings)

    async def asked(origin: str, **more: str) -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            headers = {"Origin": origin, **more}
            return await client.get("/api/v1/info", headers=headers)

    for refused, status in (
        (asyncio.run(asked("http://page.example")), 401),
        (asyncio.run(asked("http://page.example", Host="evil.example")), 403),
    ):
        assert refused.status_code == status
        assert refused.headers.get_list("access-control-allow-origin") == ["http://page.example"]
        assert refused.headers["vary"] == "Origin"
    other = asyncio.run(asked("http://other.example"))
    assert other.status_code == 403
    assert "access-control-allow-origin" not in other.headers


def test_bodies_that_are_too_large(live: Live) -> None:
    url = f"{live.url}/api/v1/translate"
    for content in (b"x" * 2001, iter([b"x" * 1500, b"x" * 1500])):
        answer = httpx.post(url, content=content)
        assert answer.status_code == 413
        assert answer.json() == {
            "error": "the body is too large: send up to 2,000 bytes",
            "code": "too-large",
        }


def test_what_every_answer_carries(live: Live) -> None:
    for path in ("/", "/health", "/nothing"):
        headers = httpx.get(f"{live.url}{path}").headers
        assert headers["content-security-policy"].startswith("default-src 'self';")
        assert headers["x-content-type-options"] == "nosniff"
        assert len(headers["x-request-id"]) == 32
        assert "server" not in headers


def test_the_page_fetches_nothing_from_elsewhere(live: Live) -> None:
    page = httpx.get(f"{live.url}/")
    assert page.headers["content-type"].startswith("text/html")
    assert "<title>Regard</title>" in page.text
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", page.text)
    assert httpx.get(f"{live.url}/docs").status_code == 404
    assert httpx.get(f"{live.url}/%2e%2e/settings.py").status_code == 404
    assert httpx.post(f"{live.url}/v1/chat/completions", json={}).status_code == 404
    assert httpx.get(f"{live.url}/api/v1/translate").status_code == 405


@pytest.mark.parametrize(
    ("headers", "is_let"),
    [
        ({}, False),
        ({"Authorization": "Bearer one"}, True),
        ({"Authorization": "bearer two"}, True),
        ({"X-API-Key": "two"}, True),
        ({"X-API-Key": "three"}, False),
        ({"Authorization": "Basic one"}, False),
        ({"X-API-Key": "öne".encode("latin-1")}, False),
    ],
)
def test_keys(headers: dict[str, str], is_let: bool) -> None:
    settings = Settings(keys=frozenset({"one", "two"}))
    app = create_app(Catalogue(), settings)

    async def asked(path: str) -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get(path, headers=headers)

    for path in ("/api/v1/info", "/v1/models", "/metrics"):
        answer = asyncio.run(asked(path))
        assert answer.status_code == (200 if is_let else 401), path
        if not is_let:
            assert answer.headers["www-authenticate"] == "Bearer"
    for path in ("/health", "/", "/openapi.json", "/languages"):
        assert asyncio.run(asked(path)).status_code == 200


def test_logs_are_json_and_hold_no_text(live: Live) -> None:
    lines: list[str] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(Lines().format(record))

    logger, handler = logging.getLogger("regard.serving"), Keeping()
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        httpx.post(f"{live.url}/api/v1/translate", json={"text": "secretword"})
        httpx.get(f"{live.url}/secretword?q=secretword")
        httpx.post(f"{live.url}/api/v1/translate", json={"text": "a", "secretword": 1})
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    said = [json.loads(line) for line in lines]
    assert [(one["route"], one["status"]) for one in said] == [
        ("/api/v1/translate", 200),
        ("other", 404),
        ("/api/v1/translate", 422),
    ]
    assert all(one["event"] == "request" and one["ms"] >= 0 for one in said)
    assert "secretword" not in "".join(lines)


def test_metrics(live: Live) -> None:
    httpx.post(f"{live.url}/api/v1/translate", json={"text": ["a", "b"]})
    answer = httpx.get(f"{live.url}/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    line = 'regard_requests_total{method="POST",route="/api/v1/translate",status="200"}'
    assert line in answer.text
    assert "regard_queue_sentences 0.0" in answer.text
    assert "regard_batch_sentences_bucket" in answer.text
