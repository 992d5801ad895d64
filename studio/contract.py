"""The contract between library, service and page, as one JSON Schema.

    $ python studio/contract.py

Everything is declared in Python, as pydantic models: the service's questions and answers, a trace
as a file and as JSON, and what the scripts here record for the page. This writes their schemas to
contract.json, of which `npm run build` makes the page's types.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic.json_schema import models_json_schema
from recorded import (
    RecordedBlocks,
    RecordedLecture,
    RecordedSentence,
    RecordedTraining,
    SavedLesson,
)

from regard.inspection.trace.schema import TraceHeader
from regard.serving.application import openapi

PLACE = Path(__file__).with_name("contract.json")
RECORDED = (RecordedSentence, RecordedTraining, RecordedBlocks, RecordedLecture, SavedLesson)
_OF_API, _HERE = "#/components/schemas/", "#/$defs/"


def contract() -> dict[str, Any]:
    """Its root is an object of routes; what they ask and answer are its definitions."""
    described = openapi()
    _, others = models_json_schema(
        [(model, "serialization") for model in (TraceHeader, *RECORDED)],
        ref_template=f"{_HERE}{{model}}",
    )
    definitions = {**described["components"]["schemas"], **others["$defs"]}
    routes = {name: _exchange(route) for name, route in _routes(described)}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Routes",
        "description": "What each route is asked, and what it answers.",
        "type": "object",
        "additionalProperties": False,
        "required": sorted(routes),
        "properties": {name: routes[name] for name in sorted(routes)},
        "$defs": {name: _bare(definitions[name]) for name in sorted(definitions)},
    }
    found: dict[str, Any] = json.loads(json.dumps(schema).replace(_OF_API, _HERE))
    return found


def _routes(described: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            yield f"{method.upper()} {path}", operation


def _exchange(route: dict[str, Any]) -> dict[str, Any]:
    """The JSON of a question and its answer; of a stream, that of one line."""
    said = route["responses"]["200"]["content"]
    found = {"question": route.get("requestBody", {}).get("content", {}).get("application/json")}
    found["answer"] = next(
        (one for kind, one in said.items() if kind in ("application/json", "application/x-ndjson")),
        None,
    )
    schemas = {
        name: _bare(one.get("itemSchema", one["schema"])) for name, one in found.items() if one
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "required": sorted(schemas),
        "properties": schemas,
    }


def _bare(schema: Any) -> Any:
    """A schema without the titles that pydantic makes of names."""
    if isinstance(schema, list):
        return [_bare(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _bare(one) for name, one in value.items()}
        if key == "properties"  # whose names may be "title" too
        else _bare(value)
        for key, value in schema.items()
        if key != "title"
    }


def written() -> str:
    """The content of contract.json."""
    return json.dumps(contract(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    PLACE.write_text(written(), "utf-8")
