"""Texts that are written together are those that are written alone."""

import pytest
import torch

from regard.config.alone import GptSection
from regard.decoding import Opening, Sampling, Written, stream, stream_together
from regard.models import Gpt, build

CONTEXT = 16
OPENINGS = [
    Opening([5, 6, 7], Sampling(0.9, seed=1), 30),  # outgrows its context, more than once
    Opening([5, 6, 7], Sampling(0.9, seed=2), 5),
    Opening([8], None, 12),
    Opening([9] * 16, Sampling(1.4, top_p=0.9, seed=3), 20),
    Opening([4, 5] * 12, Sampling(1.4, top_p=0.9, seed=3), 7),  # is longer than what is seen
    Opening([6], Sampling(0.7, top_k=3, seed=4), 1),
]


@pytest.fixture(scope="module")
def model() -> Gpt:
    torch.manual_seed(5)
    section = GptSection(d_model=12, n_heads=3, d_feedforward=20, n_layers=2, context=CONTEXT)
    made = build(section, 20, 20).eval()
    assert isinstance(made, Gpt)
    with torch.no_grad():  # far from uniform, so that a mix-up would be seen
        for parameter in made.parameters():
            parameter.mul_(1.4)
    return made.double()


def alone(model: Gpt, one: Opening) -> list[Written]:
    told = stream(model, one.prompt, one.sampling, most=one.most, context=CONTEXT)
    return [event for event in told if isinstance(event, Written)]


def together(model: Gpt, openings: list[Opening]) -> list[list[Written]]:
    found: list[list[Written]] = [[] for _ in openings]
    ended = []
    for i, event in stream_together(model, openings, context=CONTEXT):
        assert i not in ended
        if event is None:
            ended.append(i)
        else:
            found[i].append(event)
    assert sorted(ended) == list(range(len(openings)))
    return found


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5], [5, 3, 0], [4], [2, 2, 0, 0]])
def test_nobody_else_changes_a_text(model: Gpt, order: list[int]) -> None:
    found = together(model, [OPENINGS[i] for i in order])
    for i, written in zip(order, found, strict=True):
        expected = alone(model, OPENINGS[i])
        assert [one.token for one in written] == [one.token for one in expected]
        for one, other in zip(written, expected, strict=True):
            assert one.log_probability == pytest.approx(other.log_probability, abs=1e-9)


def test_seeds_make_the_difference(model: Gpt) -> None:
    openings = [Opening([5], Sampling(seed=seed), 12) for seed in range(6)]
    texts = {tuple(one.token for one in text) for text in together(model, openings)}
    assert len(texts) > 3


def test_what_nobody_wants_is_not_gone_on_with(model: Gpt) -> None:
    told = [0, 0]
    openings = [Opening([5], Sampling(seed=seed), 40) for seed in (1, 2)]
    for i, event in stream_together(
        model, openings, context=CONTEXT, is_wanted=lambda i: i == 1 or told[0] < 3
    ):
        told[i] += event is not None
    assert told[0] == 3
    assert told[1] == len(alone(model, openings[1]))


def test_of_nothing_comes_nothing(model: Gpt) -> None:
    assert list(stream_together(model, [])) == []
