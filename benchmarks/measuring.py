"""How good a recipe is after so many minutes: each budget is a run of its own, as a user starts it.

A run that was stopped is continued by the same command, and one that is over is only judged. Which
length penalty counts is decided on validation data alone.
"""

import argparse
import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, stdev

import torch
from machine import facts, print_facts, print_table

from regard.cli.training_session import run_session
from regard.data import MemoryCorpus, collate, read_corpus
from regard.decoding import Search, beam_search
from regard.engine import for_decoding, keep_heap
from regard.evaluation import Quality, judge
from regard.folder import LoadedModel
from regard.systems import Translator, load
from regard.systems.training_data import TrainingData, asked_recipe
from regard.training import read_metrics

_ROWS = 64


@dataclass(frozen=True)
class Data:
    """The files of one direction, and sacrebleu's tokenisation for its references."""

    train: str  # as the recipe writes it: "train.en|train.de"
    valid: str
    test: str
    tokenize: str | None  # None: "zh" for Chinese references, else "13a"


@dataclass(frozen=True)
class Judged:
    """How good the model of a folder is; the test set may not have been looked at."""

    run: str
    minutes: float  # that its updates took, with what was measured between them
    update: int
    alpha: float
    valid: Quality
    test: Quality | None


def evaluate(
    folder: Path, data: Data, *, width: int, alphas: Sequence[float], looks_at_test: bool
) -> Judged:
    """Judge the model in a folder."""
    # Published references are tokenised already, of which sacrebleu warns.
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    loaded = load(folder)
    told = read_metrics(folder / "metrics.jsonl")
    seconds, update = (told[-1]["seconds"], told[-1]["update"]) if told else (0.0, 0)
    found = [(_measure(loaded, data.valid, data.tokenize, width, one)[0], one) for one in alphas]
    valid, alpha = max(found, key=lambda one: one[0].bleu)
    test = None
    if looks_at_test:
        test, outputs = _measure(loaded, data.test, data.tokenize, width, alpha)
        text = "".join(f"{line}\n" for line in outputs)
        (folder / "test.txt").write_text(text, encoding="utf-8")
    judged = Judged(folder.name, seconds / 60, update, alpha, valid, test)
    name = "quality.json" if looks_at_test else "quality-validation.json"
    (folder / name).write_text(json.dumps(asdict(judged), indent=2), encoding="utf-8")
    print(f"judged {folder}: validation BLEU {valid.bleu:.2f}", flush=True)
    return judged


def print_judged(judged: Sequence[Judged], title: str) -> None:
    """A row for each run; with several seeds their mean and deviation below."""
    head = ["minutes-seed", "minutes", "update", "α", "valid BLEU", "chrF"]
    rows = []
    for one in judged:
        cells = [one.run, f"{one.minutes:.1f}", f"{one.update:,}", f"{one.alpha:g}"]
        cells += [f"{one.valid.bleu:.2f}", f"{one.valid.chrf:.2f}"]
        if one.test is not None:
            cells += [f"{one.test.bleu:.2f}", f"{one.test.chrf:.2f}"]
        rows.append(cells)
    print(f"\n{title}")
    print_table([*head, "test BLEU", "chrF"] if judged[0].test is not None else head, rows)
    for budget in dict.fromkeys(one.run.partition("-")[0] for one in judged):
        runs = [one.test or one.valid for one in judged if one.run.partition("-")[0] == budget]
        if len(runs) > 1:
            scores = [one.bleu for one in runs]
            print(f"{budget} minutes, {len(runs)} seeds: {mean(scores):.2f} ± {stdev(scores):.2f}")
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
        decoder = for_decoding(model)
        for start in range(0, len(order), _ROWS):
            rows = order[start : start + _ROWS]
            found = beam_search(decoder, collate(corpus, rows).source, Search(width, alpha=alpha))
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


def options(about: str | None, pair: str, minutes: Sequence[float]) -> argparse.ArgumentParser:
    """What the quality benchmarks can be told."""
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the corpus' folder")
    parser.add_argument("--pair", default=pair, metavar="SOURCE-TARGET")
    parser.add_argument("--recipe", default="transformer-small", help="a preset or a .toml file")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="changes")
    parser.add_argument("--minutes", type=float, nargs="+", default=list(minutes))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--out", type=Path, help="a folder of runs; the same again continues")
    parser.add_argument("--evaluate", type=Path, metavar="MODEL", help="only judge this folder")
    parser.add_argument("--test", action="store_true", help="also look at the test set")
    parser.add_argument("--width", type=int, default=5, help="of the beam")
    parser.add_argument("--alpha", type=float, nargs="+", default=[1.0], help="best on validation")
    parser.add_argument("--threads", type=int, default=2)
    return parser


def train_and_judge(given: argparse.Namespace, data: Data) -> list[Judged]:
    """What both quality benchmarks do: a run for each budget and seed, and then their judgement."""
    keep_heap()
    torch.set_num_threads(given.threads)
    print_facts(facts())
    folders: list[Path] = [given.evaluate] if given.evaluate else []
    if not folders and given.out is None:
        raise SystemExit("give --out, the folder to train in, or --evaluate, a folder to judge")
    for minutes in () if given.evaluate else given.minutes:
        for seed in given.seeds:
            folders.append(given.out / f"{minutes:g}-{seed}")
            _train(given, data, folders[-1], minutes, seed)
    how = {"width": given.width, "alphas": given.alpha, "looks_at_test": given.test}
    return [evaluate(folder, data, **how) for folder in folders]


def _train(given: argparse.Namespace, data: Data, folder: Path, minutes: float, seed: int) -> None:
    """One run, as `regard train --minutes` does it."""
    files = TrainingData(data=[data.train], valid=[data.valid])
    changes = [f"training.seed={seed}", *given.changes]
    asked = asked_recipe(given.recipe, files, minutes=minutes, changes=changes)
    threads = given.threads
    run_session(
        asked, folder, device="cpu", n_threads=threads, writes_tensorboard=False, says_next=False
    )
