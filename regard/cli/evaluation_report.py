"""What `regard evaluate` says: a table to read, or JSON."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from regard.counting import counted
from regard.evaluation import Compared, Measured, distinct, most_frequent
from regard.text.words import split

NAMES = {"bleu": "BLEU", "chrf": "chrF", "ter": "TER"}


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


@dataclass(frozen=True)
class Report:
    """All that was measured."""

    system: str
    n_sentences: int
    measured: list[Measured]
    exact: float
    perplexity: float | None = None
    n_tokens: int | None = None
    baseline: str | None = None
    compared: list[Compared] = field(default_factory=list)
    diversity: Diversity | None = None  # of answers


def show(report: Report, *, is_json: bool) -> None:
    """Print the report."""
    if is_json:
        typer.echo(json.dumps(_record(report), ensure_ascii=False, indent=2))
        return
    width = None if Console().is_terminal else 1000
    console = Console(highlight=False, markup=False, emoji=False, width=width)
    systems = (
        report.system if report.baseline is None else f"{report.system} against {report.baseline}"
    )
    is_wide = not console.is_terminal
    console.print(
        Text(f"{systems}: {counted(report.n_sentences, 'sentence')}\n"), soft_wrap=is_wide
    )
    with console.capture() as captured:
        console.print(_table(report))
    for line in captured.get().splitlines():
        typer.echo(line.rstrip())
    for line in ["", *_notes(report)]:
        console.print(Text(line), soft_wrap=is_wide)


def _table(report: Report) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("measure", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("95 %", no_wrap=True)
    if report.compared:
        table.add_column("against", justify="right", no_wrap=True)
        table.add_column("difference", justify="right", no_wrap=True)
        table.add_column("p", justify="right", no_wrap=True)
        table.add_column("", no_wrap=True)
    others = {one.measure: one for one in report.compared}
    for one in report.measured:
        cells = [NAMES[one.measure], f"{one.score:.2f}", f"{one.mean:.2f} ± {one.margin:.2f}"]
        table.add_row(*cells, *_compared(others.get(one.measure)))
    table.add_row("exact match", f"{100 * report.exact:.1f} %", "")
    if report.perplexity is not None:
        table.add_row("perplexity", f"{report.perplexity:.3f}", "")
    if report.diversity is not None:
        table.add_row("distinct-1", f"{100 * report.diversity.distinct_1:.2f} %", "")
        table.add_row("distinct-2", f"{100 * report.diversity.distinct_2:.2f} %", "")
    return table


def _notes(report: Report) -> list[str]:
    notes = []
    if report.diversity is not None:
        share, answer = report.diversity.most_frequent_share, report.diversity.most_frequent
        notes.append(f"The most frequent answer, {100 * share:.1f} % of all: {answer}")
    if any(one.measure == "ter" for one in report.measured):
        notes.append("TER counts edits: lower is better.")
    if report.n_tokens is not None:
        notes.append(
            "Perplexity per piece of the model's own vocabulary: "
            f"{counted(report.n_tokens, 'piece')}."
        )
    return [*notes, *(f"{NAMES[one.measure]}  {one.signature}" for one in report.measured)]


def _record(report: Report) -> dict[str, Any]:
    record = asdict(report)
    for kept, one in zip(record["compared"], report.compared, strict=True):
        kept["is_significant"], kept["is_better"] = one.is_significant, one.is_better
    return record


def _compared(one: Compared | None) -> list[str]:
    if one is None:
        return []
    verdict = "not significant"
    if one.is_significant:
        verdict = "better" if one.is_better else "worse"
    difference = one.score - one.baseline
    return [f"{one.baseline:.2f}", f"{difference:+.2f}", f"{one.p:.4f}", verdict]
