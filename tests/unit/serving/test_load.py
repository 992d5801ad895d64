"""Under load nothing is lost and nothing mixed up, also while clients break off."""

import asyncio
import json
import random
import threading
import time
from collections.abc import Iterator

import httpx
import pytest
import torch

from regard.serving import Bounds, Catalogue, Settings
from tests.unit.serving.conftest import Live, copier, living, model_of

WORDS = "abcdefghijklmnopqrstuvwxyz"


@pytest.fixture(params=[1, 2])
def n_workers(request: pytest.FixtureRequest) -> Iterator[int]:
    """As many as torch has threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def sentence(draw: random.Random) -> str:
    return " ".join("".join(draw.choices(WORDS, k=3)) for _ in range(draw.randint(1, 4)))


async def ask(client: httpx.AsyncClient, number: int, n_requests: int) -> int:
    """One client of one kind, that asks again and again; every answer is its question."""
    draw = random.Random(number)
    n_checked = 0
    for _ in range(n_requests):
        texts = [sentence(draw) for _ in range(draw.choice([1, 1, 1, 2, 5]))]
        match number % 4:
            case 0:
                body = {"text": texts, "beam": draw.choice([1, 2])}
                said = (await client.post("/api/v1/translate", json=body)).json()
                found = [one["hypotheses"][0]["text"] for one in said["translations"]]
            case 1:
                body = {"q": texts, "source": "en", "target": "de"}
                found = (await client.post("/translate", json=body)).json()["translatedText"]
            case 2:
                found = await streamed(client, texts)
            case _:
                await break_off(client, texts, draw)
                continue
        assert found == texts
        n_checked += 1
    return n_checked


async def streamed(client: httpx.AsyncClient, texts: list[str]) -> list[str]:
    found: dict[int, str] = {}
    async with client.stream("POST", "/api/v1/translate/stream", json={"text": texts}) as answer:
        async for line in answer.aiter_lines():
            event = json.loads(line)
            if event["event"] == "partial":
                assert texts[event["sentence"]].startswith(event["text"])
            elif event["event"] == "sentence":
                found[event["sentence"]] = event["hypotheses"][0]["text"]
    return [found[place] for place in range(len(texts))]


async def break_off(client: httpx.AsyncClient, texts: list[str], draw: random.Random) -> None:
    """Ask and go, at any moment."""
    path = draw.choice(["/api/v1/translate", "/api/v1/translate/stream"])
    with pytest.raises((TimeoutError, httpx.HTTPError)):  # noqa: PT012
        async with asyncio.timeout(draw.uniform(0.001, 0.03)):
            await client.post(path, json={"text": texts})
            raise TimeoutError


@pytest.mark.usefixtures("n_workers")
def test_every_answer_belongs_to_its_question() -> None:
    served = copier("copy", ("en", "de"), seconds=0.0005)

    async def load(live: Live) -> int:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(base_url=live.url, timeout=60, limits=limits) as client:
            return sum(await asyncio.gather(*(ask(client, i, 4) for i in range(24))))

    with living(Catalogue((served, copier("other")))) as live:
        assert asyncio.run(load(live)) == 18 * 4
        assert "regard_queue_sentences 0.0" in httpx.get(f"{live.url}/metrics").text
    assert max(model_of(served).sizes) > 4  # sentences of several clients, searched together


def test_a_short_sentence_is_answered_while_a_long_one_of_its_batch_is_decoded() -> None:
    served = copier(seconds=0.01)
    n_steps: dict[str, int] = {}

    async def ask_in_turn(client: httpx.AsyncClient, text: str) -> None:
        answer = await client.post("/api/v1/translate", json={"text": text})
        n_steps[text] = model_of(served).n_steps
        assert answer.json()["translations"][0]["hypotheses"][0]["text"] == text

    async def load(live: Live) -> None:
        async with httpx.AsyncClient(base_url=live.url, timeout=60) as client:
            first = asyncio.create_task(ask_in_turn(client, "first in line"))
            while not model_of(served).n_steps:
                await asyncio.sleep(0.001)
            await asyncio.gather(first, *(ask_in_turn(client, text) for text in ("a" * 60, "b")))

    with living(Catalogue((served,))) as live:
        asyncio.run(load(live))
    assert model_of(served).sizes == [1, 2]
    assert n_steps["b"] < n_steps["a" * 60] - 40


def test_a_full_queue_says_when_to_come_again() -> None:
    served = copier(seconds=0.02)
    settings = Settings(port=0, rows=2, bounds=Bounds(waiting=4, sentences=4))

    async def load(live: Live) -> list[httpx.Response]:
        async with httpx.AsyncClient(base_url=live.url, timeout=60) as client:
            asked = (client.post("/api/v1/translate", json={"text": "abcdef"}) for _ in range(24))
            return list(await asyncio.gather(*asked))

    with living(Catalogue((served,)), settings) as live:
        answers = asyncio.run(load(live))
    statuses = [answer.status_code for answer in answers]
    assert set(statuses) == {200, 429}
    for answer in answers:
        if answer.status_code == 429:
            assert int(answer.headers["retry-after"]) >= 1
            assert answer.json()["code"] == "busy"
        else:
            assert answer.json()["translations"][0]["hypotheses"][0]["text"] == "abcdef"


def test_a_request_that_takes_too_long_is_given_up_and_frees_the_queue() -> None:
    served = copier(seconds=0.1)
    settings = Settings(port=0, bounds=Bounds(seconds=0.5))
    with living(Catalogue((served,)), settings) as live:
        answer = httpx.post(f"{live.url}/api/v1/translate", json={"text": "a" * 100})
        assert answer.status_code == 503
        assert answer.json()["error"].startswith("the answer was not there after 0.5 s")
        assert answer.headers["retry-after"]
        stream = httpx.post(f"{live.url}/api/v1/translate/stream", json={"text": "a" * 100})
        assert json.loads(stream.text.splitlines()[-1])["code"] == "too-slow"
        time.sleep(0.3)
        n_steps = model_of(served).n_steps
        time.sleep(0.4)
        assert model_of(served).n_steps == n_steps < 100
        short = httpx.post(f"{live.url}/api/v1/translate", json={"text": "a", "beam": 1})
        assert short.status_code == 200


def test_one_sentence_that_breaks_the_model_takes_no_other_with_it() -> None:
    served = copier(seconds=0.001)
    model_of(served).fails_at = served.opened.tokenizer.encode("9")[0]

    async def load(live: Live) -> list[httpx.Response]:
        texts = ["abc", "999", "def", "ghi"]
        async with httpx.AsyncClient(base_url=live.url, timeout=60) as client:
            asked = (client.post("/api/v1/translate", json={"text": text}) for text in texts)
            return list(await asyncio.gather(*asked))

    with living(Catalogue((served,))) as live:
        answers = asyncio.run(load(live))
    assert [answer.status_code for answer in answers] == [200, 500, 200, 200]
    assert answers[1].json()["code"] == "internal"
    assert "breaks the model" not in answers[1].text


def test_stopping_finishes_what_was_begun() -> None:
    served = copier(seconds=0.02)
    found: list[httpx.Response] = []
    with living(Catalogue((served,))) as live:
        url = f"{live.url}/api/v1/translate"

        def ask_slowly() -> None:
            found.append(httpx.post(url, json={"text": "a" * 30}, timeout=30))

        asking = threading.Thread(target=ask_slowly)
        asking.start()
        while not model_of(served).n_steps:
            time.sleep(0.01)
        live.server.should_exit = True
    asking.join(10)
    (answer,) = found
    assert answer.json()["translations"][0]["hypotheses"][0]["text"] == "a" * 30
