"""Evaluation: how good a model is on held-out data, as values with names."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from regard.data import parse_spec, parse_text, prepare_text, read_pairs
from regard.data.lines import read_lines
from regard.decoding import Search
from regard.errors import UsageError
from regard.evaluation import (
    MEASURES,
    Compared,
    MeasuredScore,
    OfLabel,
    distinct,
    measure,
    most_frequent,
    share_equal,
)
from regard.systems.opened import OpenedModel
from regard.systems.results import Result
from regard.systems.texts import PreparedTexts, TextSpan
from regard.text.words import split
from regard.training.tasks import Task

Lines = str | Path | Sequence[str]  # a file, or the lines themselves


@dataclass(frozen=True)
class Diversity:
    """How much answers differ from one another; a Chinese character counts as a word."""

    distinct_1: float
    distinct_2: float
    most_frequent: str
    most_frequent_share: float

    @classmethod
    def of(cls, answers: list[str]) -> "Diversity":
        """Of all answers to one text of conversations."""
        cut = [[word.text.lower() for word in split(answer)] for answer in answers]
        return cls(distinct(cut, 1), distinct(cut, 2), *most_frequent(answers))


class Scores(Result):
    """Scores by name: ``found["bleu"]`` and ``found.scores``."""

    @property
    def scores(self) -> Mapping[str, float]:
        """Every number that was measured."""
        raise NotImplementedError

    def __getitem__(self, name: str) -> float:
        return self.scores[name]

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}={value:.4g}" for name, value in self.scores.items())
        return f"{type(self).__name__}({numbers})"


@dataclass(frozen=True)
class ScoreTable:
    """An evaluation as rows to compare: a title, the heads of columns, and notes below."""

    title: str
    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]
    notes: tuple[str, ...] = ()


class TabledScores(Scores):
    """Scores beside those of controls, a row each."""

    def table(self) -> ScoreTable:
        """All rows, as texts."""
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class Evaluation(Scores):
    """How near outputs come to their references, and how sure that is."""

    system: str
    n_sentences: int
    measured: list[MeasuredScore]
    exact: float
    perplexity: float | None = None
    n_tokens: int | None = None
    baseline: str | None = None
    compared: list[Compared] = field(default_factory=list)
    diversity: Diversity | None = None  # of answers

    @property
    def scores(self) -> Mapping[str, float]:
        """BLEU, chrF, TER, the share of exact matches, and perplexity where a model is judged."""
        found = {one.measure: one.score for one in self.measured} | {"exact": self.exact}
        return found if self.perplexity is None else found | {"perplexity": self.perplexity}

    def to_dict(self) -> dict[str, Any]:
        """All of it, with what a comparison says."""
        record = asdict(self)
        for kept, one in zip(record["compared"], self.compared, strict=True):
            kept["is_significant"], kept["is_better"] = one.is_significant, one.is_better
        return record


@dataclass(frozen=True, repr=False)
class LabelEvaluation(Scores):
    """How many labels are right; ``tables`` are by what they list: labels, tags, spans."""

    model: str
    gold: str
    n: dict[str, int]
    shares: dict[str, float]
    tables: dict[str, list[OfLabel]]
    labels: list[str]
    confusion: list[list[int]] = field(default_factory=list)  # rows: what is right

    @property
    def scores(self) -> Mapping[str, float]:
        """Accuracy and F1, of labels and, where there are some, of spans."""
        return {name.lower().replace(" ", "_"): value for name, value in self.shares.items()}


@dataclass(frozen=True, repr=False)
class TextEvaluation(Scores):
    """How well text is predicted: the loss in nats a token that was predicted."""

    shows: ClassVar[tuple[str, ...]] = ("loss", "perplexity")

    n_tokens: int
    loss: float
    bits_per_character: float | None = None  # of a model that writes: whatever its tokens are

    @property
    def perplexity(self) -> float:
        """``exp(loss)``."""
        return math.exp(min(self.loss, 700.0))

    @property
    def scores(self) -> Mapping[str, float]:
        """Loss and perplexity, and bits a character of a model that writes."""
        found = {"loss": self.loss, "perplexity": self.perplexity}
        bits = self.bits_per_character
        return found if bits is None else found | {"bits_per_character": bits}


def read_sides(
    source: Lines | None, target: Lines | None, corpus: str | None, *, needs_sources: bool = True
) -> tuple[list[str], list[str]]:
    """Sources and their references, from files, lists or a corpus."""
    if corpus is not None:
        if source is not None or target is not None:
            raise UsageError("--corpus stands in place of --source and --target: give one of them")
        pairs = list(read_pairs(corpus))
        return [pair.source for pair in pairs], [pair.target for pair in pairs]
    if target is None:
        raise UsageError("references are missing: --target FILE, a line for each sentence")
    if source is None:
        if needs_sources:
            raise UsageError("a model needs something to translate: --source FILE beside --target")
        return [], _lines(target)
    if isinstance(source, str | Path) and isinstance(target, str | Path):
        pairs = list(read_pairs((source, target)))
        return [pair.source for pair in pairs], [pair.target for pair in pairs]
    sources, references = _lines(source), _lines(target)
    if len(sources) != len(references):
        raise UsageError(
            f"there are {len(sources)} sources and {len(references)} references: give one for each"
        )
    return sources, references


def read_answered(path: str | Path, turns: int) -> tuple[list[str], list[str]]:
    """What was said before each turn of conversations, and the turn."""
    pairs = list(read_pairs(parse_spec(path, turns=turns)))
    return [pair.source for pair in pairs], [pair.target for pair in pairs]


def _lines(given: Lines) -> list[str]:
    return list(read_lines(Path(given))) if isinstance(given, str | Path) else list(given)


def judge_outputs(
    name: str,
    outputs: Sequence[str],
    references: Sequence[str],
    *,
    perplexity: tuple[float, int] | None = None,
    measures: Sequence[str] = MEASURES,
    tokenize: str | None = None,
    n_samples: int = 1000,
) -> Evaluation:
    """How near outputs, of whomever, come to their references."""
    measured = measure(outputs, references, measures, tokenize=tokenize, n_samples=n_samples)
    exact = share_equal(outputs, references)
    return Evaluation(name, len(references), measured, exact, *(perplexity or (None, None)))


def perplexity_of(opened: OpenedModel, pairs: Iterable[tuple[Any, str]]) -> tuple[float, int]:
    """``exp`` of the mean loss a token, and how many tokens there are."""
    total, n_tokens = 0.0, 0
    for scored in opened.score(pairs):
        total, n_tokens = total + scored.log_probability, n_tokens + len(scored.tokens)
    return math.exp(min(-total / n_tokens, 700.0)), n_tokens


def evaluate_pairs(
    opened: OpenedModel,
    search: Search,
    source: Lines | None,
    target: Lines | None,
    corpus: str | None,
) -> Evaluation:
    """What a model writes for each source, held against the references."""
    sources, references = read_sides(source, target, corpus)
    outputs = list(opened.outputs(sources, search))
    found = perplexity_of(opened, zip(sources, references, strict=True))
    return judge_outputs(str(opened.loaded.path), outputs, references, perplexity=found)


def evaluate_text(
    opened: OpenedModel, text: str | Path, prepared: type[PreparedTexts], task: Task
) -> TextEvaluation:
    """The loss of a text, as validation measures it."""
    recipe, tokenizer = opened.loaded.recipe, opened.tokenizer
    with TemporaryDirectory(prefix="regard-") as folder:
        read = prepare_text([parse_text(str(text))], Path(folder) / "data", tokenizer)
        held = prepared.hold_out(recipe, TextSpan.of(read), tokenizer)
        if held is None:
            raise UsageError(f"{text} is too short to be measured: give more text")
        loss = held.measure(opened.model, task, decodes=False).loss
        bits = held.bits_per_character(loss)
        return TextEvaluation(len(read.ids), loss, bits)
