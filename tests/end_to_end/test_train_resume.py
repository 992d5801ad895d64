"""A run that was stopped, or killed at any moment, ends as one that was not: bit for bit."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regard.training import read_metrics

from .commands import Begun, begin, environment

Done = subprocess.CompletedProcess[str]
Finished = tuple[Done, Path]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")


def start(arguments: list[str]) -> subprocess.Popen[str]:
    """Unlike one that is begun, it has to import everything first."""
    return subprocess.Popen(
        [sys.executable, "-m", "regard", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment(),
    )


def wait_for(process: Begun, words: str) -> str:
    """Read what a run says until these words come, or it ends."""
    said = ""
    for line in process.stderr:
        said += line
        if words in line:
            break
    return said


def assert_same_end(out: Path, undisturbed: Path) -> None:
    """The model, the last checkpoint and the curve are those of the run nobody disturbed."""
    for name in (
        "weights.safetensors",
        "training/checkpoints/000060/weights.safetensors",
        "training/checkpoints/000060/state.safetensors",
        "recipe.toml",
        "tokenizer.json",
    ):
        assert (out / name).read_bytes() == (undisturbed / name).read_bytes(), name
    curves = [
        [(r["event"], r["update"], r.get("loss")) for r in read_metrics(one / "metrics.jsonl")]
        for one in (out, undisturbed)
    ]
    assert curves[0] == curves[1]


@pytest.mark.slow
def test_ctrl_c_saves_and_the_same_command_continues(
    finished: Finished, toy: Any, regard: Callable[..., Done], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    process = begin(toy.arguments(out))
    said = wait_for(process, "update 10: saved")
    process.send_signal(signal.SIGINT)
    stdout, rest = process.communicate(timeout=60)
    assert process.returncode == 130, said + rest
    assert stdout == ""
    last = rest.splitlines()[-1]
    assert last.startswith("Stopped after update ")
    assert last.endswith(", and saved: the same command continues.")
    stopped = int(last.split()[3].rstrip(","))
    assert 10 <= stopped < 60
    assert (out / f"training/checkpoints/{stopped:06d}/weights.safetensors").is_file()
    done = regard(toy.arguments(out))
    assert done.returncode == 0, done.stderr
    assert f"Continuing after update {stopped}.\n" in done.stderr
    assert "\nFinished after 60 updates" in done.stderr
    assert_same_end(out, finished[1])


@pytest.mark.slow
def test_a_second_run_in_the_same_folder_is_refused_and_disturbs_nothing(
    finished: Finished, toy: Any, regard: Callable[..., Done], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    first = begin(toy.arguments(out))
    said = wait_for(first, "update 10: saved")
    first.send_signal(signal.SIGSTOP)  # so that it still runs when the other comes
    second = regard(toy.arguments(out))
    first.send_signal(signal.SIGCONT)
    assert second.returncode == 2, second.stderr
    assert second.stdout == ""
    assert second.stderr.count("\n") == 1
    assert f"process {first.pid}" in second.stderr
    _, rest = first.communicate(timeout=60)
    assert first.returncode == 0, said + rest
    assert_same_end(out, finished[1])


@pytest.mark.slow
def test_killed_at_random_moments_it_ends_bit_for_bit_the_same(
    finished: Finished, toy: Any, regard: Callable[..., Done], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    draw = random.Random(11)
    n_killed = 0
    process: subprocess.Popen[str] | Begun
    for attempt in range(3):
        if attempt:  # the first is killed while it starts and prepares
            process = begin(toy.arguments(out))
            wait_for(process, ": saved")
            time.sleep(draw.uniform(0.0, 0.05))  # so short that no machine reaches the end
        else:
            process = start(toy.arguments(out))
            time.sleep(draw.uniform(0.5, 1.5))
        process.kill()
        process.communicate(timeout=60)
        n_killed += process.returncode == -signal.SIGKILL
    assert n_killed == 3
    done = regard(toy.arguments(out))
    assert done.returncode == 0, done.stderr
    assert_same_end(out, finished[1])
    assert not [path for path in out.rglob("*") if path.name.endswith(".partial")]
