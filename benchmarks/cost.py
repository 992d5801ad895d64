"""Cost as work grows: tokens a second and peak memory over width, length and batch, in one figure.

    $ python benchmarks/cost.py --save cost.svg
    $ python benchmarks/cost.py --widths 128 256 --lengths 16 256 --batches 1 16

A Transformer of 2 + 2 layers with 2,000 tokens and random weights, on random sentences: an update
(forward, back, Adam) counts target tokens, greedy search what it writes, as many as the source has.
One size grows while the others stay: 256 wide, 64 tokens, 16 sentences (one where length grows).
One thread, processor time, best of the rounds; memory is the peak above what is there before, by
the system's own count.
"""

import argparse
import gc
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from machine import facts, print_facts, print_table

from regard.data import Batch
from regard.decoding import Limits, Search, greedy
from regard.engine import for_decoding, for_training, give_back
from regard.inspection.figures import Curve, Plot, curves
from regard.models import Sizes, Transformer
from regard.training import Updater
from regard.training.tasks import translation

_WORDS, _HEAD = 2000, 64
_SECONDS = 0.5  # a point is measured again until it took so long
_KINDS = ("training", "greedy search")


class Size(NamedTuple):
    """Of a measurement."""

    width: int = 256
    length: int = 64
    batch: int = 16


class Cost(NamedTuple):
    """What it takes."""

    tokens_a_second: float
    megabytes: float


def main() -> None:
    options = _options()
    torch.set_num_threads(1)
    print_facts(facts())
    axes = {"width": options.widths, "length": options.lengths, "batch": options.batches}
    found: dict[str, dict[int, list[Cost]]] = {}
    for axis, values in axes.items():
        usual = Size(batch=1) if axis == "length" else Size()
        found[axis] = {n: _measured(usual._replace(**{axis: n})) for n in values}
        heads = [f"{kind}, {unit}" for kind in _KINDS for unit in ("tokens/s", "MB")]
        rows = [
            [f"{n:,}", *(f"{one:,.0f}" for cost in costs for one in cost)]
            for n, costs in found[axis].items()
        ]
        print_table([axis, *heads], rows)
    if options.save is not None:
        _drawn(found, options.save)


def _measured(size: Size) -> list[Cost]:
    """Of an update, and of greedy search."""
    torch.manual_seed(1)
    sizes = Sizes(size.width, size.width // _HEAD, 2 * size.width, dropout=0.1, is_pre_norm=True)
    model = Transformer(_WORDS, n_target_tokens=_WORDS, sizes=sizes, n_layers=2, tie="three-way")
    ids = torch.randint(4, _WORDS, (size.batch, size.length))
    fast, updater, batch = for_training(model.train()), Updater(model), Batch(ids, ids)

    def update() -> None:
        loss, n = translation(fast, batch, 0.1)
        loss.backward()  # type: ignore[no-untyped-call]
        updater.update(1e-5, n, 1.0)

    trained = _cost(update, size)
    frozen = for_decoding(model.eval().requires_grad_(False))
    limits = Limits(factor=1.0, extra=0, most=size.length, least=size.length - 1)
    return [trained, _cost(lambda: greedy(frozen, ids, Search(limits=limits)), size)]


def _cost(work: Callable[[], object], size: Size) -> Cost:
    gc.collect()
    give_back("nothing")
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # the peak begins anew
    before, best, spent = _peak(), math.inf, 0.0
    while spent < _SECONDS:
        began = time.process_time()
        work()
        took = time.process_time() - began
        best, spent = min(best, took), spent + took
    return Cost(size.batch * size.length / best, (_peak() - before) / 1e3)


def _peak() -> int:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmHWM")))


def _drawn(found: dict[str, dict[int, list[Cost]]], path: Path) -> None:
    plots = []
    for unit, part in (("tokens a second", 0), ("megabytes", 1)):
        for axis, points in found.items():
            lines = tuple(
                Curve(kind, tuple((n, max(0.1, costs[i][part])) for n, costs in points.items()))
                for i, kind in enumerate(_KINDS)
            )
            ticks = tuple((float(n), f"{n:,}") for n in points)
            plots.append(Plot(lines, axis, unit, f"{unit} over {axis}", ticks, is_logarithmic=True))
    curves(plots, "Cost as work grows").save(path)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    several = {"type": int, "nargs": "+"}
    parser.add_argument("--widths", default=[128, 256, 512, 1024], **several)
    parser.add_argument("--lengths", default=[16, 64, 256, 1024, 4096], **several)
    parser.add_argument("--batches", default=[1, 4, 16, 64, 256], **several)
    parser.add_argument("--save", type=Path, metavar="FILE", help="draw it: .svg or .png")
    return parser.parse_args()


if __name__ == "__main__":
    main()
