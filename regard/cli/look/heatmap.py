"""Weights as a map of colours, with numbers in its cells, as wide as the terminal and no wider."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.cells import cell_len, chop_cells, set_cell_size
from rich.style import Style
from rich.text import Text

from regard.cli.explain.grids import DIM, DOTS, fit, heat, right
from regard.inspection.trace import Label
from regard.shapes import Float

MAX_LABEL = 16
WIDEST, NARROWEST = 13, 4  # of a cell, the space after its number included
HEADER_LINES = 3
MAX_ROWS, MAX_BANDS = 100, 4
NOTHING = "·"  # less than half a percent
POINTED = Style(bold=True)
LARGEST = Style(bold=True, underline=True)


@dataclass(frozen=True)
class Drawn:
    """The lines of a map, and how much of it they leave out."""

    lines: list[Text]
    n_rows_left_out: int = 0
    n_columns_left_out: int = 0


def percent(weight: float) -> str:
    """A share as it stands in a cell."""
    return NOTHING if weight < 0.005 else f"{100 * weight:.0f}"


def shade(weight: float) -> Style:
    """The colour of a share: the root lifts small ones, so that the eye tells 0.1 from 0."""
    return heat(math.sqrt(min(1.0, max(0.0, weight))))


def heat_map(
    values: Float[np.ndarray, "R C"],
    rows: Sequence[Label],
    columns: Sequence[Label],
    width: int,
    *,
    focus: int | None = None,
    marks_largest: bool = False,
) -> Drawn:
    """The map; columns that have no room beside each other follow below, in further bands."""
    shown = list(range(min(len(rows), MAX_ROWS)))
    labels = [fit(rows[i].text, MAX_LABEL) for i in shown]
    left = max(map(cell_len, labels), default=0)
    room = max(NARROWEST, width - left - 1)
    cell = _cell(columns, room)
    in_band = min(max(1, len(columns)), max(1, room // cell))
    bands = [range(a, min(a + in_band, len(columns))) for a in range(0, len(columns), in_band)]
    largest = values.argmax(-1) if marks_largest and values.size else None
    lines: list[Text] = []
    for number, band in enumerate(bands[:MAX_BANDS]):
        lines += [Text()] if number else []
        lines += _header([columns[j] for j in band], left, cell)
        for i, label in zip(shown, labels, strict=True):
            is_pointed = i == focus
            style = POINTED if is_pointed else DIM if rows[i].is_special else Style.null()
            line = Text.assemble((f"{right(label, left)}{'▸' if is_pointed else ' '}", style))
            for j in band:
                weight = float(values[i, j])
                marked = LARGEST if largest is not None and largest[i] == j else Style.null()
                line.append(f"{right(percent(weight), cell - 1)} ", shade(weight) + marked)
            lines.append(line)
    return Drawn(
        lines,
        len(rows) - len(shown),
        sum(len(band) for band in bands[MAX_BANDS:]),
    )


def _cell(columns: Sequence[Label], room: int) -> int:
    """How wide cells are: as their words, or as narrow as must be to stand in one band."""
    words = max((cell_len(label.text) for label in columns), default=0)
    most = max(NARROWEST, min(WIDEST, words + 1))
    for n_bands in (1, MAX_BANDS - 1, MAX_BANDS):
        in_band = math.ceil(len(columns) / n_bands)
        for cell in range(most, NARROWEST - 1, -1):
            if cell * in_band <= room:
                return cell
    return NARROWEST


def _header(columns: Sequence[Label], left: int, cell: int) -> list[Text]:
    """Words above their columns, broken into a few lines, the last of which is the lowest."""
    broken = [_broken(label.text, cell - 1) for label in columns]
    height = max((len(parts) for parts in broken), default=0)
    lines = []
    for k in range(height):
        line = Text(" " * (left + 1))
        for label, parts in zip(columns, broken, strict=True):
            at = k - (height - len(parts))
            part = parts[at] if at >= 0 else ""
            # Broken words stand at the left of their column, whole ones over their numbers.
            placed = right(part, cell - 1) if len(parts) == 1 else set_cell_size(part, cell - 1)
            line.append(f"{placed} ", DIM if label.is_special else Style.null())
        line.rstrip()
        lines.append(line)
    return lines


def _broken(text: str, width: int) -> list[str]:
    parts = chop_cells(fit(text, HEADER_LINES * width), width) if text else [""]
    if len(parts) > HEADER_LINES:  # wide characters may leave a cell empty at the end of a line
        parts = [*parts[: HEADER_LINES - 1], fit(f"{parts[HEADER_LINES - 1]}{DOTS}", width)]
    return parts
