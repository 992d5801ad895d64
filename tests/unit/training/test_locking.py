"""A folder has one training run at a time, and a dead one locks nothing."""

import errno
import json
import logging
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from regard.errors import ModelFolderError, TrainingError
from regard.training import locking
from regard.training.locking import LOCK, FolderLock

HOLDING = """
import sys, time
from pathlib import Path
from regard.training.locking import FolderLock

lock = FolderLock(Path(sys.argv[1]))
lock.acquire()
print("locked", flush=True)
time.sleep(60)
"""


def refusal(folder: Path) -> str:
    with pytest.raises(TrainingError) as caught:
        FolderLock(folder).acquire()
    return str(caught.value)


def test_a_second_one_is_refused_by_the_name_of_the_first(tmp_path: Path) -> None:
    first = FolderLock(tmp_path)
    first.acquire()
    first.acquire()  # it has it already
    said = refusal(tmp_path)
    assert str(tmp_path) in said
    assert f"process {os.getpid()}" in said
    holder = json.loads((tmp_path / LOCK).read_text(encoding="utf-8"))
    assert holder["host"] == socket.gethostname()
    assert holder["since"] in said
    first.release()
    first.release()
    if sys.platform != "win32":
        assert not (tmp_path / LOCK).exists()
    second = FolderLock(tmp_path)
    second.acquire()
    assert f"process {os.getpid()}" in refusal(tmp_path)
    del second  # whoever forgets to release it
    FolderLock(tmp_path).acquire()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_killed_it_locks_nothing(tmp_path: Path) -> None:
    holding = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert holding.stdout is not None
    with holding.stdout:
        assert holding.stdout.readline() == "locked\n"
        assert f"kill {holding.pid}" in refusal(tmp_path)
        holding.send_signal(signal.SIGKILL)
        holding.wait(timeout=30)
    lock = FolderLock(tmp_path)
    lock.acquire()
    holder = json.loads((tmp_path / LOCK).read_text(encoding="utf-8"))
    assert holder["process"] == os.getpid()


@pytest.mark.parametrize("said", [b"", b"\xff", b"[1]", b'{"process": 3}', b"[" * 100_000])
def test_a_holder_that_has_not_said_who_it_is(tmp_path: Path, said: bytes) -> None:
    first = FolderLock(tmp_path)
    first.acquire()
    (tmp_path / LOCK).write_bytes(said)
    assert "another process" in refusal(tmp_path)


def test_a_holder_elsewhere_is_named_with_its_host(tmp_path: Path) -> None:
    first = FolderLock(tmp_path)
    first.acquire()
    holder = {"process": 7, "host": "elsewhere", "since": "2026-01-02 03:04:05+00:00"}
    (tmp_path / LOCK).write_text(json.dumps(holder), encoding="utf-8")
    assert "process 7 on elsewhere" in refusal(tmp_path)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_locks_is_said_and_trained_on(
    tmp_path: Path,
    number: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def without(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(locking, "_lock", without)
    first, second = FolderLock(tmp_path), FolderLock(tmp_path)
    with caplog.at_level(logging.WARNING):
        first.acquire()
        second.acquire()
    assert len(caplog.messages) == 2
    assert str(tmp_path) in caplog.messages[0]
    assert os.strerror(number) in caplog.messages[0]


def test_a_lock_on_a_file_that_was_just_removed_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, n_removed = locking._lock, 0

    def removed(descriptor: int) -> None:
        nonlocal n_removed
        if n_removed < 2:
            n_removed += 1
            (tmp_path / LOCK).unlink()
        lock(descriptor)

    monkeypatch.setattr(locking, "_lock", removed)
    first = FolderLock(tmp_path)
    first.acquire()
    assert n_removed == 2
    refusal(tmp_path)


def test_a_place_where_no_lock_can_be(tmp_path: Path) -> None:
    (tmp_path / "training").touch()
    with pytest.raises(ModelFolderError) as caught:
        FolderLock(tmp_path).acquire()
    assert str(tmp_path / LOCK) in str(caught.value)
