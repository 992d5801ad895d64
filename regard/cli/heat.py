"""The heat map of the terminal: numbers between labelled rows and columns, brighter for more."""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from rich.cells import chop_cells, set_cell_size
from rich.color import Color
from rich.style import Style
from rich.text import Text

from regard.cli.terminal import DIM, DOTS, Column, clean, cut, table
from regard.text.tokens import Label

MAX_LABEL, HEAD_LINES = 16, 3
WIDEST = 13  # of a cell, the blank after its number included
MAX_ROWS, MAX_BANDS = 100, 4
NOTHING = "·"  # less than half a percent
POINTED = Style(bold=True)
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_Colour = tuple[int, int, int]

# Near zero a cell is almost black, so that on a dark terminal it fades into the ground.
_GROUND: _Colour = (22, 24, 30)
_WARM: tuple[_Colour, ...] = (_GROUND, (112, 42, 32), (217, 104, 44), (255, 214, 128))
_COLD: tuple[_Colour, ...] = (_GROUND, (28, 58, 110), (60, 128, 200), (176, 222, 255))


@dataclass(frozen=True)
class HeatMap:
    """The lines of a map, and how much of it they leave out."""

    lines: list[Text]
    n_rows_left_out: int = 0
    n_columns_left_out: int = 0


def heat_map(
    cell: Callable[[int, int], Text],
    rows: Sequence[Label],
    columns: Sequence[Label],
    width: int,
    *,
    number: int = 3,
    focus: int | None = None,
    most: tuple[int, int | None] = (MAX_ROWS, None),
    max_bands: int = MAX_BANDS,
) -> HeatMap:
    """A map of cells, none of whose numbers is wider than ``number``.

    Columns that have no room beside each other follow below, in further bands; of more rows and
    columns than ``most``, or than there is room for, those before the last are left out.
    """
    places = kept(len(rows), most[0], focus)
    labels = [
        Text(DOTS, DIM) if i is None else row_label(rows[i], is_pointed=i == focus) for i in places
    ]
    left = max((label.cell_len for label in labels), default=0)
    room = max(number + 1, width - left - 1)
    n_most = min(len(columns), most[1] or len(columns))
    size, in_band = _band(columns, n_most, room, number + 1, max_bands)
    shown = kept(len(columns), min(n_most, max_bands * in_band))
    lines: list[Text] = []
    for start in range(0, len(shown), in_band):
        band = shown[start : start + in_band]
        heads = [Text(f"{DOTS} ", DIM) if j is None else _head(columns[j], size - 1) for j in band]
        setting = [Column(align="right"), *(Column(head, "right", size) for head in heads)]
        cells = [
            (label + Text(" "), *(_cell(cell, i, j) for j in band))
            for i, label in zip(places, labels, strict=True)
        ]
        lines += [*([Text()] if start else []), *table(setting, cells, width, gap=0)]
    n_rows, n_columns = (sum(i is not None for i in side) for side in (places, shown))
    return HeatMap(lines, len(rows) - n_rows, len(columns) - n_columns)


def kept(n: int, most: int, focus: int | None = None) -> list[int | None]:
    """Which of ``n`` are shown: the first, the one in focus and the last; None stands for a gap."""
    if n <= most:
        return list(range(n))
    return with_gaps({*range(max(1, most - 2)), n - 1, *(() if focus is None else (focus,))}, n)


def with_gaps(chosen: Collection[int], n: int) -> list[int | None]:
    """Those chosen of ``n``, in their order, and None wherever some are left out."""
    shown: list[int | None] = []
    for i in sorted({*chosen, n}):
        if i and i - 1 not in chosen:
            shown.append(None)
        shown.append(i)
    return shown[:-1]


def row_label(label: Label, *, is_pointed: bool = False) -> Text:
    """The name of a row, not too long; a sign stands before the one to look at."""
    text = cut(Text(clean(label.text), DIM if label.is_special else ""), MAX_LABEL)
    return Text.assemble("▸ ", text, style=POINTED) if is_pointed else text


def percent(share: float) -> str:
    """A share as it stands in a cell."""
    return NOTHING if abs(share) < 0.005 else f"{100 * share:.0f}"


def shade(share: float) -> Style:
    """The colour of a share: the root lifts small ones, so that the eye tells 0.1 from 0."""
    return heat(math.copysign(math.sqrt(min(1.0, abs(share))), share))


def heat(strength: float) -> Style:
    """The style of a cell, for a strength from -1 (coldest) to 1 (warmest)."""
    if math.isnan(strength):
        return Style(bold=True, color="red")
    if math.isinf(strength):
        return DIM
    shades, strength = _COLD if strength < 0 else _WARM, min(1.0, abs(strength))
    low = min(int(strength * (len(shades) - 1)), len(shades) - 2)
    rest = strength * (len(shades) - 1) - low
    red, green, blue = (
        round(a + (b - a) * rest) for a, b in zip(shades[low], shades[low + 1], strict=True)
    )
    is_bright = 0.3 * red + 0.59 * green + 0.11 * blue > 120
    return Style(
        color="#101014" if is_bright else "#e8e8ea", bgcolor=Color.from_rgb(red, green, blue)
    )


def bar(share: float, width: int) -> Text:
    """A bar as long as a share of ``width`` cells, to an eighth of a cell."""
    whole, rest = divmod(round(min(1.0, share) * width * 8), 8)
    return Text("█" * whole + (_EIGHTHS[rest] if rest else ""), "#d9682c")


def _cell(cell: Callable[[int, int], Text], i: int | None, j: int | None) -> Text:
    """A number with a blank after it, whose colour fills the cell."""
    if i is None or j is None:
        return Text(f"{DOTS} ", DIM)
    text = cell(i, j)
    text.append(" ")
    return text


def _band(
    columns: Sequence[Label], n_columns: int, room: int, least: int, max_bands: int
) -> tuple[int, int]:
    """How wide cells are and how many stand in a band: as few bands as may be, then whole words."""
    words = max((Text(label.text).cell_len for label in columns), default=0)
    most = max(least, min(WIDEST, words + 1))
    for n_bands in range(1, max_bands + 1):
        in_band = max(1, math.ceil(n_columns / n_bands))
        if least * in_band <= room:
            return min(most, room // in_band), in_band
    return least, max(1, room // least)


def _head(label: Label, width: int) -> Text:
    """A word above its column, broken into a few even lines, the last of which is the lowest."""
    whole, room = Text(clean(label.text)), HEAD_LINES * width
    parts = _broken(cut(whole, room), width)
    while len(parts) > HEAD_LINES:  # wide characters may leave a cell empty at the end of a line
        room -= 1
        parts = _broken(cut(whole, room), width)
    if len(parts) > 1:  # broken words stand at the left of their column, whole ones over numbers
        parts = [set_cell_size(part, width) for part in parts]
    return Text("\n".join(f"{part} " for part in parts), DIM if label.is_special else "")


def _broken(text: Text, width: int) -> list[str]:
    n_lines = max(1, math.ceil(text.cell_len / width))
    return chop_cells(text.plain, max(1, math.ceil(text.cell_len / n_lines)))
