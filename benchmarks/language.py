"""A language model learns letter by letter beside a plain loop: loss, and tokens a second.

    $ python benchmarks/language.py --text input.txt
    $ python benchmarks/language.py --text input.txt --updates 200 --rounds 40

Both are GPT-2's layout with the sizes nanoGPT publishes for Shakespeare on a laptop's processor: 4
layers, 4 heads, 128 wide, feed-forward 512, context 64, batches of 12 windows, no dropout, float32.
``plain`` is written the way nanoGPT is: a module a block, torch's own attention, layer norm, GELU,
cross-entropy and fused AdamW, its published schedule. ``regard`` is the recipe gpt-tiny, by the
task and the updater that `regard train` runs.

Each has a process of its own, as it would in use: what Regard tells malloc (``keep_heap``) helps
Regard alone; with --keep-heap both are given it. Both read as many tokens, and turns of a few
updates each go round, one process at work and the other waiting, so what else the machine does
meets both alike. After the last turn each is measured on the whole of the last tenth of the text,
in windows end to end; before it on an even part of that.
"""

import argparse
import math
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import torch
from machine import facts, print_facts, print_table
from plain_gpt import CONTEXT, ROWS, Plain
from torch import Tensor, nn

from regard.config import read_recipe
from regard.data import Batch, Windows, held_out_windows
from regard.engine import for_training, keep_heap
from regard.systems import build, prepare
from regard.systems.texts import PreparedTexts
from regard.systems.writing import language_loss
from regard.training.schedule import SCHEDULES
from regard.training.updater import Updater


@dataclass
class Contestant:
    """A way to learn: ``step`` turns a batch into an update, ``measure`` gives loss and tokens."""

    name: str
    model: nn.Module
    step: Callable[[int], None]
    measure: Callable[[Batch], tuple[float, int]]


def plain(n_tokens: int, ids: Tensor, n_updates: int) -> Contestant:
    """NanoGPT's settings for this size: rate 1e-3 to 1e-4, warm-up 100, decay 0.1, clip 1."""
    torch.manual_seed(1337)
    model = Plain(n_tokens)
    decayed = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.99), fused=True)

    def step(update: int) -> None:
        way = min(1.0, max(0.0, (update - 100) / max(1, n_updates - 100)))
        rate = (
            1e-3 * update / 100
            if update < 100
            else 1e-4 + 9e-4 * 0.5 * (1 + math.cos(math.pi * way))
        )
        for group in optimiser.param_groups:
            group["lr"] = rate
        starts = torch.randint(len(ids) - CONTEXT, (ROWS,))
        x = torch.stack([ids[i : i + CONTEXT] for i in starts])
        y = torch.stack([ids[i + 1 : i + 1 + CONTEXT] for i in starts])
        loss = model(x, y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)

    def measure(batch: Batch) -> tuple[float, int]:
        n = int((batch.target[:, 1:] != 0).sum())
        return float(model(batch.target[:, :-1], batch.target[:, 1:])) * n, n

    return Contestant("plain", model, step, measure)


def regard(n_tokens: int, ids: Tensor, n_updates: int, changes: list[str]) -> Contestant:
    """What `regard train gpt-tiny` runs."""
    recipe = read_recipe("gpt-tiny", ["data.train=[]", f"training.updates={n_updates}", *changes])
    training = recipe.training
    torch.manual_seed(training.seed)
    model = for_training(build(recipe.model, n_tokens, n_tokens))
    updater = Updater(
        model,
        betas=training.betas,
        epsilon=training.epsilon,
        weight_decay=training.weight_decay,
        ema=training.ema,
    )
    batches = Windows(
        ids.numpy(), recipe.model.context, training.seed, int(training.batch_tokens)
    ).iterate()
    rate = SCHEDULES[training.schedule](
        float(training.learning_rate), int(training.warmup), n_updates
    )

    def step(update: int) -> None:
        loss, n = language_loss(model, next(batches), training.label_smoothing)
        loss.backward()
        updater.update(rate(update), n, training.clip)

    def measure(batch: Batch) -> tuple[float, int]:
        with updater.averaged():
            loss, n = language_loss(model, batch, 0.0)
        return float(loss), n

    return Contestant("regard", model, step, measure)


def measured(one: Contestant, batches: list[Batch]) -> float:
    one.model.eval()
    with torch.inference_mode():
        pairs = [one.measure(batch) for batch in batches]
    one.model.train()
    return sum(loss for loss, _ in pairs) / sum(n for _, n in pairs)


def read(path: str) -> tuple[int, Tensor, list[Batch]]:
    """Ids in the vocabulary, the text to learn from, and what is held out."""
    with tempfile.TemporaryDirectory() as folder:
        recipe = read_recipe("gpt-tiny", [f"data.train=['{path}']"])
        prepared = prepare(recipe, Path(folder))
        assert isinstance(prepared, PreparedTexts)
        text = torch.from_numpy(np.array(prepared.learned.ids, dtype=np.int64))
        held = np.array(prepared.held.ids, dtype=np.int64)
    return len(prepared.source_tokenizer), text, held_out_windows(held, CONTEXT, len(held))


def work(name: str, options: argparse.Namespace, line: Connection) -> None:
    """Learn when told, and say how long it took and how well it went."""
    torch.set_num_threads(options.threads)
    if name == "regard" or options.keep_heap:
        keep_heap()
    n_tokens, text, windows = read(options.text)
    if name == "plain":
        one = plain(n_tokens, text, options.updates)
    else:
        one = regard(n_tokens, text, options.updates, options.set)
    line.send(sum(p.numel() for p in one.model.parameters()))
    some = windows[:: max(1, len(windows) // 8)]
    while (turn := line.recv()) is not None:
        first, last = turn
        begun, busy = time.perf_counter(), time.process_time()
        for update in range(first, last):
            one.step(update)
        line.send((time.perf_counter() - begun, time.process_time() - busy))
        line.send(measured(one, windows if last > options.updates else some))


@dataclass
class Course:
    """One contestant's process, and what it said."""

    name: str
    process: multiprocessing.process.BaseProcess
    line: Connection
    n_parameters: int
    seconds: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)  # by the processor's clock
    losses: list[float] = field(default_factory=list)

    @classmethod
    def begin(cls, name: str, options: argparse.Namespace) -> "Course":
        """Start the process, and wait until it is ready."""
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=work, args=(name, options, there), daemon=True)
        process.start()
        return cls(name, process, here, here.recv())

    def turn(self, first: int, last: int) -> None:
        """Let it do these updates, and say how it went."""
        self.line.send((first, last))
        seconds, busy = self.line.recv()
        self.seconds.append(seconds)
        self.busy.append(busy)
        self.losses.append(self.line.recv())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--text", required=True)
    parser.add_argument("--updates", type=int, default=2000, help="of 768 tokens each")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--keep-heap", action="store_true", help="for both")
    parser.add_argument("--set", action="append", default=[], help="changes to the recipe")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print_facts(facts())
    courses = [Course.begin(name, options) for name in ("plain", "regard")]
    for one in courses:
        print(f"{one.name}: {one.n_parameters:,} parameters")
    size = max(1, options.updates // options.rounds)
    for r in range(options.rounds):
        for one in courses if r % 2 == 0 else courses[::-1]:
            one.turn(r * size + 1, (r + 1) * size + 1)
        said = (f"{c.name} {c.losses[-1]:.3f} after {sum(c.seconds):.1f} s" for c in courses)
        print(f"{(r + 1) * size * ROWS * CONTEXT:>9,} tokens: {', '.join(said)}", flush=True)
    for one in courses:
        one.line.send(None)
        one.process.join()
    report(courses, size * ROWS * CONTEXT)


def report(courses: list[Course], n_tokens: int) -> None:
    print_table(
        ["contestant", "tokens/s", "validation loss", "bits per character"],
        [
            [
                one.name,
                f"{statistics.median(n_tokens / s for s in one.seconds):,.0f}",
                f"{one.losses[-1]:.3f}",
                f"{one.losses[-1] / math.log(2):.3f}",
            ]
            for one in courses
        ],
    )
    wall = [a / b for a, b in zip(*(one.seconds for one in courses), strict=True)]
    busy = [a / b for a, b in zip(*(one.busy for one in courses), strict=True)]
    print(
        f"regard is {statistics.median(wall):.2f} times as fast (median of the turns), and "
        f"{statistics.median(busy):.2f} times by the processor's own clock"
    )


if __name__ == "__main__":
    main()
