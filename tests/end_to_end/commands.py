"""The real command in processes of their own, which need not import torch each time.

One process (``waiting.py``) imports all, and forks for each command: the child has its own memory,
streams and exit code, as if it had just been started. Where a system cannot fork, it is started.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

COMMAND = (sys.executable, "-m", "regard")
Done = subprocess.CompletedProcess[str]


def environment() -> dict[str, str]:
    """As it is now, with one thread: tests run side by side."""
    return {**os.environ, "OMP_NUM_THREADS": "1"}


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
    waiting = _waiting()
    assert waiting.stdin is not None
    assert waiting.stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder, name) for name in ("in", "out", "err")]
        streams[0].write_bytes(given)
        asked = {
            "arguments": arguments,
            "streams": list(map(str, streams)),
            "timeout": timeout,
            "folder": str(Path.cwd()),
            "environment": environment(),
        }
        waiting.stdin.write(json.dumps(asked) + "\n")
        waiting.stdin.flush()
        code = int(waiting.stdout.readline())
        return code, streams[1].read_bytes(), streams[2].read_bytes()


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
