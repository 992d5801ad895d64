"""Error of the Recurrent Attention Model on MNIST, translated and cluttered, with its controls.

    $ python benchmarks/glimpses.py --mnist ../shared/data/mnist --out runs/glimpses
    $ python benchmarks/glimpses.py --mnist ... --out ... --only mnist cluttered-60
    $ python benchmarks/glimpses.py --mnist ... --out ... --only cost

Every run has at most 40 minutes by the clock (``--minutes``), is continued where it was cut off,
and is not repeated once its result is in ``OUT/results.json``. Minutes in the table are processor
time. Errors are those of the 10,000 test pictures with one sequence of glimpses at the most
probable places, never a mean over drawn ones. The published ones are of Mnih et al. (2014).
"in the box" is the share of glimpses from the third on that fall on the digit.

Controls are trained as the model is: other places (``random``, ``centre``, ``raster``, ``frozen``),
no baseline, and networks of about as many parameters that see all of the picture: a CNN, an MLP.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from machine import ProcessorTime, facts, print_facts, print_table
from torch import nn
from torch.nn import functional as F

import regard
from regard.data import PictureSet, read_picture_set
from regard.models import RecurrentAttention
from regard.models.glimpses import Retina
from regard.systems.glimpse_results import GlimpseEvaluation

MINUTES = 38.0
COARSE = {
    "model.patch": 12,
    "model.n_scales": 3,
    "model.n_glimpses": 8,
    "model.feedback": "alone",
    "model.deviation": 0.3,
    "model.least_deviation": 0.08,
    "training.learning_rate": 0.001,
}
COARSER = COARSE | {"model.n_scales": 4}
OTHERS: dict[str, dict[str, object]] = {
    "random": {"model.locator": "random"},
    "centre": {"model.locator": "centre"},
    "raster": {"model.locator": "raster"},
    "frozen": {"model.locator": "frozen"},
    "no-baseline": {"model.baseline": "none"},
}


@dataclass(frozen=True)
class Task:
    """Pictures, and how they are looked at: six glimpses at MNIST, eight at canvases."""

    published: float  # error, percent
    canvas: int | None = None
    pieces: int = 0
    changes: dict[str, object] = field(default_factory=dict)
    updates: int = 60_000


TASKS = {
    "mnist": Task(1.12, changes={"model.n_glimpses": 6}),
    "translated-60": Task(1.2, 60, 0, dict(COARSE), 40_000),
    "cluttered-60": Task(5.23, 60, 4, dict(COARSE), 20_000),
    "cluttered-100": Task(10.83, 100, 8, dict(COARSER), 30_000),
}


def main() -> None:
    """Run what has no result yet, and print all results."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--mnist", type=Path, required=True)
    options.add_argument("--out", type=Path, default=Path("runs/glimpses"))
    options.add_argument("--only", nargs="*", default=None, help="tasks, TASK/CONTROL, or cost")
    options.add_argument("--canvases", type=int, default=200_000)
    options.add_argument("--minutes", type=float, default=MINUTES)
    options.add_argument("--updates", type=int, default=None)
    given = options.parse_args()
    print_facts(facts())
    results = Results(given.out)
    for name, task in TASKS.items():
        for control in ("", *OTHERS, "cnn", "mlp"):
            run = f"{name}/{control}" if control else name
            # All controls are run where it matters where one looks; elsewhere if they are named.
            asked = given.only if given.only is not None else [*TASKS, *_usual()]
            if run in asked and run not in results.found:
                results.add(run, _measured(given, name, task, control))
    results.show()
    if given.only is None or "cost" in given.only:
        _show_cost()


def _usual() -> Iterator[str]:
    return (f"cluttered-60/{control}" for control in (*OTHERS, "cnn", "mlp"))


class Results:
    """What was measured, kept in a file."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / "results.json"
        self.found: dict[str, Any] = (
            json.loads(self.file.read_text("utf-8")) if self.file.exists() else {}
        )

    def add(self, run: str, measured: dict[str, Any]) -> None:
        """Keep one, at once."""
        self.found[run] = measured
        self.file.write_text(json.dumps(self.found, indent=1), "utf-8")
        print(run, json.dumps(measured), flush=True)

    def show(self) -> None:
        """All of them as a table."""
        head = ["run", "error", "published", "in the box", "parameters", "minutes"]
        rows = []
        for run, one in self.found.items():
            task, _, control = run.partition("/")
            share = one.get("inside")
            rows.append(
                [
                    run,
                    f"{100 * one['error']:.2f} %",
                    "" if control else f"{TASKS[task].published} %",
                    "" if share is None else f"{100 * share:.1f} %",
                    f"{one['parameters']:,}",
                    f"{one['minutes']:.1f}",
                ]
            )
            rows += [
                [f"{run}, its {name} at use", f"{100 * error:.2f} %", "", "", "", ""]
                for name, error in one.get("controls", {}).items()
            ]
        print_table(head, rows)


def _measured(given: Any, name: str, task: Task, control: str) -> dict[str, Any]:
    images = given.mnist if task.canvas is None else _canvases(given, name, task)
    updates = given.updates or task.updates
    if control in ("cnn", "mlp"):
        return _plain(control, images, _n_parameters(given, name), updates)
    folder = given.out / (f"{name}-{control}" if control else name)
    changes = {
        **task.changes,
        **OTHERS.get(control, {}),
        "training.updates": updates,
        "training.validate_every": max(1, updates // 20),
        "training.save_every": max(1, updates // 20),
        "training.warmup": min(500, max(1, updates // 10)),
    }
    spent = ProcessorTime(given.out / f"{folder.name}.minutes")
    for event in regard.train(
        "ram", images=images, out=folder, minutes=given.minutes, changes=changes, device="cpu"
    ):
        if type(event).__name__ in ("Validated", "Finished"):
            print(f"{folder.name} {spent.note():.1f} min {event}", flush=True)
    minutes = spent.note()
    model = regard.load(folder)
    found = regard.evaluate(model, images=str(images))
    assert isinstance(found, GlimpseEvaluation)
    own, *others = found.measured
    return {
        "error": own.error,
        "inside": own.inside,
        "controls": {one.places: one.error for one in others},
        "parameters": model.model.n_parameters,
        "minutes": minutes,
    }


def _canvases(given: Any, name: str, task: Task) -> Path:
    """Canvases of a task, made once; many more than digits: none is learned by heart."""
    folder: Path = given.out / f"data-{name}"
    if not (folder / "t10k-boxes-idx2-short").exists():
        arguments = ["--from", str(given.mnist), "--out", str(folder), "--force"]
        arguments += ["--canvas", str(task.canvas), "--pieces", str(task.pieces)]
        arguments += ["--size", str(given.canvases)]
        command = [sys.executable, "-m", "regard", "data", "cluttered", *arguments]
        subprocess.run(command, check=True)
    return folder


def _n_parameters(given: Any, name: str) -> int:
    """Those of the model it is compared with."""
    folder = given.out / name
    return regard.load(folder).model.n_parameters if folder.exists() else 300_000


def _network(kind: str, size: int, n_parameters: int) -> nn.Module:
    """An MLP of two hidden layers, or three convolutions and one: as wide as the number allows."""
    if kind == "mlp":
        width = next(d for d in range(8, 4096) if d * (size**2 + d + 12) >= n_parameters)
        return nn.Sequential(
            nn.Flatten(), nn.Linear(size**2, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 10),
        )  # fmt: skip
    convolutions = nn.Sequential(
        nn.Conv2d(1, 16, 5, 2, 2), nn.ReLU(), nn.Conv2d(16, 32, 5, 2, 2), nn.ReLU(),
        nn.Conv2d(32, 32, 3, 2, 1), nn.ReLU(), nn.Flatten(),
    )  # fmt: skip
    n_seen = convolutions(torch.zeros(1, 1, size, size)).shape[1]
    n_left = n_parameters - sum(one.numel() for one in convolutions.parameters())
    width = max(8, n_left // (n_seen + 11))
    return nn.Sequential(convolutions, nn.Linear(n_seen, width), nn.ReLU(), nn.Linear(width, 10))


def _plain(kind: str, images: Path, n_parameters: int, updates: int) -> dict[str, Any]:
    """A network that sees all of the picture, trained as long and by the same recipe."""
    torch.manual_seed(1)
    learned, held = read_picture_set(images), read_picture_set(images, part="test")
    network = _network(kind, learned.size[0], n_parameters)
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)
    rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, updates)
    random, started = np.random.default_rng(1), time.process_time()
    assert learned.labels is not None
    for _ in range(updates):
        rows = np.sort(random.integers(len(learned), size=128))
        loss = F.cross_entropy(network(learned.numbers(rows)), torch.tensor(learned.labels[rows]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rate.step()
    return {
        "error": _error(network.eval(), held),
        "parameters": sum(one.numel() for one in network.parameters()),
        "minutes": (time.process_time() - started) / 60,
    }


@torch.inference_mode()
def _error(network: nn.Module, held: PictureSet) -> float:
    assert held.labels is not None
    n_wrong = 0
    for first in range(0, len(held), 500):
        rows = np.arange(first, min(len(held), first + 500))
        n_wrong += int((network(held.numbers(rows)).argmax(1).numpy() != held.labels[rows]).sum())
    return n_wrong / len(held)


def _show_cost() -> None:
    """Milliseconds a picture: eight glimpses, against convolutions over all of it."""
    rows = []
    for size in (60, 100, 200, 400):
        pictures = torch.rand(64, 1, size, size) * 2 - 1
        ram = RecurrentAttention(10, Retina(12, 3, size, 10), n_glimpses=8, core="rnn").eval()
        cnn = _network("cnn", size, 300_000).eval()
        rows.append([f"{size} × {size}", *(f"{_cost(one, pictures):.2f}" for one in (ram, cnn))])
    print_table(["picture", "eight glimpses, ms", "CNN, ms"], rows)


@torch.inference_mode()
def _cost(network: nn.Module, pictures: torch.Tensor) -> float:
    network(pictures)
    spent = []
    for _ in range(7):
        started = time.process_time()
        network(pictures)
        spent.append(time.process_time() - started)
    return 1000 * min(spent) / len(pictures)


if __name__ == "__main__":
    main()
