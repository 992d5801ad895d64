"""Measuring several models on the same sentences."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from regard.decoding import Search
from regard.evaluation import Compared, OfLength, compare, judge, measure_by_length
from regard.systems import Translator, load
from regard.text.words import split
from regard.training import read_metrics


@dataclass(frozen=True)
class ComparisonRequest:
    """What all of them are asked."""

    sources: Sequence[str]
    references: Sequence[str]
    search: Search
    tokenize: str | None
    n_parts: int
    batch_rows: int


@dataclass(frozen=True)
class TrainedModel:
    """What a model folder tells of its training; None where it does not."""

    updates: int | None
    tokens: float | None  # target tokens seen
    tokens_a_second: float | None
    minutes: float | None
    budget: float | None  # minutes that were given; None: as long as it took
    validations: tuple[tuple[float, float], ...]  # minutes, and the loss then


@dataclass(frozen=True)
class Contestant:
    """One model, and how it did."""

    name: str
    kind: str
    n_parameters: int
    trained: TrainedModel
    bleu: float
    chrf: float
    exact: float
    signature: str
    by_length: tuple[OfLength, ...]
    sentences_a_second: float
    against_best: Compared | None  # in BLEU; None for the best itself


@dataclass(frozen=True)
class Comparison:
    """Several models on the same sentences, in the order they were named."""

    n_sentences: int
    contestants: tuple[Contestant, ...]


def compare_models(
    models: Sequence[Path],
    open_model: Callable[[Path], Translator],
    asked: ComparisonRequest,
    advance: Callable[[str], None],
) -> Comparison:
    """Translate with each, and measure; ``advance`` hears of every sentence that is done."""
    lengths = [len(split(source)) for source in asked.sources]
    outputs, speeds = list[list[str]](), list[float]()
    names = _names(models)
    for path, name in zip(models, names, strict=True):
        translator = open_model(path)
        started = time.perf_counter()
        outputs.append(list(_translated(translator, asked, partial(advance, name))))
        speeds.append(len(asked.sources) / (time.perf_counter() - started))
    judged = [judge(lines, asked.references, tokenize=asked.tokenize) for lines in outputs]
    best = max(range(len(models)), key=lambda i: judged[i].bleu)
    contestants = []
    for i, (path, quality) in enumerate(zip(models, judged, strict=True)):
        loaded = load(path)
        against = None
        if i != best:
            (against,) = compare(
                outputs[i], outputs[best], asked.references, ["bleu"], tokenize=asked.tokenize
            )
        by_length = measure_by_length(
            outputs[i],
            asked.references,
            lengths,
            n_parts=asked.n_parts,
            tokenize=asked.tokenize,
        )
        contestants.append(
            Contestant(
                names[i],
                loaded.recipe.model.kind,
                loaded.model.n_parameters,
                _trained(read_metrics(path / "metrics.jsonl"), loaded.recipe.training.minutes),
                quality.bleu,
                quality.chrf,
                quality.exact,
                quality.signature,
                tuple(by_length),
                speeds[i],
                against,
            )
        )
    return Comparison(len(asked.sources), tuple(contestants))


def _translated(
    translator: Translator, asked: ComparisonRequest, advance: Callable[[], None]
) -> Iterator[str]:
    for best in translator.translate_each(asked.sources, asked.search, batch_rows=asked.batch_rows):
        advance()
        yield best[0].text


def _names(models: Sequence[Path]) -> list[str]:
    """The last parts of the paths, as many as it takes to tell them apart."""
    paths = [path.resolve() for path in models]
    for n in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.parts[-n:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    return [str(path) for path in models]


def _trained(metrics: list[dict[str, Any]], budget: float | None) -> TrainedModel:
    steps = [one for one in metrics if one["event"] == "stepped"]
    if not steps:
        return TrainedModel(None, None, None, None, budget, ())
    updates = max(one["update"] for one in metrics)
    tokens = updates * sum(one["n_tokens"] for one in steps) / len(steps)
    seconds = max(one["seconds"] for one in steps)
    speed = tokens / seconds if seconds else None
    validations = tuple(
        (one["seconds"] / 60, one["loss"])
        for one in metrics
        if one["event"] == "validated" and one.get("loss") is not None
    )
    minutes = max(one["seconds"] for one in metrics) / 60
    return TrainedModel(updates, tokens, speed, minutes, budget, validations)
