"""The kernels for each instruction set of this processor: the same noise, and the same numbers."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from regard.data import MemoryCorpus, collate
from regard.decoding import Search, beam_search
from regard.engine import (
    dropout,
    for_decoding,
    for_training,
    instructions,
    supported_instructions,
    using_instructions,
)
from regard.models import Sizes, Transformer
from regard.training.tasks import translation


@pytest.fixture(params=supported_instructions() or ["none"])
def other(request: pytest.FixtureRequest) -> str:
    """An instruction set that the kernels in use are not compiled for."""
    with using_instructions(request.param):
        found = instructions()
    if found is None or instructions() is None:
        pytest.skip(f"no C++ kernels for {request.param}: install g++, and run make setup")
    if found == instructions():
        pytest.skip("the instruction set that all other tests use")
    return request.param


def network(dropout: float) -> Transformer:
    torch.manual_seed(4)
    noise = {f"{part}dropout": dropout for part in ("", "attention_", "feedforward_")}
    return Transformer(11, 11, Sizes(32, 2, 48, **noise), n_layers=2)


def noise() -> list[Tensor]:
    return [dropout(torch.ones(37, 130), 0.3)]


def learn() -> list[Tensor]:
    """Whole layers, attention and the loss, forth and back, noise included."""
    pairs = [([4, 5, 6, 7, 8], [9, 4]), ([5], [6, 6, 7, 8, 9, 5, 4]), ([7, 8], [5])]
    model = network(0.2)
    loss, _ = translation(for_training(model), collate(MemoryCorpus(pairs), range(3)), 0.1)
    loss.backward()
    return [loss.detach(), *(p.grad for p in model.parameters() if p.grad is not None)]


def search() -> list[Tensor]:
    source = torch.tensor([[4, 5, 6, 7, 3], [8, 9, 3, 0, 0], [5, 3, 0, 0, 0]])
    model = network(0.0)
    model.eval().requires_grad_(False)
    found = beam_search(for_decoding(model), source, Search(width=7, n_best=3))
    tokens = [torch.tensor(one.tokens) for row in found for one in row]
    return [*tokens, torch.tensor([one.score for row in found for one in row])]


@pytest.mark.parametrize("compute", [noise, learn, search])
def test_the_same_noise_and_the_same_numbers(
    other: str, compute: Callable[[], list[Tensor]]
) -> None:
    torch.manual_seed(3)
    expected = compute()
    torch.manual_seed(3)
    with using_instructions(other):
        found = compute()
    for one, another in zip(found, expected, strict=True):
        torch.testing.assert_close(one, another, rtol=1e-4, atol=1e-5)
