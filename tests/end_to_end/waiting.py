"""Waits with all imports done, and becomes a command in a forked child for each line it reads."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import torch  # noqa: F401  (what takes the time)

from regard.cli import main


def asked() -> Any:
    """In a child: what it is to do. The parent says how each child ended, and never returns."""
    for line in sys.stdin:
        command = json.loads(line)
        if (child := os.fork()) == 0:
            if command["end"] is not None:
                leave(Path(command["end"]))
            return command
        if command["end"] is None:
            say(code_of(child))
    sys.exit()


def leave(end: Path) -> None:
    """Go on in a child, whose number is said; this process waits, and notes its exit code."""
    if (child := os.fork()) == 0:
        return
    say(child)
    end.write_text(f"{code_of(child)}\n", encoding="utf-8")
    os._exit(0)


def code_of(child: int) -> int:
    """The exit code of a child, when it has ended."""
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def say(number: int) -> None:
    """Answer who asked."""
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def become(command: Any) -> None:
    """Take on the streams, folder and variables of a command; it is killed if it takes too long."""
    modes = (os.O_RDONLY, *2 * (os.O_WRONLY | os.O_CREAT,))
    for number, (path, mode) in enumerate(zip(command["streams"], modes, strict=True)):
        os.dup2(os.open(path, mode), number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    os.environ.clear()
    os.environ.update(command["environment"])
    os.chdir(command["folder"])
    signal.alarm(command["timeout"])


if __name__ == "__main__":
    become(command := asked())
    main(command["arguments"])
