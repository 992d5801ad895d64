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
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import torch
from machine import facts, print_facts, print_table

from regard.cli.recipes import count_parameters
from regard.config import read_recipe
from regard.data import Batch, Batches, MemoryCorpus, collate, parse_spec, read_corpus
from regard.decoding import Search
from regard.engine import for_training, keep_heap
from regard.models import EncoderDecoder
from regard.systems import Translator, load
from regard.training import Updater
from regard.training.tasks import translation

_PAIRS, _BATCHES, _SENTENCES = 2000, 8, 200


@dataclass(frozen=True)
class Task:
    """Data that all of them learn from, and for how long."""

    train: tuple[str, ...]  # options of `regard train`
    test: tuple[str, ...]  # options of `regard compare`
    settings: tuple[str, ...]
    n_vocabulary: int
    pairs: str  # what speed is measured on, as a recipe writes it


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

BESIDE = (  # not of the family's size, and only on demand: for a published mark of its own
    Member(
        "gru",
        "sutskever",
        (
            *("model.cell=gru", "model.d_embedding=320", "model.d_hidden=320"),
            *("model.tie=three-way", "training.learning_rate=0.002"),
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
            0,
            f"{train[0]}|{train[1]}",
        )

    often = ("training.validate_every=500", "training.save_every=500")
    multi30k = options(captions, ("train", "val", "test_2016_flickr"), "de", "en")
    zh_en = options(tatoeba, ("train", "val", "test"), "zh", "en")
    return {
        "multi30k": Task(
            multi30k.train,
            (*multi30k.test, "--tokenize", "none"),
            ("training.updates=4000", *often, "text.size=6000", "model.dropout=0.3"),
            6000,
            multi30k.pairs,
        ),
        "tatoeba": Task(
            zh_en.train,
            zh_en.test,
            (
                *("training.updates=800", "training.warmup=200", "training.validate_every=400"),
                *("training.save_every=400", "text.size=8000", "model.dropout=0.3"),
            ),
            8000,
            zh_en.pairs,
        ),
        "phrasebook": Task(
            ("--corpus", "phrasebook:en-fr"),
            ("--corpus", "phrasebook:en-fr:test"),
            (
                *("training.updates=1000", *often),
                *("text.size=2000", "model.dropout=0.0"),
            ),
            2000,
            "phrasebook:en-fr:4000",
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


def judge(task: Task, out: Path, members: list[Member]) -> None:
    """Translate the test set with each; the table goes to stdout, the picture beside the models."""
    folders = [str(out / member.name) for member in members]
    options = ["--save", str(out / "lengths.png")]
    command = [sys.executable, "-m", "regard", "compare", *folders, *task.test, *options]
    subprocess.run(command, check=True)


def show_speed(task: Task, out: Path, members: list[Member], rounds: int, threads: int) -> None:
    """Training and decoding by turns, each with its own trained model and the same sentences."""
    torch.set_num_threads(threads)
    keep_heap()
    entries = [Entry.of(out / member.name, task.pairs) for member in members]
    for k in range(rounds):
        turn = k % len(entries)
        for entry in entries[turn:] + entries[:turn]:
            entry.train()
            entry.decode()
    print_facts(facts())
    head = ["system", "trained tokens/s", "to transformer", "sentences/s, beam 5", "to transformer"]
    yardstick = next((one for one in entries if one.name == "transformer"), entries[0])
    rows = [
        [
            one.name,
            f"{statistics.median(one.trained):,.0f}",
            f"{median_ratio(one.trained, yardstick.trained):.2f}",
            f"{statistics.median(one.decoded):,.1f}",
            f"{median_ratio(one.decoded, yardstick.decoded):.2f}",
        ]
        for one in entries
    ]
    print_table(head, rows)


def median_ratio(mine: list[float], others: list[float]) -> float:
    """The median of the ratios round by round: what disturbs one round disturbs both."""
    return statistics.median(a / b for a, b in zip(mine, others, strict=True))


@dataclass
class Entry:
    """A trained model that trains and decodes against the clock."""

    name: str
    model: EncoderDecoder
    updater: Updater
    batches: list[Batch]
    translator: Translator
    sources: list[str]
    trained: list[float] = field(default_factory=list)
    decoded: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, folder: Path, spec: str) -> "Entry":
        """The model of a folder, warmed up, and batches of the first pairs of its task."""
        loaded = load(folder)
        pairs = list(islice(read_corpus([parse_spec(spec)]), _PAIRS))
        sources = loaded.source_tokenizer.encode_many([pair.source for pair in pairs])
        targets = loaded.target_tokenizer.encode_many([pair.target for pair in pairs])
        corpus = MemoryCorpus(list(zip(sources, targets, strict=True)))
        batches = [collate(corpus, rows) for rows in Batches(corpus, 1, 2048).epoch(0)]
        model = for_training(loaded.model.train().requires_grad_(True))
        entry = cls(
            folder.name,
            model,
            Updater(model),
            batches[:_BATCHES],
            Translator.open(folder),
            [pair.source for pair in pairs[:_SENTENCES]],
        )
        entry.train()
        entry.trained.clear()
        return entry

    def train(self) -> None:
        """Some updates; a rate of nothing leaves the model as it is."""
        started, n_words = time.perf_counter(), 0
        for batch in self.batches:
            loss, n = translation(self.model, batch, 0.1)
            loss.backward()  # type: ignore[no-untyped-call]
            self.updater.update(0.0, n, 1.0)
            n_words += n
        self.trained.append(n_words / (time.perf_counter() - started))

    def decode(self) -> None:
        """Some sentences."""
        started = time.perf_counter()
        list(self.translator.translate_each(self.sources, Search(width=5)))
        self.decoded.append(len(self.sources) / (time.perf_counter() - started))


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
    parser.add_argument("--only", action="append", choices=[one.name for one in FAMILY + BESIDE])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5, help="of speed")
    given = parser.parse_args()
    task = tasks(given.data)[given.task]
    only = given.only or [one.name for one in FAMILY]
    members = [one for one in FAMILY + BESIDE if one.name in only]
    out = given.out / given.task
    if given.what == "sizes":
        show_sizes(task, members)
    elif given.what == "train":
        train(task, out, members, given.threads)
    elif given.what == "judge":
        judge(task, out, members)
    else:
        show_speed(task, out, members, given.rounds, given.threads)


if __name__ == "__main__":
    main()
