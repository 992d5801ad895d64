"""Calls that do not fit together, where nothing else checks shapes; says how each ends.

A kernel that reads beyond its tensors ends the process: then the last line is missing.
"""

import sys
from collections.abc import Callable

import numpy as np
import torch

from regard import engine
from regard.engine import Adam, LayerOptions, Spans
from regard.engine.beams import require_fit
from regard.errors import SizeError
from regard.models import BeamQuestion

row, rows, table = torch.zeros(32), torch.zeros(6, 32), torch.zeros(9, 32)
ids = torch.zeros(6, dtype=torch.long)
starts = torch.tensor([0, 2, 6], dtype=torch.int32)
spans = Spans(starts, starts)
adam = Adam((0.9, 0.98), 1e-9, 0.0)


def layer(inner: int = 16, width: int = 32) -> list[torch.Tensor]:
    one, square = torch.zeros(width), torch.zeros(width, width)
    attention = [one, one, *[square, one] * 4, one, one]
    return [
        *attention,
        torch.zeros(inner, width),
        torch.zeros(inner),
        torch.zeros(width, inner),
        one,
    ]


def step(*sizes: int, number: int = 1) -> None:
    weights, gradient, first, second = (torch.zeros(size) for size in sizes)
    moments = (first, second)
    engine.adam_step(adam, weights, gradient, moments, factor=1.0, rate=0.1, step=number)


def embed(given: torch.Tensor, places: torch.Tensor, positions: torch.Tensor = table) -> None:
    engine.embed(table, given, positions, places, scale=1.0, p=0.0)


def attend(
    where: Spans, width: int = 96, memory: torch.Tensor | None = None, n_heads: int = 2
) -> None:
    engine.attend_packed(torch.zeros(6, width), memory, where, n_heads, 0.0)


def layers(*parameters: list[torch.Tensor], where: Spans = spans, n_options: int = 1) -> None:
    options = [LayerOptions(2, True, "relu", 1e-5)] * n_options
    engine.encoder_layers(rows, where, options, parameters)


def ask(longest: list[int], n_best: int = 1, dtype: type = np.int64) -> None:
    numbers = np.array(longest, dtype)
    prefixes = np.zeros((2, 1), np.int64)
    require_fit(BeamQuestion(2, n_best, 0, 0, numbers, prefixes, np.ones(5), 0, 2, 3))


def of(*numbers: int, dtype: torch.dtype = torch.int32) -> torch.Tensor:
    return torch.tensor(numbers, dtype=dtype)


CASES: dict[str, Callable[[], object]] = {
    "int64 starts": lambda: Spans(starts.long(), starts.long()),
    "starts of other numbers of sentences": lambda: Spans(starts, of(0, 6)),
    "starts that are no sentence": lambda: Spans(of(0), of(0)),
    "starts that go back": lambda: attend(Spans(of(0, 8, 6), of(0, 8, 6))),
    "starts below zero": lambda: attend(Spans(of(-9, 2, 6), of(-9, 2, 6))),
    "starts beyond the rows": lambda: attend(Spans(of(0, 2, 900_000), of(0, 2, 900_000))),
    "memory of other rows": lambda: attend(spans, 32, torch.zeros(3, 64)),
    "memory of another width": lambda: attend(spans, 32, torch.zeros(6, 32)),
    "no heads": lambda: attend(spans, n_heads=0),
    "heads that do not divide": lambda: attend(spans, n_heads=5),
    "a width that is not three": lambda: attend(spans, 97),
    "too few targets": lambda: engine.linear_cross_entropy(rows, table, ids[:2]),
    "too many targets": lambda: engine.linear_cross_entropy(rows[:2], table, ids),
    "a narrow weight": lambda: engine.linear_cross_entropy(rows, table[:, :16].contiguous(), ids),
    "a short bias": lambda: engine.linear_cross_entropy(rows, table, ids, bias=row[:3]),
    "too few places of words": lambda: embed(ids, ids[:2]),
    "narrow positions": lambda: embed(ids, ids, table[:, :16].contiguous()),
    "a change of another size": lambda: engine.add_norm(rows, table, row, row),
    "a short weight of a norm": lambda: engine.add_norm(rows, None, row[:16], row[:16]),
    "a short bias of ReLU": lambda: engine.bias_relu_dropout(rows.clone(), row[:3], 0.0),
    "a short bias of GELU": lambda: engine.bias_gelu_dropout(rows.clone(), row[:3], 0.0),
    "keys of another width": lambda: engine.energies(rows[None], table[None, :, :16], row),
    "keys of fewer rows": lambda: engine.energies(rows[:, None], table[:3, None], row),
    "a short v": lambda: engine.energies(rows[:, None], rows[:, None], row[:16]),
    "a short gradient": lambda: step(900_000, 3, 900_000, 900_000),
    "a short moment": lambda: step(900_000, 900_000, 900_000, 3),
    "step 0": lambda: step(3, 3, 3, 3, number=0),
    "a layer of another width": lambda: layers(layer(width=16)),
    "a layer without its end": lambda: layers(layer()[:12]),
    "layers of two sizes": lambda: layers(layer(), layer(32), n_options=2),
    "a layer too few": lambda: layers(layer(), n_options=2),
    "layers and other sentences": lambda: layers(layer(), where=Spans(of(0, 99), of(0, 99))),
    "outputs longer than their penalties": lambda: ask([4, 5]),
    "more outputs than the beam": lambda: ask([4, 4], n_best=3),
    "lengths of int32": lambda: ask([4, 4], dtype=np.int32),
    "fewer lengths than prefixes": lambda: ask([4]),
}

if __name__ == "__main__":
    for name, call in CASES.items():
        try:
            call()
            sys.stdout.write(f"{name}: not refused\n")
        except SizeError:
            sys.stdout.write(f"{name}: refused\n")
        sys.stdout.flush()
