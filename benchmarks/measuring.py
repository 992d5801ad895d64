"""Training with marks on the way, and how good the model was at each of them.

When a mark (some minutes of training) is passed, the weights a user would then get are copied into
``marks/`` of the model folder: the best validated so far, and an average (the moving average where
the recipe keeps one, else the mean of the last checkpoints). They are judged when training is over.
Which of the two counts, and which length penalty, is decided on validation data alone.
"""

import argparse
import json
import logging
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from machine import facts, print_facts, print_table

from regard.cli.training_display import TrainingDisplay
from regard.config import read_recipe
from regard.data import MemoryCorpus, collate, read_corpus
from regard.decoding import Search, beam_search
from regard.engine import keep_heap
from regard.evaluation import Quality, judge
from regard.folder import LoadedModel, put_into, read_weights, write_weights
from regard.folder.weights import WEIGHTS
from regard.models import Model
from regard.systems import Translator, build, load, prepare
from regard.training import (
    Finished,
    FolderKeeper,
    MetricsFile,
    Progress,
    Ranks,
    Run,
    Stepped,
    Updater,
    read_metrics,
    train,
)
from regard.training.events import DataRead, ModelBuilt
from regard.training.run import AnyUpdater

MARKS = "marks"
_ROWS = 64


@dataclass(frozen=True)
class Data:
    """The files of one direction, and sacrebleu's tokenisation for its references."""

    train: str  # as the recipe writes it: "train.en|train.de"
    valid: str
    test: str
    tokenize: str | None  # None: "zh" for Chinese references, else "13a"


@dataclass(frozen=True)
class Mark:
    """A moment of a run whose weights were kept."""

    label: str
    minutes: float
    update: int
    files: tuple[str, ...]  # weights to choose from, within the model folder


@dataclass(frozen=True)
class Judged:
    """How good the weights of a mark are; the test set may not have been looked at."""

    mark: Mark
    chosen: str
    alpha: float
    valid: Quality
    test: Quality | None


class MarkingKeeper(FolderKeeper):
    """Also copies the weights that are good at some moment."""

    def restore(self, model: Model, updater: AnyUpdater) -> Progress | None:
        """Load the last checkpoint, and remember what a mark is made of."""
        assert isinstance(updater, Updater), "marks are made by one process: training.shard = false"
        self.model, self.updater = model, updater
        return super().restore(model, updater)

    def mark(self, minutes: float, step: Stepped, n_averaged: int) -> None:
        """Copy what a user would get if training ended here."""
        folder = self.folder / MARKS
        folder.mkdir(exist_ok=True)
        names = [f"{minutes:g}-best", f"{minutes:g}-average"]
        best, average = (folder / f"{name}.safetensors" for name in names)
        if self.updater.average is not None:
            with self.updater.averaged():
                write_weights(average, self.model)
        else:
            own = self.updater.weights.clone()
            self.average_last(self.model, n_averaged)  # with fewer than two: as the model is
            write_weights(average, self.model)
            self.updater.weights.copy_(own)
        weights = self.folder / WEIGHTS
        if not weights.is_file():
            shutil.copyfile(average, weights)  # so that the folder can be opened from now on
        shutil.copyfile(weights, best)
        files = tuple(str(path.relative_to(self.folder)) for path in (best, average))
        kept = Mark(f"{minutes:g}", step.seconds / 60, step.update, files)
        with (folder / "marks.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(kept)) + "\n")


def train_with_marks(
    recipe: str, overrides: Sequence[str], folder: Path, minutes: Sequence[float]
) -> bool:
    """Train in a folder, or go on there; gives whether the run came to its end."""
    asked = read_recipe(recipe, overrides)
    display = TrainingDisplay()
    keeper = MarkingKeeper(folder, Ranks(), asked.training.average_last)
    keeper.claim(asked)
    prepared = prepare(asked, folder)
    display.show(DataRead(prepared))
    resolved = prepared.recipe
    torch.manual_seed(resolved.training.seed)
    source, target = prepared.source_tokenizer, prepared.target_tokenizer
    model = build(resolved.model, len(source), len(target))
    keeper.begin(resolved, source, target)
    to_come = sorted(set(minutes) - {float(mark.label) for mark in read_marks(folder)})
    metrics = MetricsFile(folder / "metrics.jsonl", keeper.last_update())
    reason = ""
    with _stopping() as asked_to_stop, display:
        display.show(ModelBuilt(resolved, model.n_parameters, folder, torch.device("cpu"), 1))
        run = Run(
            recipe=resolved.training,
            model=model,
            batches=prepared.plan(0, 1),
            keeper=keeper,
            validation=prepared.validation,
            ranks=Ranks(),
            device=torch.device("cpu"),
            task=prepared.task,
            should_stop=lambda: bool(asked_to_stop),
        )
        for event in train(run):
            metrics.write(event)
            display.show(event)
            if isinstance(event, Stepped):
                while to_come and event.seconds >= 60 * to_come[0]:
                    keeper.mark(to_come.pop(0), event, resolved.training.average_last)
            elif isinstance(event, Finished):
                reason = event.reason
    return reason != "interrupted"


def read_marks(folder: Path) -> list[Mark]:
    """The marks that were passed so far."""
    path = folder / MARKS / "marks.jsonl"
    if not path.is_file():
        return []
    read = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [Mark(**{**one, "files": tuple(one["files"])}) for one in read]


def evaluate(
    folder: Path, data: Data, *, width: int, alphas: Sequence[float], looks_at_test: bool
) -> list[Judged]:
    """TextClassifier every mark of a model folder and what the folder holds now."""
    # Published references are tokenised already, of which sacrebleu warns.
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    loaded = load(folder)
    told = read_metrics(folder / "metrics.jsonl")
    seconds, update = (told[-1]["seconds"], told[-1]["update"]) if told else (0.0, 0)
    now = Mark("end", seconds / 60, update, (WEIGHTS,))
    judged = []
    for mark in [*read_marks(folder), now]:
        found: list[tuple[Quality, str, float]] = []
        for file in mark.files:
            put_into(loaded.model, read_weights(folder / file), file)
            for alpha in alphas:
                valid, _ = _measure(loaded, data.valid, data.tokenize, width, alpha)
                found.append((valid, file, alpha))
        valid, file, alpha = max(found, key=lambda one: one[0].bleu)
        test = None
        if looks_at_test:
            put_into(loaded.model, read_weights(folder / file), file)
            test, outputs = _measure(loaded, data.test, data.tokenize, width, alpha)
            place = folder / MARKS
            place.mkdir(exist_ok=True)
            text = "".join(f"{line}\n" for line in outputs)
            (place / f"{mark.label}.test.txt").write_text(text, encoding="utf-8")
        chosen = "as kept" if file == WEIGHTS else Path(file).stem.rpartition("-")[2]
        judged.append(Judged(mark, chosen, alpha, valid, test))
        print(f"judged {mark.label}: validation BLEU {valid.bleu:.2f}", flush=True)
    report = json.dumps([asdict(one) for one in judged], indent=2)
    name = "quality.json" if looks_at_test else "quality-validation.json"
    (folder / name).write_text(report, encoding="utf-8")
    return judged


def print_judged(judged: Sequence[Judged], title: str) -> None:
    head = ["mark", "minutes", "update", "weights", "α", "valid BLEU", "chrF"]
    rows = []
    for one in judged:
        cells = [one.mark.label, f"{one.mark.minutes:.1f}", f"{one.mark.update:,}", one.chosen]
        cells += [f"{one.alpha:g}", f"{one.valid.bleu:.2f}", f"{one.valid.chrf:.2f}"]
        if one.test is not None:
            cells += [f"{one.test.bleu:.2f}", f"{one.test.chrf:.2f}"]
        rows.append(cells)
    has_test = bool(judged) and judged[0].test is not None
    print(f"\n{title}")
    print_table([*head, "test BLEU", "chrF"] if has_test else head, rows)
    print(f"BLEU: sacrebleu {judged[-1].valid.signature}")


def translate(
    loaded: LoadedModel, sentences: Sequence[str], *, width: int, alpha: float
) -> list[str]:
    """The best translation of each sentence by beam search, those of like length together."""
    ids = loaded.source_tokenizer.encode_many(sentences)
    corpus = MemoryCorpus([(one, ()) for one in ids])
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    outputs = [""] * len(ids)
    (model,) = Translator(loaded).models
    model.eval()
    with torch.inference_mode():
        for start in range(0, len(order), _ROWS):
            rows = order[start : start + _ROWS]
            found = beam_search(model, collate(corpus, rows).source, Search(width, alpha=alpha))
            for row, hypotheses in zip(rows, found, strict=True):
                tokens = hypotheses[0].tokens if hypotheses else ()
                outputs[row] = loaded.target_tokenizer.decode(tokens)
    return outputs


def _measure(
    loaded: LoadedModel, files: str, tokenize: str | None, width: int, alpha: float
) -> tuple[Quality, list[str]]:
    pairs = list(read_corpus([files]))
    outputs = translate(loaded, [pair.source for pair in pairs], width=width, alpha=alpha)
    return judge(outputs, [pair.target for pair in pairs], tokenize=tokenize), outputs


def options(about: str | None, pair: str, recipe: str, minutes: float) -> argparse.ArgumentParser:
    """What the quality benchmarks can be told."""
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the corpus' folder")
    parser.add_argument("--pair", default=pair, metavar="SOURCE-TARGET")
    parser.add_argument("--recipe", default=recipe, help="a preset or a .toml file")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="changes")
    parser.add_argument("--minutes", type=float, default=minutes, help="of training, at most")
    parser.add_argument("--marks", type=float, nargs="*", default=[5, 10, 20, 30, 40, 75])
    parser.add_argument("--out", type=Path, help="the model folder; the same again continues")
    parser.add_argument("--evaluate", type=Path, metavar="MODEL", help="only judge this folder")
    parser.add_argument("--test", action="store_true", help="also look at the test set")
    parser.add_argument("--width", type=int, default=5, help="of the beam")
    parser.add_argument("--alpha", type=float, nargs="+", default=[1.0], help="best on validation")
    parser.add_argument("--threads", type=int, default=2)
    return parser


def train_and_judge(given: argparse.Namespace, data: Data, changes: Sequence[str]) -> list[Judged]:
    """What both quality benchmarks do; `changes` are made before those given by hand."""
    keep_heap()
    torch.set_num_threads(given.threads)
    print_facts(facts())
    folder: Path | None = given.evaluate or given.out
    if folder is None:
        raise SystemExit("give --out, the folder to train in, or --evaluate, a folder to judge")
    if not given.evaluate:
        overrides = [
            f"data.train=['{data.train}']",
            f"data.valid=['{data.valid}']",
            f"training.minutes={given.minutes:g}",
            *changes,
            *given.changes,
        ]
        if not train_with_marks(given.recipe, overrides, folder, given.marks):
            raise SystemExit(
                f"interrupted and saved: the same command continues, --evaluate {folder} judges"
            )
    return evaluate(folder, data, width=given.width, alphas=given.alpha, looks_at_test=given.test)


@contextmanager
def _stopping() -> Iterator[list[int]]:
    """Within, the first Ctrl-C asks for a stop after the current update."""
    asked: list[int] = []

    def ask(number: int, _: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
