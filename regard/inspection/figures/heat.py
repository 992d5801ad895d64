"""Matrices of shades: one head, every head at a glance, an alignment, any table of numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from regard.errors import UsageError
from regard.inspection.figures.canvas import HEADING, MARGIN, SMALL, Box, Canvas
from regard.inspection.figures.drawing import DrawnFigure
from regard.inspection.figures.view import View, check_across, mean_of, named
from regard.inspection.looking import Looking, Place
from regard.inspection.trace import Label, Trace
from regard.shapes import Bool, Float

_LARGEST, _SMALLEST, _SPAN = 32.0, 0.5, 1000.0  # a cell's side; what a long side is squeezed into
_LABEL, _LEAST_LABEL, _LONGEST_LABEL = 13.0, 9.0, 150.0
_READABLE, _MOST_NUMBERS = 24.0, 1_200  # cells this large hold their number
_TURN = 55.0
_MOST_DOTS = 2_000  # along a side of a matrix
_SMALL_DOTS = 264  # and of a small one
_LONG, _SHORT, _APART = 132.0, 44.0, 14.0  # sides of a small matrix
_MANY = 2_500  # cells
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_HATCH = "////"


@dataclass(frozen=True, eq=False)
class Matrix:
    """Numbers between labelled rows and columns, and what their shades mean."""

    values: Float[np.ndarray, "R C"]
    rows: tuple[Label, ...]
    columns: tuple[Label, ...]
    hidden: Bool[np.ndarray, "R C"] | None = None  # cells that have no number
    why: str = "comes later: cannot be seen"  # what hatching means
    high: float = 1.0  # where the scale ends
    is_signed: bool = False
    meaning: str = ""

    @property
    def scale(self) -> dict[str, Any]:
        """How its shades are drawn."""
        low, name = (-self.high, "signed") if self.is_signed else (0.0, "weights")
        return {"low": low, "high": self.high, "name": name}


def draw_matrix(trace: Trace, view: View) -> DrawnFigure:
    """The mean of the chosen heads, darker where a row looks more."""
    found = view.table(trace)
    canvas = Canvas(view.theme)
    below = f"{mean_of(found, trace)} · rows: {found.row_meaning} · columns: looks at"
    canvas.heading(named(found), below)
    focus = None if view.word is None else found.row(view.word)
    high = scale_end(found.mean)
    matrix = Matrix(found.mean, found.rows, found.columns, found.is_hidden, high=high)
    return _labelled(canvas, matrix, focus=focus)


def draw_alignment(trace: Trace, view: View) -> DrawnFigure:
    """Target words over source words, in the layer that aligns best; the largest are outlined.

    <EOS> is left out and what remains of a row sums to one again, as ``Translator.align`` does.
    """
    check_across(trace, "alignment")
    view = replace(view, site="cross", hides_special=True)
    heads = view.table(trace)
    found = replace(heads, weights=heads.mean[None]).made_whole()
    canvas = Canvas(view.theme)
    canvas.heading(
        "Which source word each word looked at",
        f"decoder layer {found.layer}, {mean_of(heads, trace)} · rows: "
        f"{found.row_meaning} · columns: source",
    )
    matrix = Matrix(found.mean, found.rows, found.columns)
    largest = list(enumerate(found.mean.argmax(-1).tolist())) if found.mean.size else []
    return _labelled(canvas, matrix, largest, "largest of the row")


def alignment(looking: Looking, title: str = "", theme: str = "light") -> DrawnFigure:
    """Who looks at whom among words, those that belong together outlined."""
    canvas = Canvas(theme)
    canvas.heading(title or "Who looks at whom", "rows look at columns")
    values = np.array(looking.weights, np.float32).reshape(len(looking.rows), len(looking.columns))
    matrix = Matrix(values, labels(looking.rows), labels(looking.columns))
    return _labelled(canvas, matrix, looking.truth, "belong together")


def table(
    values: Float[np.ndarray, "R C"], rows: Sequence[str], columns: Sequence[str], title: str, *,
    below: str = "", marked: Sequence[Place] = (), mark: str = "marked", meaning: str = "",
    theme: str = "light",
) -> DrawnFigure:  # fmt: skip
    """A labelled matrix of any numbers, some cells outlined: heads over relations, for example.

    Where some are negative the shades go both ways from zero. What is not a number is hatched.
    """
    found = np.asarray(values, np.float64)
    if found.shape != (len(rows), len(columns)) or not found.size:
        raise UsageError(
            f"a table of {len(rows)} rows and {len(columns)} columns cannot show an array of shape "
            f"{found.shape}: give a name for every row and column"
        )
    hidden = ~np.isfinite(found)
    known = np.where(hidden, 0.0, found)
    canvas = Canvas(theme)
    canvas.heading(title, below or f"{len(rows)} rows, {len(columns)} columns")
    matrix = Matrix(
        known, labels(rows), labels(columns), hidden, "not measured", scale_end(np.abs(known)),
        is_signed=bool((known < 0).any()), meaning=meaning,
    )  # fmt: skip
    return _labelled(canvas, matrix, marked, mark)


def draw_grid(trace: Trace, view: View) -> DrawnFigure:
    """Layers downwards, heads to the right; outlined are heads that prefer nothing."""
    kind = view.kind(trace)
    layers = trace.layers(kind)
    if view.layer is not None or not layers:
        layers = (trace.site(kind, view.layer or 0).layer,)
    tables = [replace(view, site=kind, layer=layer).table(trace) for layer in layers]
    first = max(tables, key=lambda one: len(one.heads))
    canvas = Canvas(view.theme)
    canvas.heading(
        f"{named(first).partition(',')[0]}, every head",
        f"{len(first.rows)} rows: {first.row_meaning} · {len(first.columns)} columns: looks at",
    )
    sides = len(first.columns), len(first.rows)
    width, height = (max(_SHORT, _LONG * side / max(*sides, 1)) for side in sides)
    left = MARGIN + Canvas.widest([f"layer {one.layer}" for one in tables], SMALL) + 10
    top = HEADING + 34
    every = np.concatenate([one.weights.ravel() for one in tables])
    high = scale_end(every)
    outlines: dict[bool, list[Box]] = {False: [], True: []}
    for place, head in enumerate(first.heads):
        x = left + place * (width + _APART) + width / 2
        canvas.text(x, top - 12, f"head {head}", SMALL, "soft", "middle")
    for down, one in enumerate(tables):
        y, site = top + down * (height + _APART), trace.site(one.kind, one.layer)
        canvas.text(left - 10, y + height / 2, f"layer {one.layer}", SMALL, "soft", "end")
        for place, head in enumerate(one.heads):
            x = left + place * (width + _APART)
            values = pooled(one.weights[place], _SMALL_DOTS)
            canvas.heat(x, y, width, height, values, high=high, most_shapes=0)
            hatch_cells(canvas, one.is_hidden, (x, y, width, height))
            outlines[site.is_uniform[head]].append((x - 0.5, y - 0.5, width + 1, height + 1))
    canvas.boxes(outlines[False], stroke="line")
    canvas.boxes(outlines[True], stroke="mark", width=1.5)
    largest = np.stack([one.weights.max(0) for one in tables]).max(0)
    matrix = Matrix(largest, first.rows, first.columns, first.is_hidden, high=high)
    mark = "almost the same weight everywhere" if outlines[True] else ""
    _legend(canvas, matrix, left, canvas.bottom + 20, mark)
    return canvas.finished()


def _labelled(
    canvas: Canvas, matrix: Matrix, marked: Sequence[Place] = (), mark: str = "",
    focus: int | None = None,
) -> DrawnFigure:  # fmt: skip
    """The cells with their labels; long sentences have small cells, and few or no labels."""
    n_rows, n_columns = matrix.values.shape
    cell = max(_SMALLEST, min(_LARGEST, _SPAN / max(n_rows, n_columns, 1)))
    size = min(_LABEL, max(7.0, 0.8 * cell))
    every = max(1, int(np.ceil((size + 1.5) / cell)))
    texts = [
        [canvas.shortened(label.text, _LONGEST_LABEL, size, is_bold=True) for label in side]
        for side in (matrix.rows[::every], matrix.columns[::every])
    ]
    room, wide = every * cell - 2, Canvas.widest(texts[1], size)
    is_turned = size * room / max(wide, 1.0) < _LEAST_LABEL  # else they stand, smaller if need be
    column_size = size if is_turned else size * min(1.0, room / max(wide, 1.0))
    rise = wide * np.sin(np.radians(_TURN)) + size - 4 if is_turned else size
    left = MARGIN + Canvas.widest(texts[0], size, is_bold=focus is not None) + 8
    top = HEADING + 20 + rise
    box = (left, top, cell * n_columns, cell * n_rows)
    for i, text in enumerate(texts[0]):
        colour = "soft" if matrix.rows[i * every].is_special else "ink"
        at, is_bold = top + (i * every + 0.5) * cell, i * every == focus
        canvas.text(left - 8, at, text, size, colour, "end", is_bold=is_bold)
    for j, text in enumerate(texts[1]):
        at = left + (j * every + 0.5) * cell
        colour = "soft" if matrix.columns[j * every].is_special else "ink"
        if is_turned:
            canvas.text(at, top - 8, text, size, colour, turned=_TURN)
        else:
            canvas.text(at, top - size, text, column_size, colour, "middle")
    _cells(canvas, matrix, box, cell, marked)
    if focus is not None:
        row = (left, top + focus * cell, box[2], max(cell, 2.0))
        canvas.boxes([row], stroke="mark", width=1.5)
    _legend(canvas, matrix, left, top + box[3] + 20, mark if marked else "")
    return canvas.finished()


def _cells(canvas: Canvas, matrix: Matrix, box: Box, cell: float, marked: Sequence[Place]) -> None:
    """Shades, hatching, lines between cells, numbers in them and outlines, as far as they fit."""
    left, top, width, height = box
    n_rows, n_columns = matrix.values.shape
    canvas.heat(*box, pooled(matrix.values, _MOST_DOTS), **matrix.scale)
    if matrix.hidden is not None:
        hatch_cells(canvas, matrix.hidden, box)
    if cell >= 6:
        ys, xs = top + cell * np.arange(1, n_rows), left + cell * np.arange(1, n_columns)
        across = [[(left, y), (left + width, y)] for y in ys]
        down = [[(x, top), (x, top + height)] for x in xs]
        canvas.curves(across + down, "ground", 1.5 if cell >= 16 else 0.5)
        boxes = [(left + j * cell + 1, top + i * cell + 1, cell - 2, cell - 2) for i, j in marked]
        canvas.boxes(boxes, stroke="mark", width=1.8, radius=2)
    if cell < _READABLE or matrix.values.size > _MOST_NUMBERS:
        return
    for i, j in np.argwhere(np.abs(matrix.values) >= 0.05 * matrix.high).tolist():
        value = float(matrix.values[i, j])
        said = str(round(100 * value)) if matrix.high <= 1 else f"{value:.3g}"
        is_deep = abs(value) >= (0.7 if matrix.is_signed else 0.5) * matrix.high
        size = 0.34 * cell * min(1.0, (cell - 4) / canvas.text_width(said, 0.34 * cell))
        x, y = left + (j + 0.5) * cell, top + (i + 0.5) * cell
        canvas.text(x, y, said, size, "pale" if is_deep else "ink", "middle")


def hatch_cells(canvas: Canvas, hidden: Bool[np.ndarray, "R C"], box: Box) -> None:
    """Hatch the cells that cannot be seen, a run of a row at a time."""
    if not hidden.any():
        return
    width, height = box[2] / hidden.shape[1], box[3] / hidden.shape[0]
    places = []
    for i in np.flatnonzero(hidden.any(1)).tolist():
        edges = np.flatnonzero(np.diff(hidden[i], prepend=False, append=False)).tolist()
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            x, y = box[0] + start * width, box[1] + i * height
            places.append((x, y, (end - start) * width, height))
    canvas.boxes(places, fill="ground")
    canvas.boxes(places, stroke="faint", hatch=_HATCH)


def _legend(canvas: Canvas, matrix: Matrix, x: float, y: float, mark: str) -> None:
    """What shades, hatching and outlines mean, in one line below."""
    is_open = bool((np.abs(matrix.values) > matrix.high).any())
    x = canvas.scale(x, y, **matrix.scale, meaning=matrix.meaning, is_open=is_open)
    if matrix.hidden is not None and matrix.hidden.any():
        box = (x + 22, y - 6, 12, 12)
        canvas.boxes([box], stroke="faint", hatch=_HATCH)
        canvas.boxes([box], stroke="faint")
        canvas.text(x + 40, y, matrix.why, SMALL, "soft")
        x += 40 + Canvas.text_width(matrix.why, SMALL)
    if mark:
        canvas.boxes([(x + 22, y - 5, 10, 10)], stroke="mark", width=1.8, radius=1)
        canvas.text(x + 38, y, mark, SMALL, "soft")


def pooled(values: Float[np.ndarray, "R C"], most: int) -> Float[np.ndarray, "r c"]:
    """The largest of each block, so that a thin diagonal of a long sentence is still seen."""
    for axis, n in enumerate(values.shape):
        if n > most:
            values = np.maximum.reduceat(values, np.arange(0, n, -(-n // most)), axis=axis)
    return values


def scale_end(values: np.ndarray) -> float:
    """Where the scale ends: at one, or at the next round number above what is there.

    Of many cells the few largest may lie beyond it, lest all others be pale.
    """
    largest = float(values.max()) if values.size else 1.0
    if values.size > _MANY:
        largest = float(np.quantile(values, 0.998)) or largest
    if largest > 1:
        tens = 10.0 ** np.floor(np.log10(largest))
        return float(tens * np.ceil(largest / tens))
    return next(step for step in _STEPS if step >= largest) if largest > 0 else 1.0


def labels(names: Sequence[str]) -> tuple[Label, ...]:
    """Names of rows or columns that stand for nothing else."""
    return tuple(Label(name, (i,)) for i, name in enumerate(names))
