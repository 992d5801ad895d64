"""The family on the same data: how good, how fast, and how far with long sentences.

    $ python benchmarks/family.py train --data DIR --task multi30k --out runs/family
    $ python benchmarks/family.py judge --data DIR --task multi30k --out runs/family
    $ python benchmarks/family.py speed --data DIR --task multi30k --out runs/family

Six systems of the lectures, with the same number of parameters within a tenth, learn from the same
batches: the same tokens in the same number of updates, with the same dropout and label smoothing.
Learning rates are each system's own, from its recipe or the literature, and were not searched for.

DIR is the folder that holds multi30k and tatoeba-zh-en; the phrasebook needs none. ``train`` can
be stopped and started again: it goes on. ``judge`` reads the test set, once for each model.
``speed`` trains and decodes by turns, in one process, and should have the machine to itself.
"""

import argparse
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from machine import print_table

from regard.cli.recipes import count_parameters
from regard.recipes import read_recipe


@dataclass(frozen=True)
class Task:
    """Data that all of them learn from, and for how long."""

    train: tuple[str, ...]  # options of `regard train`
    test: tuple[str, ...]  # options of `regard compare`
    settings: tuple[str, ...]
    n_vocabulary: int


@dataclass(frozen=True)
class Member:
    """A system of the family, and the changes that give it its size."""

    name: str
    recipe: str
    settings: tuple[str, ...]


FAMILY = (
    Member(
        "bahdanau",
        "bahdanau",
        (
            *("model.d_embedding=160", "model.d_hidden=200", "model.tie=three-way"),
            "training.learning_rate=0.002",
        ),
    ),
    Member(
        "transformer",
        "transformer-tiny",
        (
            *("model.n_layers=4", "model.d_model=128", "model.d_feedforward=256"),
            "training.learning_rate=0.003",
        ),
    ),
    Member(
        "convolutional",
        "convolutional",
        ("model.d_model=144", "model.max_length=256", "training.learning_rate=0.002"),
    ),
    Member(
        "sutskever",
        "sutskever",
        (
            *("model.d_embedding=184", "model.d_hidden=184", "model.tie=three-way"),
            "training.learning_rate=0.002",
        ),
    ),
    Member(
        "luong",
        "luong",
        (
            *("model.d_embedding=168", "model.d_hidden=168", "model.tie=three-way"),
            "training.learning_rate=0.002",
        ),
    ),
    Member(
        "universal",
        "universal",
        (
            *("model.d_model=160", "model.d_feedforward=1216", "model.attention_dropout=0.1"),
            *("model.n_steps=4", "training.learning_rate=0.002"),
        ),
    ),
)

SHARED = (
    *("training.schedule=cosine", "training.warmup=400", "training.label_smoothing=0.1"),
    *("training.ema=0.995", "training.average_last=1", "training.measure=bleu"),
    *("training.patience=none", "training.batch_tokens=2048", "training.accumulate=1"),
)


def tasks(data: Path) -> dict[str, Task]:
    """The three data sets; files are those of the folder's own README."""
    captions = data / "multi30k" / "lowercased-tokenised"
    tatoeba = data / "tatoeba-zh-en"

    def files(folder: Path, name: str, source: str, target: str) -> tuple[str, ...]:
        return str(folder / f"{name}.{source}"), str(folder / f"{name}.{target}")

    def options(folder: Path, names: tuple[str, str, str], source: str, target: str) -> Task:
        train, valid, test = (files(folder, name, source, target) for name in names)
        return Task(
            (
                *("--source", train[0], "--target", train[1]),
                *("--valid-source", valid[0], "--valid-target", valid[1]),
            ),
            ("--source", test[0], "--target", test[1]),
            (),
            6000,
        )

    long = ("training.updates=4000", "training.validate_every=500", "training.save_every=500")
    multi30k = options(captions, ("train", "val", "test_2016_flickr"), "de", "en")
    zh_en = options(tatoeba, ("train", "val", "test"), "zh", "en")
    return {
        "multi30k": Task(
            multi30k.train,
            (*multi30k.test, "--tokenize", "none"),
            (*long, "text.size=6000", "model.dropout=0.3"),
            6000,
        ),
        "tatoeba": Task(
            zh_en.train, zh_en.test, (*long, "text.size=8000", "model.dropout=0.3"), 8000
        ),
        "phrasebook": Task(
            ("--corpus", "phrasebook:en-fr"),
            ("--corpus", "phrasebook:en-fr:test"),
            (
                *("training.updates=1000", "training.validate_every=500"),
                *("training.save_every=500", "text.size=2000", "model.dropout=0.0"),
            ),
            2000,
        ),
    }


def settings(task: Task, member: Member) -> list[str]:
    """All that is changed of the member's recipe."""
    return [*SHARED, *task.settings, *member.settings]


def train(task: Task, out: Path, members: list[Member], threads: int) -> None:
    """Train each, or go on training it; a run that is over ends at once."""
    for member in members:
        changes = [part for one in settings(task, member) for part in ("--set", one)]
        command = ["-m", "regard", "train", member.recipe, *task.train]
        options = ["--out", str(out / member.name), "--threads", str(threads)]
        subprocess.run([sys.executable, *command, *options, *changes], check=True)


def show_sizes(task: Task, members: list[Member]) -> None:
    """How many parameters each has: within a tenth of the middle."""
    rows = []
    for one in members:
        recipe = read_recipe(one.recipe, settings(task, one))
        rows.append([one.name, f"{count_parameters(recipe, task.n_vocabulary):,}"])
    print_table(["system", "parameters"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("sizes", "train", "judge", "speed"))
    parser.add_argument("--data", type=Path, default=Path())
    parser.add_argument("--task", choices=("multi30k", "tatoeba", "phrasebook"), required=True)
    parser.add_argument("--out", type=Path, default=Path("runs/family"))
    parser.add_argument("--only", action="append", choices=[one.name for one in FAMILY])
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    task = tasks(given.data)[given.task]
    members = [one for one in FAMILY if not given.only or one.name in given.only]
    out = given.out / given.task
    if given.what == "sizes":
        show_sizes(task, members)
    elif given.what == "train":
        train(task, out, members, given.threads)


if __name__ == "__main__":
    main()
