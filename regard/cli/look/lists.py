"""Weights as a map and as lists: what words look at, what they look at most, and each step."""

import math
from collections.abc import Iterable

import numpy as np
from rich.cells import set_cell_size
from rich.text import Text

from regard.cli.heat import MAX_LABEL, MAX_ROWS, HeatMap, bar, heat_map, percent, row_label, shade
from regard.cli.terminal import DIM, Column, beside, clean, cut, table
from regard.inspection.figures.view import View, check_steps, named, named_heads
from regard.inspection.trace import Table, Trace, looks_of_steps
from regard.text.tokens import Label, printed

USUAL_TOP = 4
LEAST = 0.02  # of the attention; less is not listed
BAR, MIN_BAR = 24, 8
LEAST_MAP = 8  # so that there is room for a word above
MAX_WORD = 18
_SHADES = ("··", "░░", "▒▒", "▓▓", "██")  # from nothing to the largest of a row
_WARM = "#d9682c"


def title(trace: Trace, table: Table, below: str) -> list[Text]:
    """Whose weights they are, and what the rows and columns mean."""
    n_heads = trace.site(table.kind, table.layer).n_heads
    mean = "mean of " if len(table.heads) > 1 else ""
    said = f"{named(table)}, {mean}{named_heads(table.heads, n_heads)}"
    return [Text(said, "bold"), Text(clean(below), DIM), Text()]


def weight_map(table: Table, width: int, *, marks_largest: bool = False) -> HeatMap:
    """Weights in percent, brighter for more; the largest of a row underlined, if wanted."""
    weights = table.mean
    largest = weights.argmax(-1) if marks_largest and weights.size else None

    def cell(i: int, j: int) -> Text:
        weight = float(weights[i, j])
        text = Text(percent(weight), shade(weight))
        if largest is not None and largest[i] == j:
            text.stylize("bold underline")
        return text

    return heat_map(cell, table.rows, table.columns, width)


def looks_of_a_word(seen: Table, row: int, width: int) -> list[Text]:
    """A line for each word that is looked at: its share, that of each head, and a bar."""
    shares = seen.mean[row]
    shown = sorted(np.argsort(-shares, kind="stable")[:MAX_ROWS].tolist())
    heads = [(f"h{head}", seen.weights[h, row]) for h, head in enumerate(seen.heads)]
    numbers = [("mean", shares), *(heads if len(heads) > 1 else [])]
    labels = [row_label(seen.columns[j]) for j in shown]
    left = max((label.cell_len for label in labels), default=0)
    length = max(MIN_BAR, min(BAR, width - left - 6 * len(numbers) - 1))
    columns = [
        Column(align="right"),
        *(Column(Text(f"{name} ", DIM), "right", 5) for name, _ in numbers),
        Column(least=length),
    ]
    rows = [
        (
            label,
            *(_share(float(weights[j])) for _, weights in numbers),
            bar(float(shares[j]), length),
        )
        for label, j in zip(labels, shown, strict=True)
    ]
    lines = table(columns, rows, width, gap=1)
    if len(shown) < len(shares):
        lines.append(Text(f"… and {len(shares) - len(shown):,} words that get less", DIM))
    return lines


def looks_of_rows(seen: Table, width: int, top: int | None, row: int | None) -> list[Text]:
    """A line for each row: the words it looks at, most first, each in the colour of its share."""
    rows = range(len(seen.rows))[:MAX_ROWS] if row is None else [row]
    lines = list_lines(
        (
            (
                row_label(seen.rows[i], is_pointed=i == row),
                _most(seen.columns, seen.mean[i], top or USUAL_TOP),
            )
            for i in rows
        ),
        width,
    )
    if row is None and len(seen.rows) > MAX_ROWS:
        lines.append(Text(f"… and {len(seen.rows) - MAX_ROWS:,} more rows", DIM))
    return lines


def list_lines(rows: Iterable[tuple[Text, Iterable[tuple[str, float]]]], width: int) -> list[Text]:
    """A line for each word and what it looked at."""
    cells = [(word, Text("→", DIM), listed(looks)) for word, looks in rows]
    return table([Column(align="right"), Column(), Column()], cells, width, gap=1)


def listed(looks: Iterable[tuple[str, float]]) -> tuple[Text, ...]:
    """Words with their shares, as many as are worth a word; always the first."""
    return tuple(
        Text.assemble(" ", cut(Text(word), MAX_WORD), f" {percent(share)} ", style=shade(share))
        for k, (word, share) in enumerate(looks)
        if share >= LEAST or not k
    )


def _most(words: tuple[Label, ...], shares: np.ndarray, top: int) -> list[tuple[str, float]]:
    order = np.argsort(-shares, kind="stable")[:top].tolist()
    return [(words[j].text, float(shares[j])) for j in order]


def _share(share: float) -> Text:
    return Text(f"{percent(share):>3} ", shade(share))


def cell_maps(seen: Table, grid: tuple[int, int], width: int) -> list[Text]:
    """For each row the cells of a picture, darker signs for more; none where one has no room."""
    across = max(len(_SHADES[0]) * grid[1], LEAST_MAP)
    in_band = (width + 2) // (across + 2)
    lines: list[Text] = []
    shown = range(min(len(seen.rows), MAX_ROWS) if in_band else 0)
    for start in shown[:: max(1, in_band)]:
        blocks = [_cell_map(seen, i, grid, across) for i in shown[start : start + in_band]]
        lines += [Text(), *beside(blocks, 2)]
    return lines


def _cell_map(seen: Table, i: int, grid: tuple[int, int], across: int) -> list[Text]:
    shares = seen.mean[i].reshape(grid)
    places = np.rint((len(_SHADES) - 1) * shares / (shares.max() or 1.0)).astype(int)
    drawn = ("".join(_SHADES[place] for place in row) for row in places.tolist())
    word = cut(Text(seen.rows[i].text, "bold"), across)
    word.pad_right(across - word.cell_len)
    return [word, *(Text(set_cell_size(line, across), _WARM) for line in drawn)]


def steps(trace: Trace, view: View, width: int) -> list[Text]:
    """A line for each step: the token written, how probable it was, the others, where it looked."""
    check_steps(trace)
    looks = looks_of_steps(trace, view.layer, view.heads)
    labels = trace.target.labels(trace.target.tokens, merges=False)
    shown, top = range(len(trace.steps))[:MAX_ROWS], view.top_k or 3
    where = "" if looks is None else f"looked at (layer {looks.layer})"
    heads = [Text(head, DIM) for head in ("step", "word", "% ", "most probable", where)]
    columns = [*(Column(head, "right") for head in heads[:3]), *map(Column, heads[3:])]
    rows = []
    for t in shown:
        is_soft = labels[t].is_special or t < trace.n_given
        rows.append(
            (
                Text(str(t), DIM),
                cut(Text(labels[t].text, DIM if is_soft else "bold"), MAX_LABEL),
                _share(math.exp(trace.steps[t].log_probability)),
                _others(trace, t, top),
                ()
                if looks is None
                else listed(_most(looks.columns, looks.weights[:, t].mean(0), top)),
            )
        )
    lines = [Text(trace.way.title, "bold"), *table(columns, rows, width)]
    if len(trace.steps) > MAX_ROWS:
        lines.append(Text(f"… and {len(trace.steps) - MAX_ROWS:,} more steps", DIM))
    return lines


def _others(trace: Trace, t: int, top: int) -> tuple[Text, ...]:
    """The most probable tokens of a step; the one that was written stands out."""
    chosen = trace.target.tokens[t].id
    return tuple(
        Text.assemble(
            cut(Text(printed(one.text)), MAX_WORD),
            f" {percent(math.exp(one.log_probability))} ",
            style="bold" if one.id == chosen else DIM,
        )
        for k, one in enumerate(trace.steps[t].alternatives[:top])
        if not k or math.exp(one.log_probability) >= 0.005
    )
