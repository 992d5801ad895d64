"""What `regard evaluate` says: a table to read, or JSON."""

import json

import typer

from regard.cli.terminal import Column, print_table, say
from regard.counting import counted
from regard.evaluation import Compared
from regard.systems.evaluation import Evaluation, ScoreTable

NAMES = {"bleu": "BLEU", "chrf": "chrF", "ter": "TER"}


def show(report: Evaluation, *, is_json: bool) -> None:
    """Print the report."""
    if is_json:
        typer.echo(json.dumps(report.to_dict(), ensure_ascii=False, indent=2))
        return
    systems = (
        report.system if report.baseline is None else f"{report.system} against {report.baseline}"
    )
    say(f"{systems}: {counted(report.n_sentences, 'sentence')}")
    say()
    print_table(_columns(report), _rows(report), gap=3)
    say()
    for note in _notes(report):
        say(note)


def show_table(found: ScoreTable) -> None:
    """Print rows to compare."""
    say(found.title)
    say()
    first, *others = found.heads
    print_table([Column(first), *(Column(head, "right") for head in others)], found.rows)
    for note in ("", *found.notes) if found.notes else ():
        say(note)


def _columns(report: Evaluation) -> list[Column]:
    whole = [Column("measure", least=11), Column("score", "right"), Column("95 %", least=14)]
    if report.compared:
        whole += [Column(head, "right") for head in ("against", "difference", "p")]
        whole.append(Column())
    return whole


def _rows(report: Evaluation) -> list[list[str]]:
    others = {one.measure: one for one in report.compared}
    rows = [
        [
            NAMES[one.measure],
            f"{one.score:.2f}",
            f"{one.mean:.2f} ± {one.margin:.2f}",
            *_compared(others.get(one.measure)),
        ]
        for one in report.measured
    ]
    rows.append(["exact match", f"{100 * report.exact:.1f} %"])
    if report.perplexity is not None:
        rows.append(["perplexity", f"{report.perplexity:.3f}"])
    if report.diversity is not None:
        rows.append(["distinct-1", f"{100 * report.diversity.distinct_1:.2f} %"])
        rows.append(["distinct-2", f"{100 * report.diversity.distinct_2:.2f} %"])
    return rows


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
