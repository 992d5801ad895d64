"""What /openapi.json says of keys: how one is sent, and where it is needed."""

from typing import Any

from fastapi import FastAPI

from regard.serving.guard import KEY_IN_BODY, KEYED

SCHEMES: dict[str, dict[str, str]] = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "Authorization: Bearer KEY, with a key of `regard serve --api-key KEY`.",
    },
    "header": {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "The same key in a header of its own.",
    },
}


def describe_keys(app: FastAPI, *, are_needed: bool) -> None:
    """Add the ways to send a key; and to what needs one that it does, if anything does here."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is not None:
            return app.openapi_schema
        schema = plain()
        schema.setdefault("components", {})["securitySchemes"] = SCHEMES
        for path, operations in schema["paths"].items():
            if are_needed and path.startswith(KEYED):
                for operation in operations.values():
                    operation["security"] = _needed(path)
        return schema

    app.openapi = described  # type: ignore[method-assign]


def _needed(path: str) -> list[dict[str, list[str]]]:
    """Either of the ways; and none of them where the body may hold the key."""
    either: list[dict[str, list[str]]] = [{name: []} for name in SCHEMES]
    return [*either, {}] if path in KEY_IN_BODY else either
