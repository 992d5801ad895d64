"""How much memory an opened model holds, in times of its weights.

    $ python benchmarks/opened_memory.py --model MODEL --small OTHER

Each precision runs in a process of its own, in which the model OTHER was opened and used before, so
that libraries are there. "own" is anonymous memory, "file" are the resident pages of files.
"""

import argparse
import gc
import subprocess
import sys
from pathlib import Path

from machine import facts, print_facts, print_table

from regard.decoding import Search
from regard.engine.panels import PRECISIONS
from regard.systems import Translator


def main() -> None:
    given = _options()
    if given.precision:
        print(*_measured(given))
        return
    print_facts(facts())
    n_bytes = (given.model / "weights.safetensors").stat().st_size
    rows = []
    for precision in PRECISIONS:
        command = [sys.executable, __file__, *sys.argv[1:], "--precision", precision]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        own, file = (1024 * int(one) / n_bytes for one in done.stdout.split())
        rows.append([precision, f"{own:.2f}", f"{file:.2f}", f"{own + file:.2f}"])
    print(f"weights: {n_bytes / 1e6:,.1f} MB")
    print_table(["times the weights", "own", "file", "both"], rows)


def _measured(given: argparse.Namespace) -> list[int]:
    """Kilobytes that opening takes."""
    list(Translator.open(given.small).outputs(["a"], Search(width=2)))
    before = _held()
    opened = Translator.open(given.model, precision=given.precision)
    _ = opened.decoders
    return [after - first for after, first in zip(_held(), before, strict=True)]


def _held() -> list[int]:
    gc.collect()
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return [int(one.split()[1]) for one in lines if one.startswith(("RssAnon", "RssFile"))]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", type=Path, required=True, help="a model folder")
    parser.add_argument("--small", type=Path, required=True, help="another translator")
    parser.add_argument("--precision", choices=PRECISIONS, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
