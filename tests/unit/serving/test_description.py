"""/openapi.json says how a key is sent and what a refusal looks like."""

import asyncio
from typing import Any

import httpx
import pytest
import schemathesis

from regard.serving import Catalogue, Settings, create_app

BOTH = [{"bearer": []}, {"header": []}]


def asked(keys: frozenset[str], path: str, method: str = "GET", **more: Any) -> httpx.Response:
    """One request to a service without models."""

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(Catalogue(), Settings(keys=keys)))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(method, path, **more)

    return asyncio.run(ask())


@pytest.fixture(scope="module")
def keyed() -> dict[str, Any]:
    """The description of a service that needs a key."""
    said: dict[str, Any] = asked(frozenset({"one"}), "/openapi.json").json()
    return said


def test_the_ways_to_send_a_key(keyed: dict[str, Any]) -> None:
    schemes = keyed["components"]["securitySchemes"]
    assert (schemes["bearer"]["type"], schemes["bearer"]["scheme"]) == ("http", "bearer")
    assert (schemes["header"]["type"], schemes["header"]["name"]) == ("apiKey", "X-API-Key")


@pytest.mark.parametrize(
    ("path", "method", "security"),
    [
        ("/api/v1/translate", "post", BOTH),
        ("/v1/completions", "post", BOTH),
        ("/metrics", "get", BOTH),
        ("/translate", "post", [*BOTH, {}]),  # the key may be in the body
        ("/health", "get", None),
        ("/languages", "get", None),
    ],
)
def test_where_a_key_is_needed(
    keyed: dict[str, Any], path: str, method: str, security: list[dict[str, Any]] | None
) -> None:
    assert keyed["paths"][path][method].get("security") == security


def test_without_keys_none_is_asked_for() -> None:
    said = asked(frozenset(), "/openapi.json").json()
    operations = [one for path in said["paths"].values() for one in path.values()]
    assert all("security" not in one for one in operations)
    assert "bearer" in said["components"]["securitySchemes"]


@pytest.mark.parametrize(
    ("path", "method", "keys", "status"),
    [
        ("/v1/models", "GET", {"one"}, 401),
        ("/v1/completions", "POST", set(), 422),
        ("/v1/models/{name}", "GET", set(), 404),
        ("/v1/completions", "GET", set(), 405),
        ("/api/v1/translate", "POST", {"one"}, 401),
        ("/api/v1/translate", "POST", set(), 422),
        ("/api/v1/translate", "GET", set(), 405),
        ("/metrics", "GET", {"one"}, 401),
    ],
)
def test_a_refusal_is_as_described(path: str, method: str, keys: set[str], status: int) -> None:
    described = asked(frozenset(keys), "/openapi.json").json()
    answer = asked(frozenset(keys), path, method)
    assert answer.status_code == status
    operation = "post" if "post" in described["paths"][path] else "get"
    api = schemathesis.openapi.from_dict(described)
    api[path][operation].validate_response(answer)
    assert isinstance(answer.json()["error"], dict if path.startswith("/v1/") else str)
    if status == 405:
        assert answer.headers["allow"] == operation.upper()
