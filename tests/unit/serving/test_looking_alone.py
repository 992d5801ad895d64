"""Looking into served models of one text: a decoder alone, and an encoder alone."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch

from regard.config import read_recipe
from regard.folder import save
from regard.inspection.trace import Trace
from regard.serving import open_models
from regard.systems import build, open_model, trace
from regard.text import Words
from tests.unit.serving.conftest import living

WORDS = Words(["once", "there", "was", "a", "cat", "猫", "."])
SIZES = ["model.n_layers=2", "model.d_model=12", "model.n_heads=3", "model.d_feedforward=20"]
ASKED: dict[str, dict[str, Any]] = {
    "story": {"model": "story", "source": "once there was", "new": 4},
    "gaps": {"model": "gaps", "source": "once [MASK] was a [MASK] 猫"},
}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {}
    for name, kind in (("story", "gpt"), ("gaps", "bert")):
        recipe = read_recipe(f"{kind}-tiny", [*SIZES, "model.context=16"])
        torch.manual_seed(4)
        model = build(recipe.model, len(WORDS), len(WORDS))
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(2)
        found[name] = save(tmp_path_factory.mktemp("alone") / name, model, recipe, WORDS, WORDS)
    return found


@pytest.fixture(scope="module")
def client(places: dict[str, Path]) -> Iterator[httpx.Client]:
    with (
        living(open_models([str(place) for place in places.values()])) as live,
        httpx.Client(base_url=f"{live.url}/api/v1", timeout=30) as client,
    ):
        yield client


def expected(places: dict[str, Path], name: str) -> Trace:
    return trace(places[name], ASKED[name]["source"], n_new=ASKED[name].get("new"))


def test_info(client: httpx.Client) -> None:
    models = client.get("/info").json()["models"]
    assert [(one["name"], one["does"], one["heads"]) for one in models] == [
        ("story", "write", {"decoder": [3, 3]}),
        ("gaps", "fill", {"encoder": [3, 3]}),
    ]


@pytest.mark.parametrize("name", ["story", "gaps"])
def test_traces(client: httpx.Client, places: dict[str, Path], tmp_path: Path, name: str) -> None:
    found = expected(places, name)
    assert client.post("/trace", json=ASKED[name]).json() == json.loads(found.to_json())
    asked = {**ASKED[name], "format": "safetensors"}
    (tmp_path / "whole.trace").write_bytes(client.post("/trace", json=asked).content)
    assert Trace.open(tmp_path / "whole.trace").target == found.target
    again = client.post("/trace", json={**asked, "precision": "float16"}).content
    assert found.does.encode() in again


def test_what_was_written_can_be_looked_at(client: httpx.Client, places: dict[str, Path]) -> None:
    asked = {"model": "story", "source": "once there", "target": " was a cat"}
    said = client.post("/trace", json=asked).json()
    assert (said["does"], said["target"]["text"]) == ("write", "once there was a cat")
    assert said["target"]["first"]["text"] == "once"
    assert [token["text"] for token in said["target"]["tokens"]] == ["there", "was", "a", "cat"]
    assert len(said["source"]["tokens"]) == 2
    assert trace(places["story"], "once there", " was a cat").steps[-1].log_probability == (
        pytest.approx(said["steps"][-1]["log_probability"], abs=1e-4)
    )
    begun = client.post("/trace", json={"model": "story", "source": ""})
    assert begun.json()["source"]["tokens"][0]["text"] == "<s>"


@pytest.mark.parametrize("name", ["story", "gaps"])
def test_a_cell_and_the_heads(client: httpx.Client, places: dict[str, Path], name: str) -> None:
    seen = expected(places, name)
    cell = {"layer": 1, "head": 2, "row": 2, "column": 1}
    said = client.post("/arithmetic", json={**ASKED[name], **cell}).json()
    site = seen.site(seen.usual_site, 1)
    assert said["site"] == site.kind
    assert said["weights"] == pytest.approx(site.weights[2, 2].tolist(), abs=1e-5)
    assert said["score"] == pytest.approx(sum(said["products"]) / said["divisor"], abs=1e-4)
    assert said["row_token"] == ("was" if name == "story" else "[MASK]")
    heads = client.post("/heads", json=ASKED[name]).json()["heads"]
    assert [(one["kind"], one["layer"]) for one in heads][::3] == [(site.kind, 0), (site.kind, 1)]


@pytest.mark.parametrize("name", ["story", "gaps"])
def test_switched_off_heads(client: httpx.Client, places: dict[str, Path], name: str) -> None:
    head = "decoder.0" if name == "story" else "encoder.0"
    said = client.post("/ablate", json={**ASKED[name], "heads": [head]}).json()
    opened = open_model(places[name])
    found = opened.ablate(ASKED[name]["source"], head, n_new=ASKED[name].get("new"))
    assert (said["before"], said["after"]) == (found.before.text, found.after.text)
    assert said["changes"] == pytest.approx(list(found.changes), abs=1e-4)
    assert said["tokens"] == list(found.scored_before.pieces)


def test_pictures(client: httpx.Client) -> None:
    answer = client.post("/export", json={**ASKED["story"], "view": {"form": "matrix"}})
    assert b"Decoder self-attention" in answer.content
    answer = client.post("/export", json={**ASKED["gaps"], "view": {"form": "strip"}})
    assert b"The words that were missing" in answer.content
    answer = client.post("/export", json={**ASKED["gaps"], "view": {"form": "alignment"}})
    assert answer.status_code == 400
    assert "has one text alone: choose lines, matrix, grid or strip" in answer.json()["error"]


@pytest.mark.parametrize(
    ("asked", "status", "sentence"),
    [
        ({"model": "story", "source": "once", "new": 129}, 413, "129 new tokens are too many here"),
        ({"model": "story", "source": "once", "new": 17}, 400, "17 new tokens cannot be looked"),
        ({"model": "gaps", "source": "once", "new": 2}, 400, "new tokens are counted where"),
        ({"model": "gaps", "source": " "}, 400, "there is nothing to look at"),
        ({"model": "story", "source": "once", "target": ""}, 400, "the target is empty"),
        (
            {"model": "other", "source": "once"},
            404,
            "there is no model 'other' that can be looked into: choose one of story, gaps",
        ),
    ],
    ids=["many", "beyond", "gaps", "empty", "nothing", "unknown"],
)
def test_refusals(client: httpx.Client, asked: dict[str, Any], status: int, sentence: str) -> None:
    answer = client.post("/trace", json=asked)
    assert answer.status_code == status
    assert answer.json()["error"].startswith(sentence)
