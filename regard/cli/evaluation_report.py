"""What `regard evaluate` says: a table to read, or JSON."""

import json

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from regard.counting import counted
from regard.evaluation import Compared
from regard.systems.evaluation import Evaluation

NAMES = {"bleu": "BLEU", "chrf": "chrF", "ter": "TER"}


def show(report: Evaluation, *, is_json: bool) -> None:
    """Print the report."""
    if is_json:
        typer.echo(json.dumps(report.to_dict(), ensure_ascii=False, indent=2))
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


def _table(report: Evaluation) -> Table:
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


def _notes(report: Evaluation) -> list[str]:
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


def _compared(one: Compared | None) -> list[str]:
    if one is None:
        return []
    verdict = "not significant"
    if one.is_significant:
        verdict = "better" if one.is_better else "worse"
    difference = one.score - one.baseline
    return [f"{one.baseline:.2f}", f"{difference:+.2f}", f"{one.p:.4f}", verdict]
