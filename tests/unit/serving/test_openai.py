"""OpenAI's API, with its own client, and a writer that says what it was asked."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import openai
import pytest
import torch

from regard.config import Recipe, TrainingSection
from regard.config.alone import GptSection
from regard.folder import save
from regard.serving import Catalogue, Settings, open_models
from regard.serving.generation import GenerationRequest, TextChunk
from regard.systems import TextGenerator, build
from regard.text import Words
from tests.unit.serving.conftest import Live, living


@dataclass
class Parrot:
    """Repeats the words of its prompt; each takes its time."""

    name: str = "parrot"
    context: int = 50
    seconds: float = 0.0
    n_written: int = 0
    sizes: list[int] = field(default_factory=list)  # of what was written together

    def count(self, text: str) -> int:
        return len(text.split())

    def stream(
        self, requests: Sequence[GenerationRequest], is_wanted: Callable[[int], bool]
    ) -> Iterator[tuple[int, TextChunk]]:
        self.sizes.append(len(requests))
        texts = [
            [*one.prompt.split(), f"seed{one.seed}", f"t{one.temperature:g}"] for one in requests
        ]
        for step in range(max(map(len, texts)) + 1):
            time.sleep(self.seconds)
            if not any(map(is_wanted, range(len(requests)))):
                return
            for i, (one, words) in enumerate(zip(requests, texts, strict=True)):
                if not is_wanted(i) or step > (n := min(len(words), one.max_tokens)):
                    continue
                if step < n:
                    self.n_written += 1
                    yield i, TextChunk(f" {words[step]}")
                else:
                    yield i, TextChunk("", 0, "length" if n < len(words) else "stop")


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    with living(Catalogue((), (Parrot(), Parrot("slow", seconds=0.05)))) as live:
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
    assert [(one.index, one.text, one.finish_reason) for one in answer.choices] == [
        (0, " a b c seed7", "length"),
        (1, " a b c seed8", "length"),
        (2, " d seed7 t0.5", "stop"),
        (3, " d seed8 t0.5", "stop"),
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
    assert [one.text for one in told] == [" a", " b", " seed3", " t1", ""]
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
    with living(Catalogue((), (Parrot(),)), Settings(port=0, keys=frozenset({"k"}))) as live:
        with openai.OpenAI(base_url=f"{live.url}/v1", api_key="k") as client:
            assert client.completions.create(model="parrot", prompt="a").choices
        with (
            openai.OpenAI(base_url=f"{live.url}/v1", api_key="x") as client,
            pytest.raises(openai.AuthenticationError, match="an API key is needed"),
        ):
            client.completions.create(model="parrot", prompt="a")


def test_who_breaks_off_is_not_written_for() -> None:
    slow = Parrot("slow", context=1000, seconds=0.02)
    with living(Catalogue((), (slow,))) as live:
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
    (teller,) = catalogue.writers
    assert (teller.name, teller.context, teller.count("once there")) == ("story", 16, 2)
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
    expected = "".join(
        one
        for one in TextGenerator.open(place).write("once there was", None, most=20)
        if isinstance(one, str)
    )
    assert text == expected


def test_who_comes_together_is_written_for_together_and_gets_their_own() -> None:
    slow = Parrot("slow", context=100, seconds=0.02)
    bodies = [
        {"model": "slow", "prompt": f"w{i} " * (1 + i % 5), "seed": i, "max_tokens": 9}
        for i in range(12)
    ]
    with living(Catalogue((), (slow,))) as live, ThreadPoolExecutor(12) as clients:

        def ask(body: dict[str, object]) -> str:
            answer = httpx.post(f"{live.url}/v1/completions", json=body, timeout=30)
            return str(answer.json()["choices"][0]["text"])

        texts = list(clients.map(ask, bodies))
    for i, text in enumerate(texts):
        assert text.split() == [f"w{i}"] * (1 + i % 5) + [f"seed{i}", "t1"]
    assert max(slow.sizes) > 1
