"""One training run a folder: the lock that a run holds while it lives.

training/LOCK   whose it is: process, host and time, for the message alone

The system keeps the lock, not the file: it ends with the process that holds it, however that ends,
so a file that a killed run leaves behind locks nothing.
"""

import errno
import json
import logging
import os
import socket
import sys
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from regard.errors import ModelFolderError, TrainingError

LOCK = Path("training") / "LOCK"

_ATTEMPTS = 10
_HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)
_log = logging.getLogger(__name__)

if sys.platform == "win32":
    import msvcrt

    # What is locked cannot be read by others there: a byte far behind what the file says.
    _BYTE = 1 << 30

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class FolderLock:
    """The right to train in a model folder, which one process has at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / LOCK
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock, or say which process has it; ``training/`` must be there.

        A file system that knows no locks (some network drives) is no reason not to train: that
        nobody is kept out is then logged.

        Raises:
            TrainingError: another process trains in this folder.
        """
        if self._descriptor is not None:
            return
        for _ in range(_ATTEMPTS):
            descriptor = self._open()
            try:
                _lock(descriptor)
            except OSError as error:
                if error.errno in _HELD:
                    os.close(descriptor)
                    raise TrainingError(self._in_use()) from error
                _log.warning(
                    "%s cannot be locked (%s): see to it that no second run writes there",
                    self.folder,
                    error.strerror,
                )
            # Whoever had it may have removed the file just before: then this is a lock on nothing.
            if _is_at(descriptor, self.path):
                self._descriptor = descriptor
                self._write(descriptor)
                return
            os.close(descriptor)
        raise ModelFolderError(f"{self.path} cannot be locked: it is removed again and again")

    def release(self) -> None:
        """Let others train here."""
        if self._descriptor is not None:
            if _is_at(self._descriptor, self.path):
                with suppress(OSError):  # Windows removes no open file: it stays, and locks nothing
                    self.path.unlink()
            os.close(self._descriptor)
            self._descriptor = None

    def __del__(self) -> None:
        self.release()

    def _open(self) -> int:
        try:
            self.path.parent.mkdir(exist_ok=True)
            return os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise ModelFolderError(
                f"{self.path} cannot be written: {error.strerror}; choose another --out"
            ) from error

    def _write(self, descriptor: int) -> None:
        """Say whose it is; on a full disk nobody is told, and the lock holds all the same."""
        holder = {
            "process": os.getpid(),
            "host": socket.gethostname(),
            "since": datetime.now().astimezone().isoformat(" ", "seconds"),
        }
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{json.dumps(holder, ensure_ascii=False)}\n".encode())

    def _in_use(self) -> str:
        holder = _read(self.path)
        who, stop = "another process", "stop it"
        if {"process", "host", "since"} <= holder.keys():
            process, host, since = (holder[key] for key in ("process", "host", "since"))
            there = "" if host == socket.gethostname() else f" on {host}"
            who = f"process {process}{there}, which began at {since}"
            stop = f"stop it (kill {process}{there})"
        return (
            f"{self.folder} is being trained by {who}: wait for its end or {stop}, or choose "
            "another --out"
        )


def _read(path: Path) -> dict[str, Any]:
    """What the holder wrote; nothing where it has not written yet."""
    try:
        holder = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return holder if isinstance(holder, dict) else {}


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False
