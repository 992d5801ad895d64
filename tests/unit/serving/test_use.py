"""One route for every model: the results are those of the library, whatever the model does."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import torch
from PIL import Image

from regard.config import read_recipe
from regard.folder import save
from regard.serving import Bounds, Settings, open_models
from regard.systems import build, open_model
from regard.text import Words
from tests.unit.serving.conftest import living

WORDS = Words(["once", "there", "was", "a", "cat", "."])
SIZES = [
    "model.d_model=12",
    "model.n_heads=3",
    "model.d_feedforward=20",
    "model.n_layers=1",
    "model.dropout=0",
]
INPUTS: dict[str, list[Any]] = {
    "de-en": ["once there", "", "a cat ."],
    "story": ["once there was", ""],
    "gaps": ["once [MASK] was a [MASK]"],
    "kinds": ["once there", "a cat"],
    "both": [["once", "a cat"], ["there", "."]],
    "tags": ["once there was a cat"],
}
DOES = {
    "de-en": "translate",
    "story": "write",
    "gaps": "fill",
    "kinds": "classify",
    "both": "classify",
    "tags": "tag",
}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {}
    labels = {"labels": ("no", "yes")}
    for name, recipe_name, changes in (
        ("de-en", "transformer-tiny", {}),
        ("story", "gpt-tiny", {}),
        ("gaps", "bert-tiny", {}),
        ("kinds", "bert-classify", labels),
        ("both", "bert-classify", {**labels, "n_texts": 2}),
        ("tags", "bert-tag", labels),
    ):
        context = [] if name == "de-en" else ["model.context=16"]
        recipe = read_recipe(recipe_name, [*SIZES, *context])
        section = recipe.model.model_copy(update=changes)
        torch.manual_seed(4)
        model = build(section, len(WORDS), len(WORDS))
        place = tmp_path_factory.mktemp("use") / name
        recipe = recipe.model_copy(update={"model": section})
        found[name] = save(place, model, recipe, WORDS, WORDS)
    return found


@pytest.fixture(scope="module")
def client(places: dict[str, Path]) -> Iterator[httpx.Client]:
    settings = Settings(port=0, bounds=Bounds(tokens=20, sentences=20))
    with (
        living(open_models([str(place) for place in places.values()]), settings) as live,
        httpx.Client(base_url=f"{live.url}/api/v1", timeout=30) as client,
    ):
        yield client


def test_every_model_is_listed(client: httpx.Client) -> None:
    models = client.get("/info").json()["models"]
    assert {one["name"]: one["does"] for one in models} == DOES


@pytest.mark.parametrize("name", INPUTS)
def test_results_are_those_of_the_library(
    client: httpx.Client, places: dict[str, Path], name: str
) -> None:
    said = client.post("/use", json={"model": name, "inputs": INPUTS[name]}).json()
    assert (said["model"], said["does"]) == (name, DOES[name])
    inputs = [one if isinstance(one, str) else tuple(one) for one in INPUTS[name]]
    expected = open_model(places[name]).use(inputs)
    assert len(said["results"]) == len(expected)
    for one, other in zip(said["results"], expected, strict=True):
        plain = other.to_dict()
        assert one.keys() == plain.keys()
        for key in one.keys() & {"text", "label", "tokens"}:
            assert one[key] == (list(plain[key]) if key == "tokens" else plain[key])


def test_many_inputs_come_in_order(client: httpx.Client) -> None:
    inputs = ["once", "there", "was", "a", "cat"] * 4
    said = client.post("/use", json={"model": "tags", "inputs": inputs}).json()
    assert [one["words"][0]["word"] for one in said["results"]] == inputs


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        ({"model": "x", "inputs": ["a"]}, 404, "there is no model 'x' that can be used: choose"),
        ({"inputs": []}, 422, "inputs: list should have at least 1 item"),
        ({"inputs": ["a"] * 21}, 413, "21 sentences are too many for one request"),
        ({"inputs": ["a", "a " * 21]}, 413, "input 1 has 21 tokens, and 20 are allowed here"),
        ({"inputs": ["a " * 10_001]}, 413, "20,002 characters are too many"),
        ({"model": "gaps", "inputs": ["a cat"]}, 400, "there is nothing to find"),
        ({"model": "both", "inputs": ["a"]}, 400, "input 0 has 1 parts, and both reads 2 together"),
        ({"inputs": ["a", ["a", "cat"]]}, 400, "input 1 has 2 parts, and de-en reads 1 together"),
        ({"inputs": ["a"], "beam": 3}, 422, "beam"),
    ],
)
def test_refusals(client: httpx.Client, body: dict[str, Any], status: int, sentence: str) -> None:
    answer = client.post("/use", json=body)
    assert answer.status_code == status, answer.text
    assert sentence in answer.json()["error"]


def test_attention_that_is_not_shown_is_not_looked_at(client: httpx.Client) -> None:
    answer = client.post("/heads", json={"model": "kinds", "source": "a cat"})
    assert answer.status_code == 404
    assert "there is no model 'kinds' that can be looked into" in answer.json()["error"]


def test_pictures_come_in_base64_and_never_as_a_path(tmp_path: Path) -> None:
    sizes = ["model.channels=[4, 4, 8]", "model.d_hidden=6", "model.d_embedding=5"]
    recipe = read_recipe("caption-soft", [*sizes, "model.dropout=0"])
    model = build(recipe.model, len(WORDS), len(WORDS))
    place = save(tmp_path / "views", model, recipe, WORDS, WORDS)
    picture = tmp_path / "noise.png"
    noise = np.random.default_rng(1).integers(0, 256, (90, 70, 3), dtype=np.uint8)
    Image.fromarray(noise).save(picture)
    sent = base64.b64encode(picture.read_bytes()).decode()
    assert len(sent) > 20_000  # the bounds of characters are for texts
    with (
        living(open_models([str(place)])) as live,
        httpx.Client(base_url=f"{live.url}/api/v1", timeout=30) as client,
    ):
        found = client.post("/use", json={"inputs": [sent]}).json()
        told = client.get("/info").json()
        seen = client.post("/heads", json={"source": sent})
        for path, body in (("/use", {"inputs": [str(picture)]}), ("/trace", {"source": "abc"})):
            refused = client.post(path, json=body)
            assert (refused.status_code, refused.json()["code"]) == (400, "picture")
    assert found["does"] == "caption"
    assert told["models"][0]["reads"] == "pictures"
    assert [one["text"] for one in found["results"]] == [open_model(place).use([picture])[0].text]
    assert seen.status_code == 200, seen.text
