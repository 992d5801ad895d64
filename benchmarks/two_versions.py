"""Two checkouts of Regard in turns: training, decoding and service, the new one over the old.

    $ git worktree add --detach ../old COMMIT
    $ python benchmarks/two_versions.py --old ../old --new . --rounds 3

Every round runs both checkouts, each in processes of its own and in alternating order; a ratio is
the median over the rounds. Training: updates a second between the 30th and the 110th, of
transformer-small (1,024 tokens) and gpt-tiny. Service: 16 clients, one sentence a request.
"""

import argparse
import http.client
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from statistics import median

from machine import facts, print_facts, print_table

from regard.corpora import SEED, open_corpus

_TRAINED = {
    "training a transformer": ("transformer-small", "phrasebook:en-fr:6000"),
    "training a gpt": ("gpt-tiny", "pydoc"),
}
_SHORT = ("training.updates=110", "training.validate_every=110", "training.average_last=1")
_CLIENTS, _PORT = 16, 8711


def main() -> None:
    """Measure both in turns."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--old", type=Path, required=True)
    options.add_argument("--new", type=Path, required=True)
    options.add_argument("--work", type=Path, default=Path("runs/two-versions"))
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    print_facts(facts())
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    trees = {"old": given.old.resolve(), "new": given.new.resolve()}
    model = work / "model"
    if not model.exists():
        _train(trees["new"], model, *_TRAINED["training a transformer"])
    examples = open_corpus("phrasebook", "en-fr").examples("test", SEED)
    lines = [one.source for one in islice(examples, 320)]
    found: dict[str, dict[str, list[float]]] = {}
    for number in range(given.rounds):
        for name in ("old", "new") if number % 2 == 0 else ("new", "old"):
            for what, measure in _measures(trees[name], work / name, model, lines).items():
                found.setdefault(what, {"old": [], "new": []})[name].append(measure())
    rows = [
        [what, *(f"{median(both[one]):.1f}" for one in ("old", "new")), f"{_ratio(both):.3f}"]
        for what, both in found.items()
    ]
    print_table(["a second", "old", "new", "new over old"], rows)


def _ratio(both: dict[str, list[float]]) -> float:
    return median(new / old for old, new in zip(both["old"], both["new"], strict=True))


def _measures(
    tree: Path, out: Path, model: Path, lines: list[str]
) -> dict[str, Callable[[], float]]:
    trained = {
        what: lambda asked=asked: _train(tree, out, *asked) for what, asked in _TRAINED.items()
    }
    return {
        **trained,
        "decoding, a beam of 5": lambda: _decode(tree, model, lines),
        "service, 16 clients": lambda: _serve(tree, model, lines),
    }


def _command(tree: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "regard", *arguments]


def _environment(tree: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(tree)}


def _train(tree: Path, out: Path, recipe: str, corpus: str) -> float:
    shutil.rmtree(out, ignore_errors=True)
    changes = (*_SHORT, "training.decodes_at_validation=false", "training.batch_tokens=1024")
    sets = [part for one in changes for part in ("--set", one)]
    asked = ["train", recipe, "--corpus", corpus, "--out", str(out), *sets]
    subprocess.run(
        _command(tree, *asked), env=_environment(tree), cwd=tree, check=True, capture_output=True
    )
    records = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    steps = [one for one in records if one["event"] == "stepped"]
    first, last = steps[2], steps[-1]
    n = float(last["update"] - first["update"])
    return n / float(last["seconds"] - first["seconds"])


def _decode(tree: Path, model: Path, lines: list[str]) -> float:
    """Many sentences, so that the start of the process hardly counts."""
    many = lines * 15
    return len(many) / _translated(tree, model, many)


def _translated(tree: Path, model: Path, lines: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(
        _command(tree, "translate", str(model)),
        input="\n".join(lines).encode(),
        env=_environment(tree),
        cwd=tree,
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - began


def _serve(tree: Path, model: Path, lines: list[str]) -> float:
    asked = ["serve", f"en-fr={model}", "--port", str(_PORT)]
    nowhere = subprocess.DEVNULL
    service = subprocess.Popen(
        _command(tree, *asked), env=_environment(tree), cwd=tree, stdout=nowhere, stderr=nowhere
    )
    try:
        _wait()
        _ask(lines[:64])  # the first requests find nothing prepared
        return len(lines) / _ask(lines)
    finally:
        service.terminate()
        service.wait()


def _wait() -> None:
    for _ in range(240):
        try:
            http.client.HTTPConnection("127.0.0.1", _PORT, timeout=2).connect()
            return
        except OSError:
            time.sleep(0.25)


def _ask(lines: list[str]) -> float:
    """Seconds until all are answered."""
    todo, lock = list(lines), threading.Lock()

    def work() -> None:
        client = http.client.HTTPConnection("127.0.0.1", _PORT, timeout=60)
        while True:
            with lock:
                if not todo:
                    return
                body = json.dumps({"text": todo.pop()})
            client.request("POST", "/api/v1/translate", body, {"Content-Type": "application/json"})
            answer = client.getresponse()
            answer.read()
            assert answer.status == 200

    threads = [threading.Thread(target=work) for _ in range(_CLIENTS)]
    began = time.perf_counter()
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
