"""What a figure was measured on, and tables that can be pasted into RESULTS.md."""

import argparse
import os
import platform
import subprocess
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import torch

from regard.engine import instructions


def facts() -> dict[str, str]:
    """Everything that a figure may depend on and a reader would ask for."""
    return {
        "date": datetime.now(tz=UTC).strftime("%Y-%m-%d"),
        "commit": _commit(),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "threads": str(torch.get_num_threads()),
        "load before": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "C++ kernels": instructions() or "none",
    }


def print_facts(said: dict[str, str]) -> None:
    print(", ".join(f"{name}: {value}" for name, value in said.items()), flush=True)


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A Markdown table: the first column to the left, numbers to the right."""
    widths = [max(3, *(len(row[i]) for row in [head, *rows])) for i in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        first, *rest = (
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "| " + " | ".join([first, *rest]) + " |"

    rules = ["-" * width if not i else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    print("\n".join([line(head), "|" + "|".join(f" {rule} " for rule in rules) + "|"]))
    for row in rows:
        print(line(row))
    print(flush=True)


class ProcessorTime:
    """Processor minutes of a run, in a file: one that is stopped and continued counts as a whole.

    By the clock, a run takes as long as others leave it the machine.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._before = float(file.read_text("utf-8")) if file.exists() else 0.0
        self._started = time.process_time()

    def note(self) -> float:
        """Keep, and give, the minutes so far."""
        minutes = self._before + (time.process_time() - self._started) / 60
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(f"{minutes:.3f}\n", "utf-8")
        return minutes


def sgemm_gflops(size: int = 2048, n_runs: int = 5) -> float:
    """The best of a few products of square float32 matrices, in 10⁹ operations a second."""
    a, b = torch.rand(size, size), torch.rand(size, size)
    out = torch.empty(size, size)
    best = float("inf")
    for _ in range(n_runs):
        started = time.perf_counter()
        torch.mm(a, b, out=out)
        best = min(best, time.perf_counter() - started)
    return 2 * size**3 / best / 1e9


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def plain(options: argparse.Namespace) -> dict[str, object]:
    """What a script was told, for JSON; of a path, no more than its name."""
    return {
        key: value.name if isinstance(value, Path) else value
        for key, value in vars(options).items()
    }
