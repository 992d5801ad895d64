"""The table as it is printed: stated and found side by side, and what the figures rest on."""

import sys

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from regard.cli.bench.display import named
from regard.lessons.complexity import Fit, Growth, Report, Row

WIDTH_OF_A_PIPE = 120


def print_table(report: Report) -> None:
    """Print the table in two halves, and which points the exponents come from."""
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = WIDTH_OF_A_PIPE
    n = report.rows[0].structures[-1].length
    costs = _table("layer", "stated", "time found", "memory found")
    paths = _table("layer", "sequential", f"n = {n}", "longest path", f"n = {n}")
    for row in report.rows:
        costs.add_row(row.kind.name, row.kind.complexity, _powers(row.time), _powers(row.memory))
        paths.add_row(*_steps_of(row))
    console.print(costs)
    console.print(paths)
    for line in _notes(report):
        console.print(Text(line, "dim"), soft_wrap=not console.is_terminal)


def _table(*heads: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in heads:
        table.add_column(head, no_wrap=True)
    return table


def _steps_of(row: Row) -> tuple[str, ...]:
    kind, small = row.kind, row.structures[-1]
    stated, found = kind.path, _steps(small.path)
    if kind.dilated_path:
        stated += f"\n{kind.dilated_path}, dilated"
        found += f"\n{_steps(small.dilated_path)}"
    return kind.name, kind.sequential, str(small.sequential), stated, found


def _powers(growth: Growth) -> str:
    return "  ".join(
        f"{letter}^{'?' if fit is None else f'{fit.exponent:.2f}'}"
        for letter, fit in (("n", growth.with_length), ("d", growth.with_width))
    )


def _steps(path: int | None) -> str:
    return "never" if path is None else str(path)


def _notes(report: Report) -> list[str]:
    """What was measured, where the exponents come from and how well they fit, what is missing."""
    plan = report.plan
    lines = [
        f"n: length, d: width, r = {plan.reach}: reach of the window, k = {plan.kernel}: kernel.",
        f"Time and peak memory are those of a forward and a backward pass: n grows at "
        f"d = {plan.width}, d grows at n = {plan.length}.",
        "Sizes the exponents come from, and how far the worst lies from the line:",
    ]
    for row in report.rows:
        lines.append(
            f"  {row.kind.name}: time {_fits(row.time)}; memory {_fits(row.memory)} "
            f"(expected {row.kind.memory})"
        )
    lines += [f"Left out: {named(one)}: {one.reason}." for one in report.skipped]
    return lines


def _fits(growth: Growth) -> str:
    return f"n {_fitted(growth.with_length)}, d {_fitted(growth.with_width)}"


def _fitted(fit: Fit | None) -> str:
    if fit is None:
        return "has too few points"
    return f"{fit.sizes[0]}–{fit.sizes[-1]} ({fit.residual:.0%})"
