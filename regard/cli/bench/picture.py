"""The picture of a measurement: time and memory over length and width, as straight lines."""

from pathlib import Path
from typing import Any

from regard.errors import UsageError
from regard.inspection.pictures import canvas, checked_path, save
from regard.lessons.complexity import Fit, Report, Row

# Apart for those who do not tell red from green, too (Okabe and Ito 2008).
_COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7")
# Points may lie upon each other: those drawn later are smaller.
_MARKERS = (("o", 7), ("s", 7), ("^", 4.5), ("D", 4.5))


def draw_growth(report: Report, path: str | Path) -> Path:
    """Draw every measured point, and the fitted line over the points it rests on."""
    place = checked_path(path)
    plan = report.plan
    if not any(row.points for row in report.rows):
        raise UsageError(
            "nothing was measured, so there is nothing to draw: allow more --minutes or give "
            "smaller --lengths"
        )
    with canvas(10.0, 4.6) as figure:
        left, right = figure.subplots(1, 2)
        for row, colour, (marker, size) in zip(report.rows, _COLOURS, _MARKERS, strict=True):
            by_length = [one for one in row.points if one.point.width == plan.width]
            if not by_length:
                continue
            lengths = [one.point.length for one in by_length]
            look = {"color": colour, "marker": marker, "markersize": size}
            seconds = [1000 * one.seconds for one in by_length]
            _line(left, lengths, seconds, row.time.with_length, 1000, look, row)
            megabytes = [one.memory.peak / 1e6 for one in by_length]
            _line(right, lengths, megabytes, row.memory.with_length, 1e-6, look, row)
        for axes, title, unit in (
            (left, "Time", "milliseconds"),
            (right, "Peak memory", "megabytes"),
        ):
            axes.set(xscale="log", yscale="log", title=title, ylabel=unit)
            axes.set_xlabel(f"length n (width d = {plan.width})")
            axes.set_xticks(plan.lengths, [f"{n:,}" for n in plan.lengths])
            axes.minorticks_off()
            axes.tick_params(axis="x", rotation=45)
            axes.grid(color="#dddddd", linewidth=0.6)
            axes.legend(frameon=False, fontsize=8)
        figure.suptitle(
            f"A forward and a backward pass of one layer (k = {plan.kernel}, r = {plan.reach})",
            x=0.01,
            ha="left",
            fontsize=13,
            fontweight="bold",
        )
        return save(figure, place)


def _line(
    axes: Any,
    sizes: list[int],
    values: list[float],
    fit: Fit | None,
    unit: float,
    look: dict[str, Any],
    row: Row,
) -> None:
    label = row.kind.name if fit is None else f"{row.kind.name}: $n^{{{fit.exponent:.2f}}}$"
    axes.plot(sizes, values, linewidth=0.6, alpha=0.4, color=look["color"])
    axes.plot(sizes, values, linestyle="none", label=label, **look)
    if fit is not None:
        line = [unit * fit.factor * size**fit.exponent for size in fit.sizes]
        axes.plot(fit.sizes, line, color=look["color"], linewidth=1.5)
