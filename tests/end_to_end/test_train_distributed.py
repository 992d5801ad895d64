"""The same command in two processes: the same losses, and the same end after a kill."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.systems import load
from regard.training import read_metrics
from regard.training.locking import FolderLock

from . import commands

Done = subprocess.CompletedProcess[str]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="gloo and kill -9 are of Unix"),
]


def begin(arguments: Sequence[str], n_processes: int = 2) -> list[commands.Begun]:
    """Begin processes with the variables that torchrun would set, which is slower to start."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(n_processes)}
    return [
        commands.begin(arguments, **shared, RANK=str(rank), LOCAL_RANK=str(rank))
        for rank in range(n_processes)
    ]


def finish(arguments: Sequence[str]) -> list[tuple[int, str]]:
    """The exit code of each process, and what it said on stderr."""
    processes = begin(arguments)
    said = [process.communicate(timeout=120) for process in processes]
    assert [stdout for stdout, _ in said] == ["", ""]
    return [(p.returncode, text) for p, (_, text) in zip(processes, said, strict=True)]


def losses(folder: Path, event: str) -> list[float]:
    return [r["loss"] for r in read_metrics(folder / "metrics.jsonl") if r["event"] == event]


def test_two_processes_lose_what_one_with_twice_the_batch_loses(
    toy: Any, regard: Callable[..., Done], tmp_path: Path
) -> None:
    """By torchrun, as it is typed."""
    calm = ["model.dropout=0", "model.attention_dropout=0", "model.feedforward_dropout=0"]
    calm += ["training.updates=30", "training.validate_every=10"]
    done = regard(toy.arguments(tmp_path / "one", *calm, "training.batch_tokens=256"))
    assert done.returncode == 0, done.stderr
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"]
    command = toy.arguments(tmp_path / "two", *calm, "training.batch_tokens=128")
    together = subprocess.run(
        [sys.executable, *torchrun, "regard", *command],
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=120,
        env=commands.environment(),
    )
    said = together.stderr
    assert (together.returncode, together.stdout) == (0, ""), said
    assert said.count("Finished after 30 updates") == 1  # only the first process speaks
    for event in ("stepped", "validated"):
        one, two = (losses(tmp_path / name, event) for name in ("one", "two"))
        assert len(one) == 3
        assert two == pytest.approx(one, rel=2e-4)


def test_a_folder_that_is_in_use_is_refused_by_both(toy: Any, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    lock = FolderLock(tmp_path / "run")
    lock.acquire()
    first, second = finish(toy.arguments(tmp_path / "run"))
    assert (first[0], second[0]) == (2, 2), first[1] + second[1]
    assert f"process {os.getpid()}" in first[1]
    assert "the first process could not go on" in second[1]
    assert [one.name for one in (tmp_path / "run/training").iterdir()] == ["LOCK"]


def test_killed_and_continued_two_processes_end_the_same(toy: Any, tmp_path: Path) -> None:
    """With dropout on: each process draws noise of its own, and the same again."""
    changes = ["training.updates=40", "training.ema=0.9", "training.validate_every=10"]
    whole, out = tmp_path / "whole", tmp_path / "killed"
    (code, said), (other, silent) = finish(toy.arguments(whole, *changes))
    assert (code, other) == (0, 0), said + silent
    assert silent == ""
    processes = begin(toy.arguments(out, *changes))
    for line in processes[0].stderr:
        if "update 20: saved" in line:
            break
    for process in processes:
        process.kill()
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
    assert not (out / "training/checkpoints/000040").exists()
    (code, said), (other, silent) = finish(toy.arguments(out, *changes))
    assert (code, other) == (0, 0), said + silent
    for name in (
        "weights.safetensors",
        "training/checkpoints/000040/weights.safetensors",
        "training/checkpoints/000040/state.safetensors",
    ):
        assert (out / name).read_bytes() == (whole / name).read_bytes(), name
    assert losses(out, "stepped") == losses(whole, "stepped")


def test_a_sharded_run_loses_the_same_and_continues(toy: Any, tmp_path: Path) -> None:
    """Each process holds half of every weight; dropout is off, as its noise differs."""
    calm = ["model.dropout=0", "model.attention_dropout=0", "model.feedforward_dropout=0"]
    calm += ["training.ema=0.9", "training.decodes_at_validation=false"]
    plain, out = tmp_path / "plain", tmp_path / "sharded"
    first = [*calm, "training.updates=20", "training.schedule=constant"]
    for folder, updates, shard in ((plain, 40, "false"), (out, 20, "true"), (out, 40, "true")):
        changes = [*first, f"training.updates={updates}", f"training.shard={shard}"]
        (code, said), (other, silent) = finish(toy.arguments(folder, *changes))
        assert (code, other) == (0, 0), said + silent
    assert losses(out, "stepped") == pytest.approx(losses(plain, "stepped"), rel=2e-4)
    assert losses(out, "validated") == pytest.approx(losses(plain, "validated"), rel=2e-4)
    whole, halves = (load(folder).model.state_dict() for folder in (plain, out))
    for name, tensor in whole.items():
        if not name.endswith("key.bias"):  # softmax cancels it: its gradient is rounding alone
            torch.testing.assert_close(halves[name], tensor, rtol=1e-2, atol=1e-3)


def test_another_number_of_processes_is_refused(
    toy: Any, regard: Callable[..., Done], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    assert regard(toy.arguments(out, "training.updates=10")).returncode == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    (code, said), _ = finish(toy.arguments(out, "training.updates=20"))
    assert code == 2
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert said.splitlines()[-1] == (
        f"regard: {out} was trained by 1 process and cannot be continued exactly by 2: "
        "start as many as before"
    )


def test_what_is_refused_ends_all_and_leaves_nothing(toy: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    arguments = toy.arguments(out, "text.kind=sentencepiece", "text.size=9000")
    (code, said), (other, second) = finish(arguments)
    assert (code, other) == (2, 2), said + second
    refusal = said.splitlines()[-1]
    assert refusal.startswith("regard: A vocabulary of 9000 is more than these 600 sentences")
    assert second == "regard: the first process could not go on, and says why\n"
    assert not out.exists()
