"""The kernels as other processors would compile them: the same noise, and the same numbers."""

import platform
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

from regard.data import MemoryCorpus, collate
from regard.decoding import Search, beam_search
from regard.engine import dropout, is_native, native
from regard.models import Sizes, Transformer
from regard.training.tasks import translation

PROCESSORS = ["haswell", "x86-64"]  # AVX2, which most laptops have, and none of it

pytestmark = pytest.mark.skipif(
    not is_native() or platform.machine() != "x86_64", reason="needs g++ and an x86 processor"
)


@pytest.fixture(params=PROCESSORS)
def on_another(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], None]]:
    """From the call on, the kernels are those of another processor."""
    needed = "avx2" if request.param == "haswell" else "sse2"
    if needed not in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
        pytest.skip(f"this processor has no {needed}: nothing on this machine makes it run")

    def change() -> None:
        flags = [one for one in native._FLAGS if not one.startswith("-march")]
        monkeypatch.setattr(native, "_FLAGS", (*flags, f"-march={request.param}"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        native.library.cache_clear()
        assert is_native()

    yield change
    native.library.cache_clear()


def steady(compute: Callable[[], list[Tensor]]) -> list[Tensor]:
    torch.manual_seed(3)
    return compute()


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
    loss, _ = translation(model, collate(MemoryCorpus(pairs), range(3)), 0.1)
    loss.backward()
    return [loss.detach(), *(p.grad for p in model.parameters() if p.grad is not None)]


def search() -> list[Tensor]:
    source = torch.tensor([[4, 5, 6, 7, 3], [8, 9, 3, 0, 0], [5, 3, 0, 0, 0]])
    model = network(0.0)
    model.freeze()
    found = beam_search(model, source, Search(width=7, n_best=3))
    tokens = [torch.tensor(one.tokens) for row in found for one in row]
    return [*tokens, torch.tensor([one.score for row in found for one in row])]


@pytest.mark.slow  # one test, for compiling is what takes time
def test_the_same_noise_and_the_same_numbers(on_another: Callable[[], None]) -> None:
    parts = (noise, learn, search)
    here = [steady(part) for part in parts]
    on_another()
    for part, expected in zip(parts, here, strict=True):
        for one, other in zip(steady(part), expected, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
