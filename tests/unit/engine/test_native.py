"""The C++ library is never needed: no compiler, a failing one, or none wanted."""

import logging
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from regard import engine
from regard.data import MemoryCorpus, collate
from regard.engine import compiling, instructions, is_native, native, without_native
from regard.engine.memory import keep_heap
from regard.errors import UsageError
from regard.models import Sizes, Transformer
from regard.training.tasks import translation


@pytest.fixture
def _afresh() -> Iterator[None]:
    """The library is looked for again, within the test and after it."""
    native._opened.cache_clear()
    yield
    native._opened.cache_clear()


@pytest.fixture
def cache(_afresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the user's; the package holds no library."""
    if not compiling.supported():
        pytest.skip("no C++ kernels for this kind of machine")
    monkeypatch.delenv("REGARD_INSTRUCTIONS", raising=False)
    monkeypatch.setattr(native, "COMPILED", tmp_path / "none")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "regard"


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that compiles nothing."""
    file = tmp_path / "c++"
    file.write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    file.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda name: str(file))


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
        assert instructions() is None
    assert is_native() == before


def test_without_a_library_or_a_compiler_everything_works(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert native.library() is None
    assert not is_native()
    assert train_a_little() > 0
    assert not cache.exists()


@pytest.mark.usefixtures("_afresh")
def test_on_another_system_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.system", lambda: "Windows")
    assert native.library() is None
    assert not keep_heap()


@pytest.mark.usefixtures("broken")
def test_a_failing_compiler_is_logged_and_done_without(
    cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "regard.engine.native"):
        assert native.library() is None
    assert "the C++ kernels cannot be built" in caplog.text
    assert "torch's are used" in caplog.text
    assert not list(cache.iterdir())  # nothing half made is left
    assert train_a_little() > 0


def test_a_compiler_that_never_ends_is_done_without(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_long(command: list[str], **options: object) -> None:
        raise subprocess.TimeoutExpired(command, 600)

    monkeypatch.setattr("subprocess.run", too_long)
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/c++")
    assert native.library() is None


@pytest.mark.parametrize("content", [b"", b"not a library"])
def test_a_damaged_library_is_done_without(cache: Path, content: bytes) -> None:
    cache.mkdir(parents=True)
    (cache / compiling.supported()[0].file_name).write_bytes(content)
    assert native.library() is None
    assert train_a_little() > 0


def test_a_cache_that_cannot_be_written_is_done_without(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.parent.touch()
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/c++")
    assert native.library() is None


def test_an_old_library_is_never_opened(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library has the hash of its sources in its name: of changed ones there is none."""
    before = {one.file_name for one in compiling.supported()}
    sources = shutil.copytree(compiling.SOURCES, tmp_path / "sources")
    with (sources / "base.h").open("a") as file:
        file.write("// a change\n")
    compiling._all_sources.cache_clear()
    monkeypatch.setattr(compiling, "SOURCES", sources)
    try:
        assert before.isdisjoint(one.file_name for one in compiling.supported())
    finally:
        compiling._all_sources.cache_clear()


@pytest.mark.usefixtures("_afresh")
def test_instructions_are_chosen_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in compiling.supported():
        monkeypatch.setenv("REGARD_INSTRUCTIONS", name.name)
        native._opened.cache_clear()
        assert instructions() in (name.name, None)  # None where it is not compiled
    monkeypatch.setenv("REGARD_INSTRUCTIONS", "none")
    native._opened.cache_clear()
    assert not is_native()


@pytest.mark.usefixtures("_afresh")
def test_instructions_that_do_not_exist_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_INSTRUCTIONS", "avx9")
    with pytest.raises(UsageError, match="avx9"):
        native.library()


@pytest.mark.usefixtures("_afresh")
def test_instructions_that_the_processor_lacks_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lacking = next((one for one in compiling.instruction_sets() if one.needs), None)
    if lacking is None:
        pytest.skip("every processor of this kind has all instruction sets")
    monkeypatch.setattr(compiling, "processor_features", lambda: frozenset())
    monkeypatch.setenv("REGARD_INSTRUCTIONS", lacking.name)
    with pytest.raises(UsageError, match="this processor does not have"):
        native.library()


def test_what_a_mac_says_of_its_processor_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "FMA MOVBE F16C AVX1.0\nBMI1 AVX2 BMI2 AVX512F AVX512DQ AVX512CD AVX512BW AVX512VL\n"
    told = subprocess.CompletedProcess([], 0, stdout=said)
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr("subprocess.run", lambda *command, **options: told)
    compiling.processor_features.cache_clear()
    try:
        assert [one.name for one in compiling.supported()] == ["avx512", "avx2"]
    finally:
        compiling.processor_features.cache_clear()


def test_the_kernels_bring_no_openmp_of_their_own() -> None:
    """They take what torch has loaded: two in one process would wait for each other's threads."""
    library = native.library()
    if library is None:
        pytest.skip("no C++ kernels: install g++ on Linux, for example with apt-get install g++")
    content = Path(library._name).read_bytes()
    assert b"omp_get_max_threads" in content
    assert not any(name in content for name in (b"libgomp", b"libomp", b"libiomp"))


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
