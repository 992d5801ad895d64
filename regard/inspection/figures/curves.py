"""Curves over numbers, and the encoding of places whose columns are waves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.errors import UsageError
from regard.inspection.figures.canvas import BODY, HEADING, MARGIN, SMALL, Canvas, Number
from regard.inspection.figures.drawing import DrawnFigure, head_colour, styled
from regard.inspection.figures.heat import scale_end
from regard.inspection.figures.view import View
from regard.inspection.trace import Trace
from regard.shapes import Float

_WIDTH, _HEIGHT, _WAVES = 620.0, 340.0, 110.0
# Points may lie upon each other: those drawn later are smaller.
_MARKERS = (("o", 7.0), ("s", 6.5), ("^", 5.5), ("D", 4.5), ("v", 5.5), ("P", 5.5), ("X", 5.0))


_IN_A_ROW = 3


@dataclass(frozen=True)
class Curve:
    """A named line through points (x, y), or points beside the line that was fitted to them."""

    name: str
    points: tuple[tuple[Number, Number], ...]
    fit: tuple[tuple[Number, Number], ...] = ()


@dataclass(frozen=True)
class Plot:
    """Curves over one axis; ``ticks`` are places with their names."""

    curves: tuple[Curve, ...]
    x_label: str
    y_label: str
    title: str = ""
    ticks: tuple[tuple[Number, str], ...] = ()
    is_logarithmic: bool = False


def curves(plots: Sequence[Plot], title: str, theme: str = "light") -> DrawnFigure:
    """Plots, three in a row; the first curve of each has the same colour, and so on."""
    with styled(theme) as colours:
        from matplotlib.figure import Figure

        n = len(plots)
        n_rows, n_columns = -(-n // _IN_A_ROW), min(n, _IN_A_ROW)
        figure = Figure(figsize=(7.2 if n == 1 else 5.2 * n_columns, 4.5 * n_rows))
        places = figure.subplots(n_rows, n_columns, squeeze=False).flat
        for axes in places[n:]:
            axes.set_axis_off()
        for axes, plot in zip(places, plots, strict=False):
            _plot(axes, plot, colours)
            place = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if n == 1 else {}
            axes.legend(frameon=False, **place)
        width, height = figure.get_size_inches()
        pad = MARGIN / 96  # inches
        room: dict[str, Any] = {"w_pad": pad, "h_pad": pad, "rect": (0, 0, 1, 1 - 0.25 / height)}
        figure.set_layout_engine("constrained", **room)
        how: dict[str, Any] = {"ha": "left", "va": "top", "size": 12.5, "weight": "bold"}
        figure.text(pad / width, 1 - pad / height, title, **how)
    return DrawnFigure(figure, title, theme)


def _plot(axes: Any, plot: Plot, colours: dict[str, str]) -> None:
    for i, curve in enumerate(one for one in plot.curves if one.points):
        marker, size = _MARKERS[i % len(_MARKERS)]
        colour = colours[head_colour(i)]
        if curve.fit:
            axes.plot(*zip(*curve.fit, strict=True), color=colour, linewidth=1.5)
        how = {"linestyle": "none" if curve.fit else "-", "marker": marker, "markersize": size}
        axes.plot(*zip(*curve.points, strict=True), label=curve.name, color=colour, **how)
    scale = "log" if plot.is_logarithmic else "linear"
    axes.set(xlabel=plot.x_label, ylabel=plot.y_label, xscale=scale, yscale=scale)
    axes.set_title(plot.title, fontsize=10, fontweight="bold")
    if plot.is_logarithmic:
        axes.yaxis.set_major_formatter("{x:g}")
    if plot.ticks:
        axes.set_xticks([at for at, _ in plot.ticks], [name for _, name in plot.ticks])
    axes.minorticks_off()
    axes.tick_params(length=0)
    axes.grid(axis="both" if plot.is_logarithmic else "y", color=colours["line"], linewidth=0.8)
    axes.set_axisbelow(True)


def positions(
    encoding: Float[np.ndarray, "L D"], words: Sequence[str] = (), title: str = "",
    theme: str = "light",
) -> DrawnFigure:  # fmt: skip
    """A vector for every place as a row of shades, and four of its columns as waves."""
    n_places, width = encoding.shape
    canvas = Canvas(theme)
    canvas.heading(
        title or f"Position encoding: {n_places} places, {width} numbers each",
        "every row is added to the word at that place · columns are waves, ever slower",
    )
    names = [f"{words[i]}  {i}" if i < len(words) else str(i) for i in range(n_places)]
    row = min(24.0, _HEIGHT / n_places)
    every = max(1, int(np.ceil(14 / row)))
    shown = range(0, n_places, every)
    left = MARGIN + max(Canvas.text_width(names[i], SMALL) for i in shown) + 8
    top, height = HEADING + 26, max(40.0, row * n_places)
    high = scale_end(np.abs(encoding))
    canvas.heat(left, top, _WIDTH, height, encoding, low=-high, high=high, name="signed")
    for i in shown:
        canvas.text(left - 8, top + (i + 0.5) * height / n_places, names[i], SMALL, "soft", "end")
    for j in range(0, width, max(1, width // 8)):
        canvas.text(left + (j + 0.5) * _WIDTH / width, top - 10, str(j), SMALL, "soft", "middle")
    canvas.scale(left, top + height + 20, high, low=-high, name="signed")
    if n_places > 1:
        _waves(canvas, encoding, left, top + height + 76, high)
    return canvas.finished()


def draw_positions(trace: Trace, view: View) -> DrawnFigure:
    """What the model adds to the word at each place."""
    if trace.positions is None:
        raise UsageError(
            f"{trace.provenance.model} adds nothing for the place of a word: the positions view is "
            "for Transformers and convolutions"
        )
    text, tokens = trace.read(trace.way.reads[0])
    words = [label.text for label in text.labels(tokens, merges=False)]
    return positions(trace.positions, words, theme=view.theme)


def _waves(
    canvas: Canvas, encoding: Float[np.ndarray, "L D"], left: float, top: float, high: float
) -> None:
    """Four columns as curves over the places."""
    n_places, width = encoding.shape
    columns = sorted({min(width - 1, c) for c in (0, width // 8, width // 4, width // 2)})
    middle, half = top + _WAVES / 2, _WAVES / 2
    canvas.text(left, top - 20, "columns over places", BODY - 1, is_bold=True)
    for value in (high, 0.0, -high):
        y = middle - half * value / high
        canvas.curves([[(left, y), (left + _WIDTH, y)]], "line")
        canvas.text(left - 8, y, f"{value:g}", SMALL, "soft", "end")
    xs = left + np.arange(n_places) * _WIDTH / max(1, n_places - 1)
    key = left + Canvas.text_width("columns over places", BODY - 1, is_bold=True) + 24
    for order, column in enumerate(columns):
        ys = middle - half * encoding[:, column].astype(np.float64) / high
        canvas.curves(np.stack([xs, ys], -1)[None], f"head{order}", 1.8)
        canvas.curves([[(key, top - 20), (key + 18, top - 20)]], f"head{order}", 2.5)
        canvas.text(key + 24, top - 20, str(column), SMALL, "soft")
        key += 46 + Canvas.text_width(str(column), SMALL)
    canvas.reach(left + _WIDTH, top + _WAVES + 4)
    for x, i in ((left, 0), (left + _WIDTH, n_places - 1)):
        canvas.text(x, top + _WAVES + 14, str(i), SMALL, "soft", "middle")
