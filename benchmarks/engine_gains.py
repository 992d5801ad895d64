"""What the engine gains over the models as they are written, and whole layers over operations.

    $ python benchmarks/engine_gains.py --rounds 12

Random words, a vocabulary of 8,000, one thread, processor time; the ways take turns in one process,
and a ratio is the median over the rounds.
"""

import argparse
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from statistics import median
from unittest.mock import patch

import torch
from machine import facts, print_facts, print_table

from regard.config import read_recipe
from regard.data import Batch
from regard.decoding import Limits, Search, beam_search, greedy
from regard.engine import LayerOptions, for_decoding, for_training, keep_heap
from regard.models import Model
from regard.shapes import Int, Tensor
from regard.systems.system import build
from regard.systems.writing import language_loss
from regard.training import Updater
from regard.training.tasks import Task, translation

_WORDS = 8000
_LIMITS = Limits(factor=1.0, extra=2, least=12)


def main() -> None:
    """Measure all ways in turns."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=12)
    rounds = options.parse_args().rounds
    torch.set_num_threads(1)
    keep_heap()
    print_facts(facts())
    pairs = Batch(_ids(64, 18), _ids(64, 18))
    few = Batch(_ids(36, 18), _ids(36, 18))
    texts = Batch(_ids(16, 1), _ids(16, 65, is_full=True))
    rows = [
        [
            "an update of transformer-small",
            *_updates("transformer-small", translation, pairs, rounds),
        ],
        ["the same, 512 tokens", *_updates("transformer-small", translation, few, rounds)],
        ["transformer-fast, 512 tokens", *_updates("transformer-fast", translation, few, rounds)],
        ["update, gpt-tiny", *_updates("gpt-tiny", language_loss, texts, rounds)],
        ["32 sentences, a beam of 5", *_searches(5, rounds)],
        ["32 sentences, greedy", *_searches(1, rounds)],
    ]
    print_table(["what", "engine, ms", "its operations alone", "the model"], rows)


def _model(name: str) -> Model:
    torch.manual_seed(1)
    return build(read_recipe(name, ["model.dropout=0.1"]).model, _WORDS, _WORDS)


def _ids(n_rows: int, most: int, *, is_full: bool = False) -> Int[Tensor, "B L"]:
    random = torch.Generator().manual_seed(n_rows + most)
    ids = torch.randint(8, _WORDS, (n_rows, most), generator=random)
    if not is_full:
        lengths = torch.randint((most + 1) // 2, most + 1, (n_rows, 1), generator=random)
        ids[torch.arange(most) >= lengths] = 0
    return ids


def _updates(name: str, task: Task, batch: Batch, rounds: int) -> list[str]:
    model = _model(name).train()
    fast, updater = for_training(model), Updater(model)

    def update(one: Model) -> None:
        torch.manual_seed(3)
        loss, n = task(one, batch, 0.1)
        loss.backward()  # type: ignore[no-untyped-call]
        updater.update(1e-5, n, 1.0)

    return _row([lambda: update(fast), lambda: update(fast), lambda: update(model)], rounds)


def _searches(width: int, rounds: int) -> list[str]:
    model, source = _model("transformer-small").eval().requires_grad_(False), _ids(32, 16)
    fast, search = for_decoding(model), Search(width=width, limits=_LIMITS)
    run = greedy if width == 1 else beam_search
    engine, plain, _ = _row(
        [
            lambda: run(fast, source, search),
            lambda: run(model, source, search),
            lambda: run(fast, source, search),
        ],
        rounds,
        alone=-1,
    )
    return [engine, "", plain]


def _row(ways: list[Callable[[], object]], rounds: int, alone: int = 1) -> list[str]:
    """Milliseconds of the first way, and how many times as long the others take."""
    seconds: list[list[float]] = [[] for _ in ways]
    for _ in range(rounds + 1):
        for number, way in enumerate(ways):
            with _operations() if number == alone else nullcontext():
                began = time.process_time()
                way()
                seconds[number].append(time.process_time() - began)
    first, *others = (one[1:] for one in seconds)  # the first round finds nothing prepared
    ratios = [median(b / a for a, b in zip(first, other, strict=True)) for other in others]
    return [f"{1000 * median(first):.0f}", *(f"{ratio:.2f}" for ratio in ratios)]


def _operations() -> AbstractContextManager[object]:
    """Within, no layer is computed as a whole."""
    return patch.object(LayerOptions, "serves", lambda options, parameters: False)


if __name__ == "__main__":
    main()
