"""The contract: every route declares what it answers, and answers what it declares."""

import json
import runpy
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, get_args, get_type_hints

import httpx
import jsonschema
import numpy as np
import pytest
import torch

from regard.config import NETWORKS, read_recipe
from regard.folder import save
from regard.inspection.trace import Trace, TracedPicture
from regard.inspection.trace.schema import TraceDocument
from regard.lessons.explanation import explain_lecture, explain_masks, explain_scores
from regard.serving import Settings, open_models
from regard.serving.application import RECORDED, openapi
from regard.serving.routes.use import UseResult
from regard.systems import Result, build, load_system
from regard.text import Words
from tests.unit.serving.conftest import Live, living

ROOT = Path(__file__).parents[3]
WORDS = Words(["once", "there", "was", "a", "cat", "."])
SIZES = [
    *("model.d_model=12", "model.n_heads=3", "model.d_feedforward=20", "model.n_layers=1"),
    "model.dropout=0",
]
BYTES = {"type": "string", "format": "binary"}
SIGHT = {"source": "once there", "target": "a cat"}
# Every route, as it is asked; a model has the name of what it does.
ASKED: dict[str, dict[str, Any]] = {
    "GET /api/v1/info": {},
    "POST /api/v1/use": {"json": {"model": "de-en", "inputs": ["once there", ""]}},
    "POST /api/v1/translate": {"json": {"text": ["once", "a cat"], "alignments": True}},
    "POST /api/v1/translate/stream": {"json": {"text": ["once", "a cat"]}},
    "POST /api/v1/trace": {"json": SIGHT},
    "POST /api/v1/arithmetic": {"json": SIGHT},
    "POST /api/v1/vectors": {"json": SIGHT},
    "POST /api/v1/heads": {"json": SIGHT},
    "POST /api/v1/ablate": {"json": {**SIGHT, "heads": ["cross.0"]}},
    "POST /api/v1/export": {"json": SIGHT},
    "POST /api/v1/explain/positions": {"json": {"length": 3, "width": 4}},
    "POST /api/v1/explain/masks": {"json": {"masks": ["causal", "window"], "seed": 2}},
    "POST /api/v1/explain/norms": {"json": {"table": [[1, 2], [3, 5.5], [0, 1]]}},
    "POST /api/v1/explain/scores": {"json": {"query": [0.1, -2, 0, 1]}},
    "POST /api/v1/generate": {"json": {"model": "write", "prompt": "once", "max_tokens": 3}},
    "POST /api/v1/generate/trace": {"json": {"model": "write", "prompt": "once", "tokens": [5]}},
    "POST /api/v1/fill": {"json": {"model": "fill", "text": "once [MASK] was"}},
    "GET /api/v1/runs": {},
    "GET /api/v1/runs/curves": {"params": {"run": "de-en"}},
    "POST /api/v1/runs/moment": {"json": {"run": "de-en", "source": "once there"}},
    "POST /translate": {"json": {"q": ["once"], "source": "auto", "target": "en"}},
    "GET /languages": {},
    "POST /detect": {"json": {"q": "once"}},
    "GET /frontend/settings": {},
    "GET /v1/models": {},
    "GET /v1/models/{name}": {},
    "POST /v1/completions": {"json": {"model": "write", "prompt": "once", "max_tokens": 3}},
    "GET /health": {},
    "GET /metrics": {},
}
USED = {
    "write": ["once"],
    "fill": ["once [MASK] was"],
    "classify": ["once"],
    "tag": ["once there"],
}


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    return openapi()


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A service of one model of each kind, of which one is a run as well."""
    root = tmp_path_factory.mktemp("contract")
    labels = {"labels": ("no", "yes")}
    given: dict[str, tuple[str, dict[str, Any]]] = {
        "de-en": ("transformer-tiny", {}),
        "write": ("gpt-tiny", {}),
        "fill": ("bert-tiny", {}),
        "classify": ("bert-classify", labels),
        "tag": ("bert-tag", labels),
    }
    for name, (recipe_name, changes) in given.items():
        context = [] if name == "de-en" else ["model.context=16"]
        recipe = read_recipe(recipe_name, [*SIZES, *context])
        section = recipe.model.model_copy(update=changes)
        torch.manual_seed(4)
        recipe = recipe.model_copy(update={"model": section})
        save(root / name, build(section, len(WORDS), len(WORDS)), recipe, WORDS, WORDS)
    records = [
        {"event": "stepped", "update": 10, "epoch": 1, "loss": 4.0, "n_tokens": 300}
        | {"gradient_norm": 1.0, "learning_rate": 1e-3, "seconds": 5.0},
        {"event": "validated", "update": 10, "loss": 2.5, "perplexity": 12.2, "seconds": 9}
        | {"quality": {"bleu": 31.0, "chrf": 50.0}, "is_best": True},
    ]
    (root / "de-en" / "metrics.jsonl").write_text(
        "\n".join(map(json.dumps, records)) + "\n", "utf-8"
    )
    with living(
        open_models([str(root / name) for name in given], roots=[root]), Settings(port=0)
    ) as found:
        yield found


def answered(live: Live, route: str, **asked: Any) -> httpx.Response:
    method, path = route.split(" ")
    answer = httpx.request(
        method, f"{live.url}{path.replace('{name}', 'write')}", timeout=60, **asked
    )
    assert answer.status_code == 200, answer.text
    return answer


def content(described: dict[str, Any], route: str, kind: str) -> dict[str, Any]:
    """What is declared for a kind of content."""
    method, path = route.split(" ")
    found: dict[str, Any] = described["paths"][path][method.lower()]["responses"]["200"]["content"]
    return dict(found[kind])


def check(described: dict[str, Any], value: object, schema: dict[str, Any]) -> None:
    """Refuse what is not declared."""
    whole = {**schema, "components": described["components"]}
    jsonschema.Draft202012Validator(whole).validate(value)


def test_every_route_is_asked_here(described: dict[str, Any]) -> None:
    there = {
        f"{method.upper()} {path}"
        for path, operations in described["paths"].items()
        for method in operations
    }
    assert there == set(ASKED)


@pytest.mark.parametrize("route", ASKED)
def test_an_answer_is_as_declared(route: str, live: Live, described: dict[str, Any]) -> None:
    answer = answered(live, route, **ASKED[route])
    kind = answer.headers["content-type"].partition(";")[0]
    declared = content(described, route, kind)
    if kind == "application/json":
        check(described, answer.json(), declared["schema"])
    elif kind == "application/x-ndjson":
        events = [json.loads(line) for line in answer.text.splitlines()]
        assert len(events) >= 2
        for event in events:
            check(described, event, declared["itemSchema"])
    else:
        assert declared["schema"] in (BYTES, {"type": "string"})


@pytest.mark.parametrize("name", USED)
def test_a_result_is_as_declared(name: str, live: Live, described: dict[str, Any]) -> None:
    route = "POST /api/v1/use"
    answer = answered(live, route, json={"model": name, "inputs": USED[name]}).json()
    check(described, answer, content(described, route, "application/json")["schema"])


def test_what_every_system_gives_is_declared() -> None:
    """A new system says in the type of its ``use`` what it gives, and the service declares that."""
    declared = {Result, *get_args(UseResult)}  # a translator and its kin: tried above
    for system in {name for network in NETWORKS.values() for name in network.systems.values()}:
        given = get_type_hints(load_system(system).open.use)["return"]
        if given is not NoReturn:
            assert set(get_args(given)) <= declared, system
            assert Result not in get_args(given) or system in (
                "translation",
                "dialogue",
                "sequences",
            )


def test_a_stream_of_completions_is_as_declared(live: Live, described: dict[str, Any]) -> None:
    route = "POST /v1/completions"
    asked = {**ASKED[route]["json"], "stream": True, "stream_options": {"include_usage": True}}
    *lines, last = answered(live, route, json=asked).text.strip().split("\n\n")
    assert last == "data: [DONE]"
    for line in lines:
        event = json.loads(line.removeprefix("data: "))
        check(described, event, content(described, route, "application/json")["schema"])


def test_nothing_more_than_what_is_declared(live: Live, described: dict[str, Any]) -> None:
    """The checks above would notice a word that nobody declared, wherever it stood."""
    for route in ("POST /api/v1/trace", "POST /api/v1/translate"):
        answer = answered(live, route, **ASKED[route]).json()
        schema = content(described, route, "application/json")["schema"]
        inner = answer.get("provenance") or answer["translations"][0]["hypotheses"][0]
        for place in (answer, inner):
            place["undeclared"] = 1
            with pytest.raises(jsonschema.ValidationError, match="undeclared"):
                check(described, answer, schema)
            del place["undeclared"]
        check(described, answer, schema)


def _is_open(schema: Any) -> Iterator[str]:
    """Where a schema lets anything pass: objects of any fields, values of any kind."""
    if isinstance(schema, list):
        for one in schema:
            yield from _is_open(one)
    elif isinstance(schema, dict):
        says = {"$ref", "type", "anyOf", "oneOf", "const", "enum"} & set(schema)
        if not says:
            yield str(schema)
        if schema.get("type") == "object" and "properties" not in schema:
            yield from (
                _is_open(schema["additionalProperties"])
                if isinstance(schema.get("additionalProperties"), dict)
                else [str(schema)]
            )
        for key in ("items", "prefixItems", "anyOf", "oneOf"):
            yield from _is_open(schema.get(key, []))
        for one in schema.get("properties", {}).values():
            yield from _is_open(one)


def test_no_answer_is_anything_at_all(described: dict[str, Any]) -> None:
    for route in ASKED:
        method, path = route.split(" ")
        said = described["paths"][path][method.lower()]["responses"]["200"]
        for kind, one in said["content"].items():
            assert not list(_is_open(one["schema"])), (route, kind)
    for name, one in described["components"]["schemas"].items():
        assert not list(_is_open(one)), name
        if not name.endswith(("Question", "Options")):
            assert one.get("additionalProperties") is False, name


def test_a_trace_of_a_picture_is_as_declared(tmp_path: Path, picture_trace: Trace) -> None:
    said = json.loads(picture_trace.to_json())
    found = TraceDocument.model_validate(said)
    assert found.picture is not None
    assert found.picture.grid == (2, 3)
    assert found.format == 2
    jsonschema.Draft202012Validator(TraceDocument.model_json_schema()).validate(said)
    del said["picture"]["png"]
    with pytest.raises(ValueError, match="png"):
        TraceDocument.model_validate(said)


@pytest.fixture
def picture_trace(live: Live, tmp_path: Path) -> Trace:
    """A trace whose source is a picture of six cells."""
    asked = {**SIGHT, "format": "safetensors"}
    place = tmp_path / "text.trace"
    place.write_bytes(answered(live, "POST /api/v1/trace", json=asked).content)
    seen = Trace.open(place)
    pixels = np.arange(6 * 9 * 3, dtype=np.uint8).reshape(6, 9, 3)
    steps = len(seen.target.tokens)
    site = seen.site("cross", 0)
    weights = np.full((site.n_heads, steps, 6), 1 / 6, dtype=np.float32)
    return replace(
        seen,
        source=TracedPicture(pixels, (2, 3), "a cat"),
        sites=(replace(site, weights=weights),),
    )


def test_the_contract_of_the_page_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "studio"))
    made = runpy.run_path(str(ROOT / "studio" / "contract.py"))
    assert made["PLACE"].read_text("utf-8") == made["written"](), "run: python studio/contract.py"


def test_what_was_recorded_is_as_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "studio"))
    declared = runpy.run_path(str(ROOT / "studio" / "recorded.py"))
    files = sorted(RECORDED.glob("canned.*.json"))
    assert len(files) >= 6
    for file in files:
        kinds = {"canned.training": "RecordedTraining", "canned.blocks": "RecordedBlocks"}
        kind = kinds.get(file.stem, "RecordedSentence")
        declared[kind].model_validate_json(file.read_bytes())


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same, their numbers nearly."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == pytest.approx(other, abs=1e-3)) if isinstance(one, float) else one == other


def test_recorded_blocks_are_those_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "studio"))
    made = runpy.run_path(str(ROOT / "studio" / "canned_blocks.py"))
    for name, recorded in (("PLACE", "blocks"), ("LECTURE", "lecture")):
        kept = json.loads(made[name].read_text("utf-8"))
        assert same(kept, json.loads(made["written"](made[recorded]())))
    assert kept["vectors"]["sums"] == [[[112, 96], [88, 120]]]  # as the lectures print them
    assert kept["vectors"]["divisor"] == 8


def test_a_saved_lesson_is_as_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "studio"))
    declared = runpy.run_path(str(ROOT / "studio" / "recorded.py"))["SavedLesson"]
    schema = declared.model_json_schema(mode="serialization")
    for lesson in (explain_masks(), explain_scores(), explain_lecture()):
        said = json.loads(json.dumps(lesson.to_lesson(), allow_nan=False))
        jsonschema.Draft202012Validator(schema).validate(said)
