"""An alignment in the terminal: shades for weights, brackets around what is true."""

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from regard.cli.explain.grids import fit, right
from regard.inspection.looking import Looking

SHADES = " ░▒▓█"
MAX_LABEL, MIN_COLUMN = 14, 4
_BRACKET = "bold #d9682c"


def shade(weight: float) -> str:
    """One of five shades; the darkest from 0.8 on."""
    return SHADES[min(len(SHADES) - 1, int(weight * len(SHADES)))]


def matrix(looking: Looking, width: int) -> list[Text]:
    """The lines of the matrix, none wider than ``width`` while its columns can be narrowed."""
    labels = [fit(word, MAX_LABEL) for word in looking.rows]
    left = max(map(cell_len, labels), default=0)
    widths = _widths(looking.columns, width - left)
    header = Text(" " * left)
    for word, size in zip(looking.columns, widths, strict=True):
        header.append(" " + set_cell_size(fit(word, size), size))
    lines = [header]
    truth = set(looking.truth)
    for i, (label, weights) in enumerate(zip(labels, looking.weights, strict=True)):
        line = Text(right(label, left))
        for j, (weight, size) in enumerate(zip(weights, widths, strict=True)):
            line.append(" ")
            line.append_text(_cell(weight, (i, j) in truth))
            line.append(" " * (size - MIN_COLUMN))
        lines.append(line)
    for line in lines:
        line.rstrip()
    return lines


def _cell(weight: float, is_true: bool) -> Text:
    opening, closing = ("[", "]") if is_true else (" ", " ")
    return Text.assemble((opening, _BRACKET), shade(weight) * 2, (closing, _BRACKET))


def _widths(words: Sequence[str], room: int) -> list[int]:
    """As wide as the words, or as narrow as must be."""
    for most in range(12, MIN_COLUMN - 1, -1):
        widths = [max(MIN_COLUMN, min(most, cell_len(word))) for word in words]
        if sum(widths) + len(widths) <= room:
            return widths
    return [MIN_COLUMN] * len(words)
