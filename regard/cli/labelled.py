"""What `regard classify` and `regard tag` share: lines to read, and how good a model is."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.evaluation import OfLabel
    from regard.systems.evaluation import LabelEvaluation

_MOST_SHOWN = 20  # labels of a confusion matrix that is printed

Gold = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Examples with the right labels (a file as for training, or a corpus): say how good "
        "the model is.",
    ),
]


def refuse_both(text: list[str] | None) -> None:
    """A file of right labels brings its own texts."""
    if text:
        raise UsageError("--gold FILE brings its own texts: leave the others out")


def bursts(text: list[str] | None) -> Iterator[list[str]]:
    """The texts given, or lines of standard input as they arrive; empty ones say nothing."""
    from regard.cli.arriving import lines_of_stdin

    if text:
        yield text
        return
    for burst in lines_of_stdin():
        if lines := [line for line in burst if line.strip()]:
            yield lines


def show(report: "LabelEvaluation", *, is_json: bool) -> None:
    """Print the report."""
    if is_json:
        typer.echo(json.dumps(_record(report), ensure_ascii=False, indent=2))
        return
    counts = ", ".join(f"{n:,} {what}" for what, n in report.n.items())
    typer.echo(f"{report.model} on {report.gold}: {counts}\n")
    _print_table(
        ("", ""), [(name, f"{100 * value:7.2f} %") for name, value in report.shares.items()]
    )
    for what, found in report.tables.items():
        typer.echo("")
        rows = [(one.label, *_numbers(one)) for one in found]
        _print_table((what, "precision", "recall", "F1", "gold", "given"), rows)
    typer.echo("")
    if len(report.labels) > _MOST_SHOWN:
        typer.echo(f"Who is taken for whom: --json has the {len(report.labels)} by as many counts.")
        return
    typer.echo("Who is taken for whom: rows are right, columns were given.")
    rows = [
        (label, *map(str, row)) for label, row in zip(report.labels, report.confusion, strict=True)
    ]
    _print_table(("", *report.labels), rows)


def _numbers(one: "OfLabel") -> tuple[str, ...]:
    shares = (one.precision, one.recall, one.f1)
    return (*(f"{100 * share:.1f}" for share in shares), f"{one.n_gold:,}", f"{one.n_given:,}")


def _print_table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    from regard.cli.terminal import Column, print_table

    columns = [Column(head[0]), *(Column(name, "right") for name in head[1:])]
    print_table(columns, rows)


def _record(report: "LabelEvaluation") -> dict[str, Any]:
    tables = {
        what: [
            {
                "label": one.label,
                "precision": one.precision,
                "recall": one.recall,
                "f1": one.f1,
                "gold": one.n_gold,
                "given": one.n_given,
            }
            for one in found
        ]
        for what, found in report.tables.items()
    }
    return {
        "model": report.model,
        "gold": report.gold,
        **{f"n_{what}": n for what, n in report.n.items()},
        **report.scores,
        "by": tables,
        "labels": report.labels,
        "confusion": report.confusion,
    }
