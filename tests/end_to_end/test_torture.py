"""Damaged folders and traces, kills and full disks: refused in one sentence, or no bit is other.

Everything follows from a seed. A longer run by hand, of so many rounds and another seed:

    TORTURE_ROUNDS=500 TORTURE_SEED=7 .venv/bin/python -m pytest tests/end_to_end/test_torture.py
"""

import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from .commands import begin
from .conftest import called
from .damage import damage, files

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="limits and kill -9 are of Unix"),
]

ROUNDS = int(os.environ.get("TORTURE_ROUNDS", "0"))
SEED = int(os.environ.get("TORTURE_SEED", "1"))
GIGABYTE = 1 << 30
SHORT = ("training.updates=4", "training.save_every=2", "training.validate_every=2")
LONGER = ("training.updates=8", "training.save_every=2", "training.validate_every=2")
Captured = pytest.CaptureFixture[str]


def rounds(few: int, share: float = 1.0) -> int:
    """So many in the suite; by hand, a share of those that were asked for."""
    return max(1, int(ROUNDS * share)) if ROUNDS else few


@contextmanager
def limited(name: str, size: int) -> Iterator[None]:
    """Within, the system gives this process no more of something."""
    import resource

    which = getattr(resource, name)
    before = resource.getrlimit(which)
    resource.setrlimit(which, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(which, before)


def n_mapped() -> int:
    """Bytes of memory this process has addresses for."""
    if not (told := Path("/proc/self/statm")).exists():
        return 64 * GIGABYTE
    return int(told.read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")


class Torture:
    """Runs commands in this process, and judges how they end."""

    def __init__(self, capture: Captured, log: pytest.LogCaptureFixture) -> None:
        self.capture, self.log = capture, log

    def run(self, *arguments: object) -> tuple[int, str, str]:
        """Exit code, stdout and what was said; a gigabyte more than now is too much."""
        self.log.clear()
        with limited("RLIMIT_AS", n_mapped() + GIGABYTE):
            code, out, err = called(self.capture, *arguments)
        return code, out, err + "".join(f"{one}\n" for one in self.log.messages)

    def require_refusal(self, told: tuple[int, str, str], why: object) -> None:
        code, _, err = told
        assert code == 2, f"{why}\n{err}"
        assert "Traceback" not in err, f"{why}\n{err}"
        said = [line for line in err.splitlines() if line.startswith("regard: ")]
        assert len(said) == 1, f"{why}\n{err}"
        assert "memory" not in said[0], f"{why}: it was asked for before it was refused\n{err}"


@pytest.fixture
def torture(capsys: Captured, caplog: pytest.LogCaptureFixture) -> Torture:
    return Torture(capsys, caplog)


def draws(name: str) -> random.Random:
    return random.Random(f"{SEED} {name}")


def test_a_damaged_model_is_refused_or_translates_the_same(
    torture: Torture, finished: Any, toy: Any, tmp_path: Path
) -> None:
    whole, model, draw = tmp_path / "whole", tmp_path / "model", draws("models")
    shutil.copytree(finished[1], whole, ignore=shutil.ignore_patterns("training"))
    text = tmp_path / "text"
    text.write_text("a b c d\nh g\nc a f e d b\n", encoding="utf-8")
    asked = ("translate", model, text, "--beam", "3", "--device", "cpu", "--threads", "1")
    shutil.copytree(whole, model)
    code, expected, _ = torture.run(*asked)
    assert code == 0
    names, n_same = files(whole), 0
    for number in range(rounds(50)):
        shutil.rmtree(model)
        shutil.copytree(whole, model)
        has_checksums = draw.random() < 0.8
        if not has_checksums:  # as of an older Regard: then a number may change unseen
            (model / "CHECKSUMS").unlink(missing_ok=True)
        done = damage(draw, model, [one for one in names if (model / one).exists()])
        told = torture.run(*asked)
        if told[0] == 0 and has_checksums:
            assert told[1] == expected, f"{number}, {done}: another translation, and exit 0"
            n_same += 1
        elif told[0] != 0:
            torture.require_refusal(told, f"{number}, {done}")
    assert n_same < rounds(50)


def test_a_damaged_trace_is_refused_or_shows_the_same(
    torture: Torture, finished: Any, tmp_path: Path
) -> None:
    draw, place = draws("traces"), tmp_path / "one.trace"
    code, _, err = torture.run("look", finished[1], "a b c d", "--save", place)
    assert code == 0, err
    whole = place.read_bytes()
    asked = ("look", place, "--json")
    _, expected, _ = torture.run(*asked)
    for number in range(rounds(40)):
        place.write_bytes(whole)
        done = damage(draw, tmp_path, [place.name])
        told = torture.run(*asked)
        if told[0] == 0:
            assert told[1] == expected, f"{number}, {done}: another trace, and exit 0"
        else:
            torture.require_refusal(told, f"{number}, {done}")


@pytest.fixture(scope="module")
def half(toy: Any, regard: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has some updates behind it, and some before it."""
    out = tmp_path_factory.mktemp("half") / "run"
    done = regard(toy.arguments(out, *SHORT))
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def ended(
    half: Path, toy: Any, regard: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, bytes]:
    """What that run ends with if nothing befalls it."""
    out = tmp_path_factory.mktemp("ended") / "run"
    shutil.copytree(half, out)
    done = regard(toy.arguments(out, *LONGER))
    assert done.returncode == 0, done.stderr
    return outcome(out)


def outcome(folder: Path) -> dict[str, bytes]:
    last = "training/checkpoints/000008"
    names = ("weights.safetensors", "recipe.toml", "tokenizer.json", f"{last}/weights.safetensors")
    return {name: (folder / name).read_bytes() for name in (*names, f"{last}/state.safetensors")}


def test_a_damaged_run_is_refused_or_ends_the_same(
    torture: Torture, half: Path, ended: dict[str, bytes], toy: Any, tmp_path: Path
) -> None:
    """Of a checkpoint that was to be averaged and is damaged it is said that it is passed over."""
    draw, out = draws("runs"), tmp_path / "run"
    names = files(half)
    for number in range(rounds(10, 0.2)):
        if out.exists():
            shutil.rmtree(out)
        shutil.copytree(half, out)
        is_data = number < 4  # of which there are few among so many files
        some = [one for one in names if "train/source" in one or not is_data]
        done = damage(draw, out, some, keeps_size=is_data)
        told = torture.run(*toy.arguments(out, *LONGER))
        if told[0] != 0:
            torture.require_refusal(told, f"{number}, {done}")
        elif "passed over" not in told[2]:
            assert outcome(out) == ended, f"{number}, {done}: another end, and exit 0"


def test_on_a_full_disk_a_run_is_refused_and_then_ends_the_same(
    torture: Torture, half: Path, ended: dict[str, bytes], toy: Any, tmp_path: Path
) -> None:
    draw = draws("disks")
    largest = max(path.stat().st_size for path in half.rglob("*") if path.is_file())
    for number in range(rounds(3, 0.05)):
        out = tmp_path / f"run-{number}"
        shutil.copytree(half, out)
        room = draw.randrange(largest)
        with limited("RLIMIT_FSIZE", room):
            told = torture.run(*toy.arguments(out, *LONGER))
        torture.require_refusal(told, f"room for {room} bytes")
        assert "make room" in told[2], told[2]
        code, _, err = torture.run(*toy.arguments(out, *LONGER))
        assert code == 0, err
        assert outcome(out) == ended, f"another end after a disk with room for {room} bytes"


def test_killed_again_and_again_a_run_ends_the_same(
    torture: Torture, half: Path, ended: dict[str, bytes], toy: Any, tmp_path: Path
) -> None:
    draw, out = draws("kills"), tmp_path / "run"
    shutil.copytree(half, out)
    for _ in range(rounds(4, 0.1)):
        process = begin(toy.arguments(out, *LONGER))
        time.sleep(draw.uniform(0.0, 1.0))
        with suppress(ProcessLookupError):  # it was faster
            process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert process.returncode in (0, -signal.SIGKILL)
    code, _, err = torture.run(*toy.arguments(out, *LONGER))
    assert code == 0, err
    assert outcome(out) == ended


def test_an_output_on_a_full_disk_is_refused(
    torture: Torture, finished: Any, tmp_path: Path
) -> None:
    text = tmp_path / "text"
    text.write_text("a b c d\n" * 50, encoding="utf-8")
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    told = torture.run("translate", finished[1], text, "--beam", "1", "--out", "/dev/full")
    torture.require_refusal(told, "/dev/full")
