"""Tables set for reading: decimals aligned, long ones shortened, brighter colours for more."""

import math

from rich.cells import cell_len, set_cell_size
from rich.color import Color
from rich.style import Style
from rich.text import Text

from regard.lessons.explanation import Cell, NumberTable

MAX_LABEL, MAX_ROWS, BAR = 18, 24, 24
GAP, MIN_LAST = 2, 12
DOTS = "…"
HEADER_WIDTHS = (16, 7, 0)
MAX_COLUMNS, SHORT_HEADER = 16, 4
POINTED = Style(bold=True)
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_Shade = tuple[int, int, int]

# Near zero a cell is almost black, so that on a dark terminal it fades into the ground.
_GROUND: _Shade = (22, 24, 30)
_WARM: tuple[_Shade, ...] = (_GROUND, (112, 42, 32), (217, 104, 44), (255, 214, 128))
_COLD: tuple[_Shade, ...] = (_GROUND, (28, 58, 110), (60, 128, 200), (176, 222, 255))

DIM = Style(dim=True)


def heat(strength: float) -> Style:
    """The style of a cell, for a strength from -1 (coldest) to 1 (warmest)."""
    if math.isnan(strength):
        return Style(bold=True, color="red")
    if math.isinf(strength):
        return DIM
    shade = _between(_COLD if strength < 0 else _WARM, min(1.0, abs(strength)))
    is_bright = 0.3 * shade[0] + 0.59 * shade[1] + 0.11 * shade[2] > 120
    return Style(
        color="#101014" if is_bright else "#e8e8ea", bgcolor=Color.from_rgb(*map(float, shade))
    )


def _between(shades: tuple[_Shade, ...], share: float) -> _Shade:
    place = share * (len(shades) - 1)
    low = min(int(place), len(shades) - 2)
    rest = place - low
    red, green, blue = (
        round(a + (b - a) * rest) for a, b in zip(shades[low], shades[low + 1], strict=True)
    )
    return red, green, blue


def grid(table: NumberTable, width: int) -> list[Text]:
    """The lines of a table of numbers, none wider than ``width``, headed by its name."""
    rows = _rows_shown(table)
    labels = [fit(table.rows[i], MAX_LABEL) if i is not None else DOTS for i in rows]
    label_width = max(map(cell_len, labels))
    written = written_cells(table, rows)
    columns, widths = _columns_shown(table, written, rows, width - label_width - 2)
    lines = [_name(table, len(columns) < len(table.columns), width)]
    header = Text(" " * (label_width + 1))
    for j, column_width in zip(columns, widths, strict=True):
        name = DOTS if j is None else table.columns[j]
        header.append(f" {right(fit(name, column_width), column_width)}", DIM)
    if table.look == "bars":
        header.append(" " * (BAR + 1))
    lines.append(header)
    largest = _largest(table)
    for i, label in zip(rows, labels, strict=True):
        is_pointed = i is not None and i == table.focus
        line = Text(set_cell_size(label, label_width), POINTED if is_pointed else "")
        line.append("▸" if is_pointed else " ", POINTED)
        for j, column_width in zip(columns, widths, strict=True):
            if i is None or j is None:
                line.append(f" {right(DOTS, column_width)}", DIM)
                continue
            style = _style(table, table.cells[i][j], largest)
            line.append(f" {right(written[i][j], column_width)}", style)
        if table.look == "bars":
            line.append(" ")
            line.append(*_bar(table, i))
        lines.append(line)
    block = max(line.cell_len for line in lines)
    for line in lines:
        line.pad_right(block - line.cell_len)
    return lines


def word_lines(table: NumberTable, width: int) -> list[Text]:
    """The lines of a table of words; the last column is broken where it must be."""
    kept = _rows_shown(table)
    rows: list[tuple[Cell, ...]] = [(table.name, *table.columns)]
    for i in kept:
        left_out = (DOTS,) * (len(table.columns) + 1)
        rows.append(left_out if i is None else (table.rows[i], *table.cells[i]))
    shown = [[fit(str(cell), width) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*shown, strict=True)]
    while len(widths) > 2 and sum(widths[:-1]) + GAP * len(widths) + MIN_LAST > width:
        shown = [[*row[:-2], DOTS] for row in shown]
        widths = [*widths[:-2], len(DOTS)]
    last = max(MIN_LAST, width - sum(widths[:-1]) - GAP * (len(widths) - 1))
    lines = []
    for i, row in enumerate(shown):
        is_pointed = i > 0 and kept[i - 1] is not None and kept[i - 1] == table.focus
        style = DIM if i == 0 else POINTED if is_pointed else Style.null()
        start = (" " * GAP).join(
            set_cell_size(cell, size) for cell, size in zip(row[:-1], widths, strict=False)
        )
        broken = _broken(row[-1], last)
        for k, part in enumerate(broken):
            before = start if k == 0 else " " * cell_len(start)
            lines.append(Text(f"{before}{' ' * GAP}{part}".rstrip(), style))
    return lines


def _broken(text: str, width: int) -> list[str]:
    """The words of a text in lines of at most ``width`` cells."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and cell_len(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return [fit(line, width) for line in lines]


def written_cells(table: NumberTable, rows: list[int | None] | None = None) -> list[list[str]]:
    """Numbers as they are printed: whole tables whole, tiny numbers with their power of ten.

    Of rows that are not shown nothing is written, for there may be hundreds.
    """
    shown = set(range(len(table.rows)) if rows is None else rows)
    numbers = [c for row in table.cells for c in row if not isinstance(c, str) and math.isfinite(c)]
    largest = max(map(abs, numbers), default=0.0)
    if all(float(number).is_integer() for number in numbers):
        form = ".0f"
    elif largest < 10**-table.decimals / 2:
        form = ".0e"
    else:
        form = f".{table.decimals}f"
    return [
        [_written(cell, form) for cell in row] if i in shown else []
        for i, row in enumerate(table.cells)
    ]


def fit(text: str, width: int) -> str:
    """The text within ``width`` cells, its end cut off where it must be."""
    text = "".join(c if c.isprintable() else "�" for c in text)
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(0, width - 1)).rstrip() + DOTS if width > 1 else DOTS


def right(text: str, width: int) -> str:
    """The text moved to the right edge of ``width`` cells."""
    return " " * (width - cell_len(text)) + text


def _written(cell: Cell, form: str) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return str(cell)
    if math.isinf(cell):
        return "∞" if cell > 0 else "-∞"
    if math.isnan(cell):
        return "NaN"
    written = format(cell, form)
    is_zero = not any(digit in written.split("e")[0] for digit in "123456789")
    return written.removeprefix("-") if is_zero else written


def _name(table: NumberTable, is_shortened: bool, width: int) -> Text:
    name = Text(fit(table.name, width), "bold")
    size = f"  {len(table.rows)} × {len(table.columns)}"
    if (is_shortened or len(table.rows) > MAX_ROWS) and name.cell_len + len(size) <= width:
        name.append(size, DIM)
    if table.probe and name.cell_len + len(table.probe) + 2 <= width:
        name.append(f"  {table.probe}", DIM)
    return name


def _rows_shown(table: NumberTable) -> list[int | None]:
    """Which rows are printed; None stands for those left out."""
    n = len(table.rows)
    if n <= MAX_ROWS:
        return list(range(n))
    if table.look == "bars":
        by_size = sorted(range(n), key=lambda i: -float(table.cells[i][0]))
        kept = set(by_size[: MAX_ROWS // 2])
    else:
        kept = {*range(8), n - 1}
    kept |= set() if table.focus is None else {table.focus}
    return _with_gaps(sorted(kept), n)


def _with_gaps(kept: list[int], n: int) -> list[int | None]:
    shown: list[int | None] = []
    before = -1
    for i in kept:
        if i > before + 1:
            shown.append(None)
        shown.append(i)
        before = i
    return shown if before == n - 1 else [*shown, None]


def _columns_shown(
    table: NumberTable, written: list[list[str]], rows: list[int | None], room: int
) -> tuple[list[int | None], list[int]]:
    """Which columns fit, and how wide each is: all, or the first few, a gap and the last."""
    room -= BAR + 1 if table.look == "bars" else 0
    n = len(table.columns)
    numbers = [max(cell_len(written[i][j]) for i in rows if i is not None) for j in range(n)]
    if table.look in ("signed", "share"):
        # Cells of one width make an even picture.
        numbers = [max(numbers)] * n
    for most in HEADER_WIDTHS:
        widths = [
            max(number, min(most, cell_len(name)))
            for number, name in zip(numbers, table.columns, strict=True)
        ]
        if sum(widths) + n <= room:
            return list(range(n)), widths
    widths = [
        max(number, min(SHORT_HEADER, cell_len(name)))
        for number, name in zip(numbers, table.columns, strict=True)
    ]
    if table.look != "plain":
        widths = [max(widths[:MAX_COLUMNS])] * (n - 1) + widths[-1:]
    gap = len(DOTS) + 1
    kept, used = 0, widths[-1] + 1 + gap
    while kept < min(n - 2, MAX_COLUMNS) and used + widths[kept] + 1 <= room:
        used += widths[kept] + 1
        kept += 1
    return [*range(max(1, kept)), None, n - 1], [*widths[: max(1, kept)], len(DOTS), widths[-1]]


def _largest(table: NumberTable) -> float:
    numbers = (abs(c) for row in table.cells for c in row if not isinstance(c, str))
    return max((number for number in numbers if math.isfinite(number)), default=0.0) or 1.0


def _style(table: NumberTable, cell: Cell, largest: float) -> Style:
    if isinstance(cell, str) or table.look in ("plain", "bars", "text"):
        return Style.null()
    if table.look == "share":
        # The eye should tell 0.1 from 0: the root lifts small shares.
        return heat(math.sqrt(max(0.0, float(cell))) if cell == cell else math.nan)
    return heat(float(cell) / largest)


def _bar(table: NumberTable, i: int | None) -> tuple[str, Style]:
    if i is None:
        return "", DIM
    share = float(table.cells[i][0])
    largest = max(float(row[0]) for row in table.cells) or 1.0
    return bar(share / largest, BAR), Style(color="#d9682c")


def bar(share: float, width: int) -> str:
    """A bar as long as a share of ``width`` cells, to an eighth of a cell."""
    whole, rest = divmod(round(share * width * 8), 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")
