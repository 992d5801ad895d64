"""Our own API: its numbers are those of the library."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
from safetensors import safe_open

from regard.decoding import Search
from regard.inspection.trace import Trace
from regard.systems import Translator, load, trace
from tests.unit.serving.conftest import Live

SOURCES = ["ein Hund sieht", "im", ""]


@pytest.fixture(scope="module")
def client(real: Live) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{real.url}/api/v1", timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def translator(folder: Callable[..., Path]) -> Translator:
    return Translator.open(folder())  # the same seed as that of the server


def test_info(client: httpx.Client, folder: Callable[..., Path]) -> None:
    said = client.get("/info").json()
    (model,) = said["models"]
    assert model["name"] == "de-en"
    assert (model["source_language"], model["target_language"]) == ("de", "en")
    assert model["heads"] == {"encoder": [3, 3], "decoder": [3, 3, 3], "cross": [3, 3, 3]}
    assert model["parameters"] == load(folder()).model.n_parameters  # what is served is frozen
    assert (said["limits"]["sentences"], said["limits"]["seconds"]) == (128, 30.0)
    assert isinstance(said["limits"]["sentences"], int)


def test_translations_are_those_of_the_library(
    client: httpx.Client, translator: Translator
) -> None:
    options = {"beam": 2, "alpha": 0.5, "n_best": 2}
    said = client.post("/translate", json={"text": SOURCES, "alignments": True, **options}).json()
    found = list(translator.translate_each(SOURCES, Search(width=2, alpha=0.5, n_best=2)))
    assert said["model"] == "de-en"
    for one, expected in zip(said["translations"], found, strict=True):
        assert [h["text"] for h in one["hypotheses"]] == [e.text for e in expected]
        for hypothesis, other in zip(one["hypotheses"], expected, strict=True):
            assert hypothesis["score"] == pytest.approx(other.score, abs=1e-6)
            assert hypothesis["tokens"] == list(other.pieces)
    aligned = said["translations"][0]["hypotheses"][1]["alignment"]
    expected_alignment = translator.align(SOURCES[0], found[0][1].text)
    assert aligned["links"] == [list(link) for link in expected_alignment.links]
    assert aligned["matrix"][0] == pytest.approx(expected_alignment.matrix[0], abs=1e-6)


@pytest.mark.parametrize("beam", [1, 2])
def test_a_stream_tells_tokens_as_they_come(client: httpx.Client, beam: int) -> None:
    body = {"text": SOURCES[:2], "beam": beam}
    answer = client.post("/translate/stream", json=body)
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    events = [json.loads(line) for line in answer.text.splitlines()]
    assert events[-1] == {"event": "done"}
    whole = client.post("/translate", json=body).json()["translations"]
    for place in range(2):
        mine = [one for one in events[:-1] if one["sentence"] == place]
        assert [one["event"] for one in mine].count("sentence") == 1
        assert mine[-1]["event"] == "sentence"
        assert mine[-1]["hypotheses"] == whole[place]["hypotheses"]
        partials = [one["text"] for one in mine[:-1]]
        assert partials
        if beam == 1:  # greedy search never takes a word back
            final = mine[-1]["hypotheses"][0]["text"]
            assert all(final.startswith(text) for text in partials)


def test_a_trace_as_json_and_as_a_file(
    client: httpx.Client, translator: Translator, tmp_path: Path
) -> None:
    expected = trace(translator, SOURCES[0])
    asked = {"source": SOURCES[0]}
    assert client.post("/trace", json=asked).json() == json.loads(expected.to_json())
    written = client.post("/trace", json={**asked, "format": "safetensors"}).content
    (tmp_path / "whole.trace").write_bytes(written)
    opened = Trace.open(tmp_path / "whole.trace")
    assert opened.to_json() == expected.to_json()
    half = client.post(
        "/trace", json={**asked, "format": "safetensors", "precision": "float16"}
    ).content
    assert len(half) < len(written)
    (tmp_path / "half.trace").write_bytes(half)
    with safe_open(tmp_path / "half.trace", framework="numpy") as file:
        weights = file.get_tensor("cross.1")
        assert weights.dtype == "float16"
        assert weights == pytest.approx(opened.site("cross", 1).weights, abs=1e-3)
        assert json.loads(file.metadata()["regard.trace"])["source"]["text"] == SOURCES[0]


def test_a_given_target_is_read(client: httpx.Client) -> None:
    said = client.post("/trace", json={"source": SOURCES[0], "target": "im Haus ."}).json()
    assert said["target"]["text"] == "im Haus ."
    assert said["provenance"]["is_forced"] is True


def test_the_arithmetic_of_a_cell(client: httpx.Client, translator: Translator) -> None:
    cell = {"site": "cross", "layer": 2, "head": 1, "row": 1, "column": 2}
    said = client.post(
        "/arithmetic", json={"source": SOURCES[0], "target": "im Haus .", **cell}
    ).json()
    expected = trace(translator, SOURCES[0], "im Haus .").site("cross", 2).weights[1, 1]
    assert said["weights"] == pytest.approx(expected.tolist(), abs=1e-6)
    assert said["score"] == pytest.approx(said["sum"] / said["divisor"], abs=1e-5)
    assert (said["row_token"], said["column_token"]) == ("im", "sieht")
    assert said["column_tokens"] == ["ein", "Hund", "sieht", "</s>"]


def test_heads(client: httpx.Client) -> None:
    said = client.post("/heads", json={"source": SOURCES[0], "target": "im Haus ."}).json()
    assert len(said["heads"]) == 3 * (2 + 3 + 3)
    first = said["heads"][0]
    assert (first["kind"], first["layer"], first["head"]) == ("encoder", 0, 0)
    assert 0 < first["before"] + first["itself"] + first["after"] <= 1
    assert said["heads"][-1]["before"] is None


def test_ablation(client: httpx.Client, translator: Translator) -> None:
    asked = {"source": SOURCES[0], "target": "im Haus .", "heads": ["cross.1", "encoder.0.2"]}
    said = client.post("/ablate", json=asked).json()
    expected = translator.ablate(SOURCES[0], ["cross.1", "encoder.0.2"], target="im Haus .")
    assert said["heads"] == [head.name for head in expected.heads]
    assert said["changes"] == pytest.approx(list(expected.changes), abs=1e-5)
    assert said["after"] == expected.after.text


def test_a_trace_under_ablation(client: httpx.Client, translator: Translator) -> None:
    asked = {"source": SOURCES[0], "target": "im Haus ."}
    before = trace(translator, SOURCES[0], "im Haus .")
    after = translator.retrace(before, ["cross.1.0"])
    said = client.post("/trace", json={**asked, "heads": ["cross.1.0"]}).json()
    assert [token["text"] for token in said["target"]["tokens"]] == [
        token.text for token in before.target.tokens
    ]
    weights = next(s for s in said["sites"] if (s["kind"], s["layer"]) == ("cross", 2))["weights"]
    np.testing.assert_allclose(weights, after.site("cross", 2).weights, atol=1e-6)
    assert abs(np.array(weights) - before.site("cross", 2).weights).max() > 1e-4
    refused = client.post("/trace", json={**asked, "heads": ["cross.9"]})
    assert refused.status_code == 400
    assert "this model has no cross.9" in refused.json()["error"]


@pytest.mark.parametrize(
    ("kind", "begins"),
    [("svg", b"<svg"), ("png", b"\x89PNG"), ("html", b"<!doctype html>"), ("json", b"{")],
)
def test_pictures(client: httpx.Client, kind: str, begins: bytes) -> None:
    view = {"form": "matrix", "site": "encoder", "layer": 1, "heads": [0, 2]}
    answer = client.post("/export", json={"source": SOURCES[0], "format": kind, "view": view})
    assert answer.status_code == 200
    assert answer.content[:20].lower().startswith(begins.lower())
    assert answer.headers["content-disposition"] == f'attachment; filename="attention.{kind}"'


@pytest.mark.parametrize(
    ("path", "body", "status", "sentence"),
    [
        ("/translate", {"text": "a", "model": "x"}, 404, "there is no model 'x' that translates"),
        ("/translate", {"text": "a", "beam": 17}, 400, "a beam of 17 is too wide here"),
        (
            "/translate",
            {"text": "a", "n_best": 99},
            400,
            "99 translations of a sentence are too many",
        ),
        ("/translate", {"text": "a", "beam": 2, "n_best": 3}, 400, "a beam of 2 cannot give the 3"),
        ("/translate", {"text": ["a"] * 129}, 413, "129 sentences are too many for one request"),
        ("/translate", {"text": "a" * 20_001}, 413, "20,001 characters are too many"),
        ("/translate", {"text": "ein " * 513}, 413, "the text has 513 tokens, and 512 are"),
        ("/translate", {"text": ["a", "ein " * 513]}, 413, "sentence 1 has 513 tokens, and 512"),
        ("/translate", {"text": "a", "bream": 2}, 422, "bream: extra inputs are not permitted"),
        ("/translate", {"text": "a", "beam": "2"}, 422, "beam: input should be a valid integer"),
        ("/trace", {"source": "ein " * 129}, 413, "the source has 129 tokens, and 128 are"),
        ("/heads", {"source": "a", "target": "a " * 129}, 413, "the target has 129 tokens"),
        ("/trace", {"source": " "}, 400, "there is nothing to look at"),
        ("/trace", {"source": "ein", "target": " "}, 400, "the target is empty"),
        ("/arithmetic", {"source": "ein", "layer": 7}, 400, "this trace has no site cross.7"),
        ("/arithmetic", {"source": "ein", "row": 99}, 400, "cross.0 has no row 99"),
        ("/ablate", {"source": "ein", "heads": ["nothing"]}, 400, "nothing"),
        (
            "/ablate",
            {"source": "ein", "heads": ["cross.1"], "new": 2},
            400,
            "new tokens are counted",
        ),
        ("/export", {"source": "ein", "view": {"word": "?"}}, 400, "the word '?' is not among"),
    ],
)
def test_refusals(
    client: httpx.Client, path: str, body: dict[str, object], status: int, sentence: str
) -> None:
    answer = client.post(path, json=body)
    assert (answer.status_code, sentence in answer.json()["error"]) == (status, True), answer.text
    assert answer.json()["code"]
