"""`regard serve --engine ctranslate2`: the same answers, whichever engine searches."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
import torch

from regard.serving import open_models
from regard.systems.ctranslate2 import CTranslate2Translator
from tests.unit.serving.conftest import Live, living
from tests.unit.systems.test_ctranslate2 import SENTENCES, small

pytest.importorskip("ctranslate2")

TEXTS = [*SENTENCES, "", "the street", "a dog sleeps near the old house"]


@pytest.fixture(scope="module", params=[1, 2], ids=["one worker", "two workers"])
def engines(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Live, Live]]:
    """Two live servers of one model: our engine, and CTranslate2."""
    place = str(small(tmp_path_factory.mktemp("models") / "model", norm="pre").path)
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    theirs = open_models([place], engine="ctranslate2")
    assert isinstance(theirs.translators[0].opened, CTranslate2Translator)
    with living(open_models([place])) as our_live, living(theirs) as their_live:
        yield our_live, their_live
    torch.set_num_threads(before)


def asked(live: Live, path: str, **question: Any) -> httpx.Response:
    answer = httpx.post(f"{live.url}{path}", json=question, timeout=30)
    assert answer.status_code == 200
    return answer


def is_alike(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> None:
    for own, other in zip(ours, theirs, strict=True):
        for one, another in zip(own["hypotheses"], other["hypotheses"], strict=True):
            assert another["text"] == one["text"]
            assert another["tokens"] == one["tokens"]
            assert another["score"] == pytest.approx(one["score"], abs=1e-3)
            assert another["log_probability"] == pytest.approx(one["log_probability"], abs=1e-3)


@pytest.mark.parametrize("beam", [1, 4])
def test_translations_and_scores_are_ours(engines: tuple[Live, Live], beam: int) -> None:
    ours, theirs = (
        asked(live, "/api/v1/translate", text=TEXTS, beam=beam, alpha=0.0).json()
        for live in engines
    )
    assert theirs["model"] == ours["model"]
    is_alike(ours["translations"], theirs["translations"])


def test_alignments_and_streams_are_ours(engines: tuple[Live, Live]) -> None:
    question = {"text": SENTENCES, "beam": 1}
    ours, theirs = (
        asked(live, "/api/v1/translate", **question, alignments=True).json()["translations"]
        for live in engines
    )
    for own, other in zip(ours, theirs, strict=True):
        assert other["hypotheses"][0]["alignment"] == own["hypotheses"][0]["alignment"]
    lines = asked(engines[1], "/api/v1/translate/stream", **question).text.splitlines()
    events = [json.loads(line) for line in lines]
    found = [one for one in events if one["event"] == "sentence"]
    is_alike(ours, sorted(found, key=lambda one: one["sentence"]))
    assert events[-1] == {"event": "done"}


def test_each_answer_belongs_to_its_question_when_many_ask(engines: tuple[Live, Live]) -> None:
    def found(text: str) -> str:
        said = asked(engines[1], "/api/v1/translate", text=text, beam=2, alpha=0.0).json()
        best: str = said["translations"][0]["hypotheses"][0]["text"]
        return best

    texts = [text for text in TEXTS if text] * 6
    expected = {text: found(text) for text in set(texts)}
    with ThreadPoolExecutor(8) as clients:
        assert list(clients.map(found, texts)) == [expected[text] for text in texts]
