"""How much memory preparing and training take, with a small and with a large corpus.

    $ python benchmarks/memory.py
    $ python benchmarks/memory.py --pairs 30000 3000000 --updates 20

Invented pairs (words of a Zipf distribution, 5 to 20 a sentence) are written to a temporary folder,
3,000,000 of them take about 1 GB of disk with what is prepared from them. Each phase runs in a
process of its own, whose peak is asked of the system. "mapped" is the part of the resident memory
at the end that is pages of files, of the libraries (some 90 MB) and of the prepared corpus, which
the system takes back when it needs them; "own" is the rest. What grows by design: a vocabulary is
learned from at most 1,000,000 sentences held in memory, and a few numbers a pair are kept, hashes
while preparing (for duplicates), lengths and order while training.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from machine import facts, print_facts, print_table

from regard.config import read_recipe
from regard.systems import prepare
from regard.systems.runs import run_training
from regard.training import FolderKeeper, Ranks

_PHASES = ("prepare", "train")
_N_WORDS = 30_000
_CHUNK = 50_000


def main() -> None:
    given = _options()
    if given.phase:
        _run_phase(given.phase, given.folder, given.updates)
        return
    print_facts(facts())
    rows = []
    with tempfile.TemporaryDirectory(prefix="regard-memory-", dir=given.folder) as temporary:
        for n_pairs in given.pairs:
            folder = Path(temporary) / str(n_pairs)
            folder.mkdir()
            write_pairs(folder, n_pairs)
            for phase in _PHASES:
                found = _measure(phase, folder, given.updates)
                rows.append([f"{n_pairs:,} pairs", phase, *_cells(found)])
                print(f"{n_pairs:,} pairs: {phase} done", file=sys.stderr, flush=True)
    print_table(["", "phase", "peak RSS MB", "own MB", "mapped MB", "seconds"], rows)


def write_pairs(folder: Path, n_pairs: int) -> None:
    """Invent ``source`` and ``target``, a line each; memory does not grow with their number."""
    random = np.random.default_rng(1)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    lexicons = [
        np.array(["".join(random.choice(letters, random.integers(2, 10))) for _ in range(_N_WORDS)])
        for _ in range(2)
    ]
    rarity = 1 / (np.arange(_N_WORDS) + 10.0)
    cumulated = np.cumsum(rarity / rarity.sum())
    with (folder / "source").open("w") as source, (folder / "target").open("w") as target:
        for start in range(0, n_pairs, _CHUNK):
            lengths = random.integers(5, 21, min(_CHUNK, n_pairs - start))
            words = np.searchsorted(cumulated, random.random(int(lengths.sum())))
            words = np.minimum(words, _N_WORDS - 1)
            ends = np.cumsum(lengths)[:-1]
            for file, lexicon in zip((source, target), lexicons, strict=True):
                file.writelines(f"{' '.join(one)}\n" for one in np.split(lexicon[words], ends))


def _measure(phase: str, folder: Path, updates: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--phase", phase, "--folder", str(folder)]
    command += ["--updates", str(updates)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _run_phase(phase: str, folder: Path, updates: int) -> None:
    torch.set_num_threads(2)
    changes = [
        f"data.train=['{folder}/source|{folder}/target']",
        "text.size=8000",
        "training.batch_tokens=4096",
        f"training.updates={updates}",
        "training.decodes_at_validation=false",
        "training.average_last=1",
    ]
    started = time.perf_counter()
    recipe = read_recipe("transformer-tiny", changes)
    out = folder / "model"
    if phase == "prepare":
        FolderKeeper(out, Ranks()).claim(recipe)
        prepare(recipe, out)
    else:
        for _ in run_training(recipe, out):
            pass
    print(json.dumps({"seconds": time.perf_counter() - started, **_resident()}))


def _resident() -> dict[str, float]:
    """Peak and present memory of this process, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = {"peak": peak / 1024 if sys.platform == "linux" else peak / 2**20}
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name in ("RssAnon", "RssFile"):
                found[name] = int(value.split()[0]) / 1024
    return found


def _cells(found: dict[str, float]) -> list[str]:
    numbers = (found["peak"], found.get("RssAnon"), found.get("RssFile"), found["seconds"])
    return ["?" if number is None else f"{number:,.0f}" for number in numbers]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, nargs="+", default=[30_000, 3_000_000])
    parser.add_argument("--updates", type=int, default=20)
    parser.add_argument("--folder", type=Path, help="where the temporary folder goes")
    parser.add_argument("--phase", choices=_PHASES, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
