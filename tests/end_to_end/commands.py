"""The real command in processes of their own, which need not import torch each time.

One process (``waiting.py``) imports all, and forks for each command: the child has its own memory,
streams and exit code, as if it had just been started. Where a system cannot fork, it is started.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TextIO

COMMAND = (sys.executable, "-m", "regard")
Done = subprocess.CompletedProcess[str]


def environment(**variables: str) -> dict[str, str]:
    """As it is now, with one thread: tests run side by side."""
    return {**os.environ, "OMP_NUM_THREADS": "1", **variables}


def run(arguments: Sequence[str], given: bytes = b"", timeout: int = 120) -> Done:
    """Run the command with this on standard input, and wait for its end."""
    ends = _fork if hasattr(os, "fork") else _start
    code, out, err = ends(list(arguments), given, timeout)
    return Done([*COMMAND, *arguments], code, out.decode(), err.decode())


def _start(arguments: list[str], given: bytes, timeout: int) -> tuple[int, bytes, bytes]:
    done = subprocess.run(
        [*COMMAND, *arguments],
        input=given,
        capture_output=True,
        check=False,
        timeout=timeout,
        env=environment(),
    )
    return done.returncode, done.stdout, done.stderr


def _fork(arguments: list[str], given: bytes, timeout: int) -> tuple[int, bytes, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        streams = _streams(folder)
        streams[0].write_bytes(given)
        code = _ask(arguments, streams, timeout, environment())
        return code, streams[1].read_bytes(), streams[2].read_bytes()


@dataclass
class Begun:
    """A command that goes on, as ``subprocess.Popen`` has it."""

    folder: tempfile.TemporaryDirectory[str]
    pid: int
    stderr: TextIO
    returncode: int | None = None

    def send_signal(self, number: int) -> None:
        """Interrupt it, or what else the signal means; one that has ended hears nothing."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it without a word."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float) -> tuple[str, str]:
        """Its stdout, and what of its stderr was not read yet, when it has ended."""
        until = time.monotonic() + timeout
        with self.stderr:
            rest = self.stderr.read()
        end, said = Path(self.folder.name, "end"), ""
        while not said.endswith("\n"):
            assert time.monotonic() < until, f"it has not ended in {timeout} seconds: {rest}"
            time.sleep(0.01)
            said = end.read_text(encoding="utf-8") if end.exists() else ""
        self.returncode = int(said)
        stdout = _streams(self.folder.name)[1].read_text(encoding="utf-8")
        self.folder.cleanup()
        return stdout, rest


def begin(arguments: Sequence[str], timeout: int = 120, **variables: str) -> Begun:
    """Begin the command and come back at once; only where a system can fork."""
    folder = tempfile.TemporaryDirectory()
    streams = _streams(folder.name)
    streams[0].touch()
    os.mkfifo(streams[2])
    end = Path(folder.name, "end")
    pid = _ask(list(arguments), streams, timeout, environment(**variables), end)
    return Begun(folder, pid, streams[2].open(encoding="utf-8"))


def _streams(folder: str) -> list[Path]:
    return [Path(folder, name) for name in ("in", "out", "err")]


def _ask(
    arguments: list[str],
    streams: list[Path],
    timeout: int,
    variables: dict[str, str],
    end: Path | None = None,
) -> int:
    """The command's exit code; with an ``end``, where that will stand, its number at once."""
    waiting = _waiting()
    assert waiting.stdin is not None
    assert waiting.stdout is not None
    asked = {
        "arguments": arguments,
        "streams": list(map(str, streams)),
        "timeout": timeout,
        "folder": str(Path.cwd()),
        "environment": variables,
        "end": end and str(end),
    }
    waiting.stdin.write(json.dumps(asked) + "\n")
    waiting.stdin.flush()
    return int(waiting.stdout.readline())


@cache
def _waiting() -> subprocess.Popen[str]:
    """It ends when this process does, as nobody can ask it any more."""
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("waiting.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment(),
    )
