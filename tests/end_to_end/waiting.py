"""Waits with all imports done, and becomes a command in a forked child for each line it reads."""

import json
import os
import signal
import sys
from typing import Any

import torch  # noqa: F401  (what takes the time)

import regard.training
import regard.translation  # noqa: F401
from regard.cli import main


def asked() -> Any:
    """In a child: what it is to do. The parent says how each child ended, and never returns."""
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            return json.loads(line)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()
    sys.exit()


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
