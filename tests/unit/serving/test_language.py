"""Stories token by token and words for gaps over HTTP: their numbers are those of the library."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
import torch

from regard.config import Recipe, TrainingSection
from regard.config.alone import BertSection, GptSection
from regard.decoding import Sampling, Slid, stream
from regard.folder import save
from regard.inspection.trace import Trace
from regard.serving import Catalogue, open_models
from regard.systems import TextEncoder, TextGenerator, build
from regard.text import Words
from tests.unit.serving.conftest import living

SIZES = {"d_model": 12, "n_heads": 3, "d_feedforward": 20, "n_layers": 2, "dropout": 0.0}
CONTEXT = 16


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    words = Words(["a", "cat", "sees", "the", "dog", "and", "它", "."])
    place = tmp_path_factory.mktemp("language")
    made = {
        "story": (GptSection(**SIZES, context=CONTEXT), "language"),
        "gaps": (BertSection(**SIZES, context=CONTEXT), "masked"),
    }
    for name, (section, task) in made.items():
        torch.manual_seed(2)
        model = build(section, len(words), len(words))
        recipe = Recipe(model=section, training=TrainingSection(task=task))
        save(place / name, model, recipe, words, words)
    return {name: place / name for name in made}


@pytest.fixture(scope="module")
def client(folders: dict[str, Path]) -> Iterator[httpx.Client]:
    with (
        living(open_models([str(folder) for folder in folders.values()])) as live,
        httpx.Client(base_url=f"{live.url}/api/v1", timeout=30) as client,
    ):
        yield client


def events(client: httpx.Client, **question: object) -> list[dict]:
    answer = client.post("/generate", json=question)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


def test_models_are_listed_as_they_were_served(
    folders: dict[str, Path], folder: Callable[..., Path]
) -> None:
    given = [folders["gaps"], folder(), folders["story"]]
    with living(open_models([str(place) for place in given])) as live:
        told = httpx.get(f"{live.url}/api/v1/info", timeout=30).json()["models"]
        assert [one["name"] for one in told] == ["gaps", "de-en", "story"]
        asked = {"source": "the [MASK] sees"}
        first = httpx.post(f"{live.url}/api/v1/heads", json=asked, timeout=30).json()
        assert first["model"] == "gaps"


def test_a_story_is_told_token_by_token(client: httpx.Client, folders: dict[str, Path]) -> None:
    asked = {"temperature": 0.7, "top_k": 5, "top_p": 0.9, "seed": 4}
    *tokens, last = events(client, prompt="a cat", max_tokens=6, **asked)
    writer = TextGenerator.open(folders["story"])
    sampling = Sampling(0.7, 5, 0.9, 4)
    begun = writer.tokenizer.encode("a cat")
    expected = [e for e in stream(writer.model, begun, sampling, most=6) if not isinstance(e, Slid)]
    assert [one["event"] for one in tokens] == ["token"] * len(expected)
    assert [one["id"] for one in tokens] == [one.token for one in expected]
    log_probabilities = [one["log_probability"] for one in tokens]
    assert log_probabilities == pytest.approx([one.log_probability for one in expected], abs=1e-5)
    told = "a cat" + "".join(one["text"] for one in tokens)
    assert told == writer.tokenizer.decode([*begun, *(one.token for one in expected)])
    assert last == {"event": "done", "reason": "length" if len(tokens) == 6 else "stop"}


def test_what_was_written_is_looked_at_with_the_same_odds(
    client: httpx.Client, tmp_path: Path
) -> None:
    *tokens, last = events(client, prompt="a cat", max_tokens=100, temperature=0)
    # As much as the model sees at once, and no more.
    assert len(tokens) == CONTEXT - 2 or last["reason"] == "stop"
    body = {"prompt": "a cat", "tokens": [one["id"] for one in tokens]}
    answer = client.post("/generate/trace", json=body)
    assert answer.headers["content-type"] == "application/octet-stream"
    place = tmp_path / "story.trace"
    place.write_bytes(answer.content)
    seen = Trace.open(place)
    assert seen.does == "write"
    assert [token.id for token in seen.target.tokens[1:]] == body["tokens"]
    found = [step.log_probability for step in seen.steps[seen.n_given :]]
    assert found == pytest.approx([one["log_probability"] for one in tokens], abs=1e-4)
    half = client.post("/generate/trace", json={**body, "precision": "float16"})
    assert len(half.content) < len(answer.content)


def test_a_story_may_begin_with_nothing(client: httpx.Client) -> None:
    *tokens, _ = events(client, model="story", max_tokens=3, temperature=0)
    body = {"prompt": "", "tokens": [one["id"] for one in tokens]}
    assert client.post("/generate/trace", json=body).status_code == 200


def test_gaps_are_filled_as_the_library_does(
    client: httpx.Client, folders: dict[str, Path]
) -> None:
    text = "a [MASK] sees the [MASK] ."
    said = client.post("/fill", json={"text": text, "k": 3}).json()
    assert said["model"] == "gaps"
    filled = TextEncoder.open(folders["gaps"]).fill(text, 3)
    for gap, expected in zip(said["gaps"], filled.gaps, strict=True):
        assert [[*one] for one in gap] == [[*vars(one)] for one in expected]  # as --json has them
        assert [one["word"] for one in gap] == [one.word for one in expected]
        assert [one["token"] for one in gap] == [one.token for one in expected]
        assert [one["text"] for one in gap] == [one.text for one in expected]
        shares = [one["probability"] for one in gap]
        np.testing.assert_allclose(shares, [one.probability for one in expected], atol=1e-6)


@pytest.mark.parametrize(
    ("path", "body", "status", "sentence"),
    [
        (
            "generate",
            {"prompt": "a " * 40},
            413,
            "the prompt has 40 tokens, and up to 16 can be looked at together with what follows: "
            "shorten it",
        ),
        (
            "generate",
            {"prompt": "a", "model": "gaps"},
            404,
            "there is no model 'gaps' that writes text: choose one of story",
        ),
        (
            "generate/trace",
            {"prompt": "a", "tokens": [5] * 16},
            413,
            "16 tokens after this prompt are too many to look at together: give up to 15",
        ),
        (
            "generate/trace",
            {"prompt": "a", "tokens": [5, 99]},
            400,
            "there is no token 99: story knows 12, counted from 0",
        ),
        (
            "fill",
            {"text": "a cat"},
            400,
            "there is nothing to find: write [MASK] where a word is missing",
        ),
        (
            "fill",
            {"text": "a", "model": "story"},
            404,
            "there is no model 'story' that finds words: choose one of gaps",
        ),
    ],
    ids=["long prompt", "no writer", "many tokens", "no such token", "no gap", "no reader"],
)
def test_what_cannot_be_is_refused(
    client: httpx.Client, path: str, body: dict, status: int, sentence: str
) -> None:
    answer = client.post(f"/{path}", json=body)
    assert (answer.status_code, answer.json()["error"]) == (status, sentence)


def test_nothing_is_found_where_nothing_is_served() -> None:
    with living(Catalogue()) as live:
        answer = httpx.post(f"{live.url}/api/v1/fill", json={"text": "[MASK]"})
    assert answer.json() == {
        "error": "no model that finds words is served",
        "code": "no-such-model",
    }
