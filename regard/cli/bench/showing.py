"""What `regard bench` shows: progress on stderr, then a table, JSON or a picture of the growth."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from regard.cli.progress import Showing
from regard.cli.terminal import Column, print_table, say
from regard.counting import counted
from regard.errors import UsageError
from regard.inspection.figures import Curve, Plot, curves
from regard.lessons.complexity import (
    Fit,
    Growth,
    MeasuredLayer,
    Report,
    Row,
    Skipped,
    StudyPlan,
    StudyProgress,
)


def print_json(report: Report) -> None:
    """Print every number as one JSON object."""
    print(json.dumps(as_json(report), ensure_ascii=True, allow_nan=False))  # noqa: T201


def as_json(report: Report) -> dict[str, Any]:
    """The report as plain values."""
    plan = report.plan
    return {
        "plan": {
            **{"lengths": plan.lengths, "at_width": plan.width},
            **{"widths": plan.widths, "at_length": plan.length},
            **{"reach": plan.reach, "kernel": plan.kernel, "rounds": plan.rounds},
            "torch": torch.__version__,
        },
        "layers": [_row_as_json(row) for row in report.rows],
        "skipped": [
            {
                "layer": one.point.kind.name,
                "n": one.point.length,
                "d": one.point.width,
                "reason": one.reason,
            }
            for one in report.skipped
        ],
    }


def _row_as_json(row: Row) -> dict[str, Any]:
    kind = row.kind
    return {
        "layer": kind.name,
        "stated": {
            "complexity": kind.complexity,
            "exponents": {"n": kind.exponents[0], "d": kind.exponents[1]},
            "sequential": kind.sequential,
            "path": kind.path,
            "dilated_path": kind.dilated_path or None,
        },
        "time": _growth_as_json(row.time),
        "memory": {"expected": kind.memory, **_growth_as_json(row.memory)},
        "structure": [
            {
                "n": one.length,
                "sequential": one.sequential,
                "path": one.path,
                "dilated_path": one.dilated_path,
                "chain_of_operations": one.chain,
            }
            for one in row.structures
        ],
        "points": [
            {
                "n": one.point.length,
                "d": one.point.width,
                "seconds": one.seconds,
                "kept_bytes": one.memory.kept,
                "peak_bytes": one.memory.peak,
                "rounds": one.n_rounds,
            }
            for one in row.points
        ],
    }


def _growth_as_json(growth: Growth) -> dict[str, Any]:
    return {"n": _fit_as_json(growth.with_length), "d": _fit_as_json(growth.with_width)}


def _fit_as_json(fit: Fit | None) -> dict[str, Any] | None:
    if fit is None:
        return None
    return {
        "exponent": fit.exponent,
        "factor": fit.factor,
        "residual": fit.residual,
        "used": fit.sizes,
    }


class BenchDisplay(Showing):
    """Shows how far a measurement is."""

    def __init__(self, plan: StudyPlan) -> None:
        super().__init__()
        widths = f", d = {_listed(plan.widths)} at n = {plan.length}"
        if len(plan.widths) == 1:
            widths = ""
        self.say(
            f"Measuring {len(plan.kinds)} kinds of layer: n = {_listed(plan.lengths)} at "
            f"d = {plan.width}{widths}; "
            f"{counted(plan.rounds, 'round')}, up to {plan.minutes:g} min, by PyTorch alone."
        )
        self.begin(len(plan.points) * plan.rounds)

    def show(self, progress: StudyProgress) -> None:
        """Show how far it is."""
        last = progress.last
        if isinstance(last, Skipped):
            self.say(f"Left out: {named(last)}: {last.reason}.")
            what = named(last)
        else:
            what = f"{named(last)}: {_seconds(last.seconds)}"
        self.at(progress.n_done, f"{progress.n_done}/{progress.n_all}  {what}", what)


def named(one: MeasuredLayer | Skipped) -> str:
    """Which layer at which size."""
    return f"{one.point.kind.name}, n = {one.point.length}, d = {one.point.width}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def _listed(sizes: tuple[int, ...]) -> str:
    return ", ".join(map(str, sizes))


def print_report(report: Report) -> None:
    """Print the table in two halves, and which points the exponents come from."""
    plan = report.plan
    costs = [
        (
            row.kind.name,
            row.kind.complexity,
            *(_powers(plan, one) for one in (row.time, row.memory)),
        )
        for row in report.rows
    ]
    tables: list[tuple[tuple[str, ...], Sequence[tuple[str, ...]]]] = [
        (("layer", "stated", "time found", "memory found"), costs)
    ]
    if structures := report.rows[0].structures:
        n = structures[-1].length
        heads_ = ("layer", "sequential", f"n = {n}", "longest path", f"n = {n}")
        tables.append((heads_, [_steps_of(row) for row in report.rows]))
    for heads, rows in tables:
        print_table([Column(head) for head in heads], rows)
        say()
    for line in _notes(report):
        say(line, "dim")


def _steps_of(row: Row) -> tuple[str, ...]:
    kind, small = row.kind, row.structures[-1]
    stated, found = kind.path, _steps(small.path)
    if kind.dilated_path:
        stated += f"\n{kind.dilated_path}, dilated"
        found += f"\n{_steps(small.dilated_path)}"
    return kind.name, kind.sequential, str(small.sequential), stated, found


def _powers(plan: StudyPlan, growth: Growth) -> str:
    found = [("n", growth.with_length), ("d", growth.with_width)][: 1 + (len(plan.widths) > 1)]
    return "  ".join(
        f"{letter}^{'?' if fit is None else f'{fit.exponent:.2f}'}" for letter, fit in found
    )


def _steps(path: int | None) -> str:
    return "never" if path is None else str(path)


def _notes(report: Report) -> list[str]:
    """What was measured, where the exponents come from and how well they fit, what is missing."""
    plan = report.plan
    lines = [
        plan.about,
        f"Time and peak memory are those of a forward and a backward pass: n grows at "
        f"d = {plan.width}" + (f", d grows at n = {plan.length}." if len(plan.widths) > 1 else "."),
        "Sizes the exponents come from, and how far the worst lies from the line:",
    ]
    for row in report.rows:
        lines.append(
            f"  {row.kind.name}: time {_fits(plan, row.time)}; memory {_fits(plan, row.memory)} "
            f"(expected {row.kind.memory})"
        )
    lines += [f"Left out: {named(one)}: {one.reason}." for one in report.skipped]
    return lines


def _fits(plan: StudyPlan, growth: Growth) -> str:
    if len(plan.widths) == 1:
        return f"n {_fitted(growth.with_length)}"
    return f"n {_fitted(growth.with_length)}, d {_fitted(growth.with_width)}"


def _fitted(fit: Fit | None) -> str:
    if fit is None:
        return "has too few points"
    return f"{fit.sizes[0]}–{fit.sizes[-1]} ({fit.residual:.0%})"


def draw_growth(report: Report, path: str | Path) -> Path:
    """Draw every measured point, and the fitted line over the points it rests on."""
    plan = report.plan
    if not any(row.points for row in report.rows):
        raise UsageError(
            "nothing was measured, so there is nothing to draw: allow more --minutes or give "
            "smaller --lengths"
        )
    times, memories = [], []
    for row in report.rows:
        points = [one for one in row.points if one.point.width == plan.width]
        seconds = [(one.point.length, 1000 * one.seconds) for one in points]
        times.append(_curve(row, seconds, row.time.with_length, 1000))
        megabytes = [(one.point.length, one.memory.peak / 1e6) for one in points]
        memories.append(_curve(row, megabytes, row.memory.with_length, 1e-6))
    ticks = tuple((float(n), f"{n:,}") for n in plan.lengths)
    x_label = f"length n (width d = {plan.width})"
    plots = [
        Plot(tuple(found), x_label, unit, title, ticks, is_logarithmic=True)
        for found, unit, title in (
            (times, "milliseconds", "Time"),
            (memories, "megabytes", "Peak memory"),
        )
    ]
    return curves(plots, plan.title).save(path)


def _curve(row: Row, points: list[tuple[int, float]], fit: Fit | None, unit: float) -> Curve:
    if fit is None:
        return Curve(row.kind.name, tuple(points))
    line = tuple((size, unit * fit.factor * size**fit.exponent) for size in fit.sizes)
    return Curve(f"{row.kind.name}: n^{fit.exponent:.2f}", tuple(points), line)
