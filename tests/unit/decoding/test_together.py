"""Texts that are written together are those that are written alone."""

import random
from dataclasses import astuple

import pytest
import torch

from regard.config.alone import GptSection
from regard.decoding import Opening, Sampling, Slid, Written, stream_together
from regard.decoding.sampling import draw
from regard.models import Gpt
from regard.special import EOS
from regard.systems import build

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


def alone(model: Gpt, one: Opening) -> list[Written | Slid]:
    """Each token from all that is seen, read anew."""
    seen, found, n_written = list(one.prompt), list[Written | Slid](), 0
    chance = random.Random(f"{(one.sampling or Sampling()).seed} 0 0")
    while n_written < one.most:
        if len(seen) > CONTEXT:
            found.append(Slid(CONTEXT // 2, len(seen)))
            seen = seen[-CONTEXT // 2 :]
        with torch.no_grad():
            logits = model(torch.tensor([seen]))[:, -1]
        odds = logits.log_softmax(-1)[0]
        logits[:, :3] += torch.tensor([-torch.inf, 0.0, -torch.inf])
        token = int(logits.argmax())
        if one.sampling is not None:
            token = int(draw(logits, one.sampling, torch.tensor([chance.random()]).double()))
        if token == EOS:
            break
        seen.append(token)
        found.append(Written(token, float(odds[token])))
        n_written += 1
    return found


def together(model: Gpt, openings: list[Opening]) -> list[list[Written | Slid]]:
    found: list[list[Written | Slid]] = [[] for _ in openings]
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
        assert [type(one) for one in written] == [type(one) for one in expected]
        for one, other in zip(written, expected, strict=True):
            assert astuple(one) == pytest.approx(astuple(other), abs=1e-9)


def test_seeds_make_the_difference(model: Gpt) -> None:
    openings = [Opening([5], Sampling(seed=seed), 12) for seed in range(6)]
    texts = {tuple(text) for text in together(model, openings)}
    assert len(texts) > 3


def test_what_nobody_wants_is_not_gone_on_with(model: Gpt) -> None:
    told = [0, 0]
    openings = [Opening([5], Sampling(seed=seed), 40) for seed in (1, 2)]
    for i, event in stream_together(
        model, openings, context=CONTEXT, is_wanted=lambda i: i == 1 or told[0] < 3
    ):
        told[i] += isinstance(event, Written)
    assert told[0] == 3
    assert told[1] == sum(isinstance(one, Written) for one in alone(model, openings[1]))


def test_of_nothing_comes_nothing(model: Gpt) -> None:
    assert list(stream_together(model, [])) == []
