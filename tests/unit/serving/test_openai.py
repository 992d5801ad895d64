"""OpenAI's API, with its own client, and a writer that says what it was asked."""

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import openai
import pytest
import torch

from regard.config import Recipe, TrainingSection
from regard.config.alone import GptSection
from regard.decoding import Sampling
from regard.decoding.sampling import draw
from regard.folder import save
from regard.serving import Catalogue, Settings, open_models
from regard.systems import TextGenerator, build
from regard.text import Words
from tests.unit.serving.conftest import DRAWN, ODDS, Live, living, parrot


def drawn(seed: int, temperature: float = 1.0) -> list[str]:
    """What a parrot would draw, one after another."""
    chance, sampling = random.Random(f"{seed} 0 0"), Sampling(temperature)
    chances = (torch.tensor([chance.random()]).double() for _ in range(9))
    return [DRAWN[int(draw(ODDS[None], sampling, one))] for one in chances]


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    with living(Catalogue((parrot()[0], parrot("slow", seconds=0.05)[0]))) as live:
        yield live


@pytest.fixture(scope="module")
def client(live: Live) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{live.url}/v1", api_key="any", max_retries=0) as client:
        yield client


def test_models(client: openai.OpenAI) -> None:
    assert [one.id for one in client.models.list()] == ["parrot", "slow"]
    assert client.models.retrieve("parrot").id == "parrot"
    with pytest.raises(openai.NotFoundError, match="there is no model 'x' that writes text"):
        client.models.retrieve("x")


def test_completions(client: openai.OpenAI) -> None:
    answer = client.completions.create(
        model="parrot", prompt=["a b c", "d"], n=2, max_tokens=4, seed=7, temperature=0.5
    )
    words = [drawn(seed, 0.5) for seed in (7, 8)]
    assert words[0] != words[1]
    assert [(one.index, one.text, one.finish_reason) for one in answer.choices] == [
        *((i, f" a b c {words[i][3]}", "length") for i in range(2)),
        *((2 + i, f" d {words[i][1]} {words[i][2]}", "stop") for i in range(2)),
    ]
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (4, 14)


def test_echo_and_stop(client: openai.OpenAI) -> None:
    answer = client.completions.create(
        model="parrot", prompt="a b stop c", stop=["stop"], echo=True, seed=1
    )
    assert answer.choices[0].text == "a b stop c a b "
    assert answer.choices[0].finish_reason == "stop"


def test_a_stream(client: openai.OpenAI) -> None:
    events = list(
        client.completions.create(
            model="parrot",
            prompt="a b",
            seed=3,
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    told = [one.choices[0] for one in events if one.choices]
    assert [one.text for one in told] == [" a", " b", *(f" {word}" for word in drawn(3)[2:4]), ""]
    assert [one.finish_reason for one in told] == [None] * 4 + ["stop"]
    assert events[-1].usage is not None
    assert events[-1].usage.total_tokens == 6


def test_without_a_seed_every_text_is_another(client: openai.OpenAI) -> None:
    texts = {client.completions.create(model="parrot", prompt="").choices[0].text for _ in range(3)}
    assert len(texts) == 3


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"prompt": "a " * 50}, "50 tokens, and parrot sees 50 at once: shorten it to 49 or fewer"),
        ({"prompt": "a", "frequency_penalty": 0.5}, "frequency_penalty is not served"),
        ({"prompt": "a", "logit_bias": {"5": 1}}, "logit_bias is not served"),
        ({"prompt": "a", "stop": ["", "b"]}, "stop.*0: string should have at least 1 character"),
        ({"prompt": "a", "logprobs": 3}, "logprobs is not served"),
        ({"prompt": "a", "best_of": 3}, "best_of is not served"),
        ({"prompt": "a", "stop": list("abcde")}, "5 words that end a text are too many"),
        ({"prompt": "a", "temperature": 3}, "temperature: input should be less than or equal to 2"),
    ],
)
def test_refusals(client: openai.OpenAI, options: dict[str, object], sentence: str) -> None:
    with pytest.raises(openai.APIStatusError, match=sentence) as refused:
        client.completions.create(model="parrot", **options)  # type: ignore[call-overload]
    assert refused.value.status_code in (400, 422)


def test_a_key_is_the_clients_own() -> None:
    with living(Catalogue((parrot()[0],)), Settings(port=0, keys=frozenset({"k"}))) as live:
        with openai.OpenAI(base_url=f"{live.url}/v1", api_key="k") as client:
            assert client.completions.create(model="parrot", prompt="a").choices
        with (
            openai.OpenAI(base_url=f"{live.url}/v1", api_key="x") as client,
            pytest.raises(openai.AuthenticationError, match="an API key is needed"),
        ):
            client.completions.create(model="parrot", prompt="a")


def test_who_breaks_off_is_not_written_for() -> None:
    served, slow = parrot("slow", context=1000, seconds=0.02)
    with living(Catalogue((served,))) as live:
        body = {"model": "slow", "prompt": "a " * 500, "max_tokens": 500, "stream": True}
        with httpx.stream("POST", f"{live.url}/v1/completions", json=body) as answer:
            for _ in answer.iter_lines():
                break
        time.sleep(0.5)
        n_written = slow.n_written
        time.sleep(0.3)
        assert slow.n_written == n_written < 500


def test_a_gpt_writes(tmp_path: Path) -> None:
    words = Words(["once", "there", "was", "a", "cat", "."])
    section = GptSection(d_model=12, n_heads=3, d_feedforward=20, n_layers=2, context=16)
    torch.manual_seed(1)
    model = build(section, len(words), len(words))
    recipe = Recipe(model=section, training=TrainingSection(task="language"))
    place = save(tmp_path / "story", model, recipe, words, words)
    catalogue = open_models([str(place)])
    assert [(one.name, one.opened.limit) for one in catalogue.generators] == [("story", 16)]
    with (
        living(catalogue) as live,
        openai.OpenAI(base_url=f"{live.url}/v1", api_key="any", max_retries=0) as client,
    ):
        asked = {"model": "story", "prompt": "once there was", "max_tokens": 20, "temperature": 0}
        whole = client.completions.create(**asked)  # type: ignore[call-overload]
        told = list(client.completions.create(**asked, stream=True))  # type: ignore[call-overload]
    text = whole.choices[0].text
    assert "".join(one.choices[0].text for one in told) == text
    assert whole.usage is not None
    assert whole.usage.completion_tokens == len(words.encode(text)) > 0
    reason = whole.choices[0].finish_reason
    assert reason == ("length" if whole.usage.completion_tokens == 20 else "stop")
    assert (
        text == TextGenerator.open(place).write("once there was", max_tokens=20, greedy=True).text
    )


def test_who_comes_together_is_written_for_together_and_gets_their_own() -> None:
    served, slow = parrot("slow", context=100, seconds=0.02)
    bodies = [
        {"model": "slow", "prompt": f"w{i} " * (1 + i % 5), "seed": i, "max_tokens": 9}
        for i in range(12)
    ]
    with living(Catalogue((served,))) as live, ThreadPoolExecutor(12) as clients:

        def ask(body: dict[str, object]) -> str:
            answer = httpx.post(f"{live.url}/v1/completions", json=body, timeout=30)
            return str(answer.json()["choices"][0]["text"])

        texts = list(clients.map(ask, bodies))
    for i, text in enumerate(texts):
        n = 1 + i % 5
        assert text.split() == [f"w{i}"] * n + drawn(i)[n : n + 2]
    assert max(slow.sizes) > 1
