"""The eight scores and the four normalisers on one task: how good, and what they cost.

    $ python benchmarks/scores.py --out runs/scores

Luong's translator, small, learns the phrasebook from English to French; all that changes is how
well a source word answers the decoder (``model.score``), or what becomes of the scores
(``model.normaliser``). Every one sees the same tokens in the same order. It can be stopped and
started again. The cost is the time of a training step beside that of the dot product, by turns in
one process: it wants the machine to itself (``--skip-cost`` leaves it out).
"""

import argparse
import subprocess
import sys
from pathlib import Path

import torch
from family import Entry, median_ratio
from machine import facts, print_facts, print_table

from regard.attention import NORMALISERS, SCORES
from regard.data import read_pairs
from regard.decoding import Search
from regard.engine import keep_heap
from regard.evaluation import judge
from regard.systems import Translator

TEST = "phrasebook:en-fr:test"
SETTINGS = (
    *("model.d_embedding=96", "model.d_hidden=128", "model.n_layers=1", "model.dropout=0.0"),
    *("text.size=2000", "training.batch_tokens=1024", "training.updates=600"),
    *("training.schedule=cosine", "training.learning_rate=0.004", "training.warmup=60"),
    *("training.label_smoothing=0.0", "training.ema=0.99", "training.average_last=1"),
    *("training.validate_every=300", "training.save_every=300", "training.measure=bleu"),
)


def variants() -> dict[str, tuple[str, ...]]:
    """Each score with the softmax, and each other normaliser with Luong's own score."""
    scores = {name: (f"model.score={name}",) for name in SCORES}
    others = {
        f"general, {name}": (
            f"model.normaliser={name}",
            *(("model.reach=3",) if name.startswith("local") else ()),
        )
        for name in NORMALISERS
        if name != "soft"
    }
    return scores | others


def place(out: Path, name: str) -> Path:
    """The folder of a variant."""
    return out / name.replace(", ", "-")


def train(out: Path, threads: int) -> None:
    """Train each, or go on training it."""
    for name, changes in variants().items():
        sets = [part for one in (*SETTINGS, *changes) for part in ("--set", one)]
        options = ["--out", str(place(out, name)), "--threads", str(threads)]
        command = ["-m", "regard", "train", "luong", "--corpus", "phrasebook:en-fr", *options]
        subprocess.run([sys.executable, *command, *sets], check=True)


def costs(out: Path, rounds: int) -> dict[str, float]:
    """How much longer a training step takes than with the dot product."""
    entries = {name: Entry.of(place(out, name), TEST) for name in variants()}
    for _ in range(rounds):
        for entry in entries.values():
            entry.train()
    dot = entries["dot"].trained
    return {name: median_ratio(dot, entry.trained) for name, entry in entries.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("runs/scores"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--skip-cost", action="store_true")
    given = parser.parse_args()
    train(given.out, given.threads)
    torch.set_num_threads(given.threads)
    keep_heap()
    pairs = list(read_pairs(TEST))
    references = [pair.target for pair in pairs]
    taken = {} if given.skip_cost else costs(given.out, given.rounds)
    rows = []
    for name in variants():
        translator = Translator.open(place(given.out, name))
        found = translator.translate_each([pair.source for pair in pairs], Search(width=5))
        quality = judge([best[0].text for best in found], references)
        attention = translator.models[0].get_submodule("decoder.attention")
        n_parameters = sum(parameter.numel() for parameter in attention.parameters())
        rows.append(
            [
                name if "," in name else f"{name}, soft",
                f"{quality.bleu:.2f}",
                f"{100 * quality.exact:.1f} %",
                f"{n_parameters:,}",
                f"{taken[name]:.2f}" if taken else "–",
            ]
        )
    print_facts(facts())
    head = ["score, normaliser", "BLEU", "exact", "parameters of attention", "time to dot"]
    print_table(head, rows)


if __name__ == "__main__":
    main()
