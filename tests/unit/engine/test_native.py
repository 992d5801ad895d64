"""The C++ library is never needed: no compiler, a failing one, or none wanted."""

import logging
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from regard import engine
from regard.data import MemoryCorpus, collate
from regard.engine import is_native, native, without_native
from regard.engine.memory import keep_heap
from regard.models import Sizes, Transformer
from regard.training.tasks import translation


@pytest.fixture
def _afresh() -> Iterator[None]:
    """The library is looked for again, within the test and after it."""
    native.library.cache_clear()
    yield
    native.library.cache_clear()


def train_a_little() -> float:
    torch.manual_seed(1)
    model = Transformer(11, 11, Sizes(32, 2, 16, dropout=0.3), n_layers=1)
    batch = collate(MemoryCorpus([([4, 5, 6], [7, 8]), ([9], [10, 4, 5])]), [0, 1])
    loss, _ = translation(model, batch, 0.1)
    loss.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
    return float(loss.detach())


def test_without_native_ends_with_its_block_even_by_an_error() -> None:
    before = is_native()
    with pytest.raises(ZeroDivisionError), without_native():
        _ = 1 / is_native()
    assert is_native() == before
    with without_native():
        with without_native():
            assert not is_native()
        assert not is_native()
    assert is_native() == before


@pytest.mark.usefixtures("_afresh")
def test_without_a_compiler_everything_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert native.library() is None
    assert not is_native()
    assert train_a_little() > 0


@pytest.mark.usefixtures("_afresh")
def test_on_another_system_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    assert native.library() is None
    assert not keep_heap()


@pytest.mark.usefixtures("_afresh")
def test_a_failing_compiler_is_logged_and_done_without(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = tmp_path / "g++"
    broken.write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda name: str(broken))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with caplog.at_level(logging.INFO, "regard.engine.native"):
        assert native.library() is None
    assert "the C++ kernels cannot be built" in caplog.text
    assert "torch's are used" in caplog.text
    assert not list((tmp_path / "cache" / "regard").iterdir())  # nothing half made is left
    assert train_a_little() > 0


@pytest.mark.usefixtures("_afresh")
def test_a_compiler_that_never_ends_is_done_without(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def too_long(command: list[str], **options: object) -> None:
        raise subprocess.TimeoutExpired(command, 600)

    monkeypatch.setattr("subprocess.run", too_long)
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/g++")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert native.library() is None


@pytest.mark.usefixtures("_afresh")
@pytest.mark.parametrize("content", [b"", b"not a library"])
def test_a_damaged_library_is_done_without(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/g++")
    monkeypatch.setattr(native, "_key", lambda flags: "damaged")
    (tmp_path / "regard").mkdir()
    (tmp_path / "regard" / "kernels-damaged.so").write_bytes(content)
    assert native.library() is None
    assert train_a_little() > 0


@pytest.mark.usefixtures("_afresh")
def test_a_cache_that_cannot_be_written_is_done_without(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/g++")
    assert native.library() is None


def test_the_kernels_are_asked_only_for_float32_on_a_cpu() -> None:
    assert native.native(torch.zeros(1, dtype=torch.float64)) is None
    assert native.native(torch.zeros(1), torch.zeros(1, dtype=torch.bfloat16)) is None
    assert native.native(torch.zeros(1, device="meta")) is None
    assert (native.native(torch.zeros(1)) is not None) == is_native()


def test_both_paths_train_alike_without_noise() -> None:
    model = Transformer(11, 11, Sizes(32, 2, 16, True, "relu", 0.0, 0.0, 0.0, 0.0), n_layers=1)
    batch = collate(MemoryCorpus([([4, 5, 6], [7, 8])]), [0])
    fast, _ = translation(model, batch, 0.1)
    with without_native():
        slow, _ = translation(model, batch, 0.1)
    torch.testing.assert_close(fast, slow)
    assert engine.is_native() == is_native()


@pytest.mark.parametrize("wrong", [-1, 7])
def test_an_id_outside_the_table_is_refused(wrong: int) -> None:
    with pytest.raises(IndexError):
        engine.embed(
            torch.randn(7, 16),
            torch.tensor([1, wrong]),
            torch.randn(3, 16),
            torch.tensor([0, 1]),
            scale=1.0,
            p=0.0,
        )
    with pytest.raises(IndexError):
        engine.linear_cross_entropy(
            torch.randn(2, 16), torch.randn(7, 16), torch.tensor([1, wrong])
        )
