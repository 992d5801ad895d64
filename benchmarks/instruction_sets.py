"""How fast the kernels are for each instruction set of this processor, beside torch.

    $ python benchmarks/instruction_sets.py
    $ python benchmarks/instruction_sets.py --rows 5 --sizes 256x1024

Products of a few sizes, by one thread, in float32 and with 8-bit integers (quantising the rows is
part of it), and a layer of an encoder forth and back. All take turns, round after round, and
processor time is counted, so what else the machine does meets all alike. A figure is the median
over rounds.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from machine import facts, print_facts, print_table
from torch import Tensor

from regard.engine import instructions, supported_instructions, using_instructions, without_native
from regard.engine.panels import Panels
from regard.engine.training import for_training
from regard.models import Sizes, Transformer

Work = Callable[[], object]


def main() -> None:
    options = _options()
    torch.set_num_threads(1)
    print_facts(facts())
    sets = [name for name in supported_instructions() if _is_here(name)]
    rows = []
    for size in options.sizes:
        n_inputs, n_outputs = map(int, size.split("x"))
        rows += _products(options.rows, n_inputs, n_outputs, sets, options.rounds)
    print_table(["10⁹ multiplications and additions/s", *sets, "torch"], rows)
    print_table(["milliseconds", *sets, "torch"], [_layer(sets, options.rounds)])


def _is_here(name: str) -> bool:
    with using_instructions(name):
        return instructions() == name


def _products(n: int, n_in: int, n_out: int, sets: list[str], rounds: int) -> list[list[str]]:
    value, weight = torch.randn(n, n_in), torch.randn(n_out, n_in)
    across = weight.t().contiguous()
    found: list[list[str]] = []
    for precision in ("float32", "int8"):
        works: dict[str, Work] = {}
        for name in sets:
            with using_instructions(name):
                works[name] = _multiplying(Panels.of(weight, precision), value, name)
        if precision == "float32":
            works["torch"] = lambda: torch.mm(value, across)
        seconds = _medians(works, rounds, repeats=max(1, round(2e8 / (n * n_in * n_out))))
        speeds = [f"{n * n_in * n_out / seconds[one] / 1e9:,.0f}" for one in works]
        found.append([f"{n} rows, {n_in} to {n_out}, {precision}", *speeds])
    found[-1].append("")
    return found


def _multiplying(panels: Panels, value: Tensor, name: str) -> Work:
    def work() -> object:
        with using_instructions(name):
            return panels.multiply(value)

    return work


def _layer(sets: list[str], rounds: int) -> list[str]:
    """An update's worth of a whole model of one layer a side."""
    torch.manual_seed(1)
    model = Transformer(1000, 1000, Sizes(256, 4, 1024), n_layers=1)
    source, target = torch.randint(4, 1000, (32, 20)), torch.randint(4, 1000, (32, 20))
    works: dict[str, Work] = {name: _learning(model, source, target, name) for name in sets}
    works["torch"] = _learning(model, source, target, None)
    seconds = _medians(works, rounds, repeats=1)
    said = "a layer a side, 1,280 tokens, forth and back"
    return [said, *(f"{1e3 * seconds[one]:,.0f}" for one in works)]


def _learning(model: Transformer, source: Tensor, target: Tensor, name: str | None) -> Work:
    def work() -> object:
        with without_native() if name is None else using_instructions(name):
            for_training(model)(source, target).square().mean().backward()
        return None

    return work


def _medians(works: dict[str, Work], rounds: int, repeats: int) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()
    for _ in range(rounds):
        for name, work in works.items():
            started = time.process_time()
            for _ in range(repeats):
                work()
            taken[name].append((time.process_time() - started) / repeats)
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=240)
    parser.add_argument("--sizes", nargs="+", default=["256x1024", "1024x256", "256x8000"])
    parser.add_argument("--rounds", type=int, default=7)
    return parser.parse_args()


if __name__ == "__main__":
    main()
