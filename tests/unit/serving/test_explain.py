"""Blocks over HTTP: the numbers are those of the library, and what makes no sense is refused."""

from typing import Any

import httpx
import pytest

from regard.lessons.explanation.blocks import mask_numbers, norm_numbers, score_numbers
from regard.serving import Catalogue
from tests.unit.serving.conftest import Live, living


@pytest.fixture(scope="module")
def bare() -> Any:
    """A service without models: blocks need none."""
    with living(Catalogue()) as live:
        yield live


def asked(live: Live, topic: str, **question: Any) -> httpx.Response:
    return httpx.post(f"{live.url}/api/v1/explain/{topic}", json=question, timeout=30)


def test_numbers_are_those_of_the_library(bare: Live) -> None:
    said = asked(bare, "masks", masks=["causal", "padding"], seed=2).json()
    assert said == mask_numbers(["causal", "padding"], 2).model_dump()
    assert asked(bare, "norms").json() == norm_numbers().model_dump()
    said = asked(bare, "scores", seed=2, query=[0.5, 1, 0, -2]).json()
    assert said == score_numbers(2, [0.5, 1.0, 0.0, -2.0]).model_dump()


@pytest.mark.parametrize(
    ("topic", "question", "status", "sentence"),
    [
        ("positions", {"length": 129}, 422, "length"),
        ("positions", {"width": 7}, 400, "even"),
        ("masks", {"masks": ["diagonal"]}, 422, "masks"),
        ("masks", {"seed": -1}, 422, "seed"),
        ("norms", {"table": []}, 422, "table"),
        ("norms", {"table": [[1], [1, 2]]}, 400, "one length"),
        ("norms", {"table": [[1e99]]}, 422, "table"),
        ("norms", {"table": [[1] * 17]}, 422, "table"),
        ("scores", {"query": [1, 2]}, 422, "query"),
        ("scores", {"query": ["1", 2, 3, 4]}, 422, "query"),
    ],
)
def test_refusals(
    bare: Live, topic: str, question: dict[str, Any], status: int, sentence: str
) -> None:
    answer = asked(bare, topic, **question)
    assert (answer.status_code, sentence in answer.json()["error"]) == (status, True), answer.text
