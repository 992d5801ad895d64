"""The same command in two processes: the same losses, and the same end after a kill."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from regard.training import read_metrics

Done = subprocess.CompletedProcess[str]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="children are found in /proc"),
]


def begin(arguments: Sequence[str], n_processes: int = 2) -> subprocess.Popen[str]:
    """Start the command on several processes by torchrun, on a port of its own."""
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(n_processes)]
    return subprocess.Popen(
        [sys.executable, *launcher, "-m", "regard", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def finish(arguments: Sequence[str]) -> str:
    process = begin(arguments)
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    assert stdout == ""
    return stderr


def children(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                after_name = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(after_name[1]) == parent:
                found.append(int(entry.name))
    return found


def losses(folder: Path, event: str) -> list[float]:
    return [r["loss"] for r in read_metrics(folder / "metrics.jsonl") if r["event"] == event]


def test_two_processes_lose_what_one_with_twice_the_batch_loses(
    toy: Any, regard: Callable[..., Done], tmp_path: Path
) -> None:
    calm = ["model.dropout=0", "model.attention_dropout=0", "model.feedforward_dropout=0"]
    calm += ["training.updates=30", "training.validate_every=10"]
    done = regard(toy.arguments(tmp_path / "one", *calm, "training.batch_tokens=256"))
    assert done.returncode == 0, done.stderr
    said = finish(toy.arguments(tmp_path / "two", *calm, "training.batch_tokens=128"))
    assert said.count("Finished after 30 updates") == 1  # only the first process speaks
    for event in ("stepped", "validated"):
        alone, together = (losses(tmp_path / name, event) for name in ("one", "two"))
        assert len(alone) == 3
        assert together == pytest.approx(alone, rel=2e-4)


def test_killed_and_continued_two_processes_end_the_same(toy: Any, tmp_path: Path) -> None:
    """With dropout on: each process draws noise of its own, and the same again."""
    changes = ["training.updates=40", "training.ema=0.9", "training.validate_every=10"]
    finish(toy.arguments(tmp_path / "whole", *changes))
    out = tmp_path / "killed"
    process = begin(toy.arguments(out, *changes))
    assert process.stderr is not None
    for line in process.stderr:
        if "update 20: saved" in line:
            break
    time.sleep(0.05)
    workers = children(process.pid)
    assert len(workers) == 2
    for pid in (process.pid, *workers):  # the launcher first: it would tell the others to stop
        os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert not (out / "training/checkpoints/000040").exists()
    finish(toy.arguments(out, *changes))
    for name in (
        "weights.safetensors",
        "training/checkpoints/000040/weights.safetensors",
        "training/checkpoints/000040/state.safetensors",
    ):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    assert losses(out, "stepped") == losses(tmp_path / "whole", "stepped")


def test_what_is_refused_is_refused_by_all_and_leaves_nothing(toy: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    process = begin(toy.arguments(out, "text.kind=sentencepiece", "text.size=9000"))
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode != 0
    assert stdout == ""
    assert stderr.count("regard: A vocabulary of 9000 is more than these 600 sentences") == 1
    assert not out.exists()
