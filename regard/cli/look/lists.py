"""Weights as lists: what one word looks at, what each word looks at most, and each step."""

import math
from collections.abc import Iterable

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text

from regard.cli.explain.grids import DIM, DOTS, bar, fit, right
from regard.cli.look.heatmap import MAX_LABEL, MAX_ROWS, POINTED, percent, shade
from regard.inspection.figures.view import View, check_steps
from regard.inspection.trace import Table, Trace, looks_of_steps
from regard.text.tokens import printed

USUAL_TOP = 4
LEAST = 0.02  # of the attention; less is not listed
BAR, CELL = 24, 5
GAP = "  "
_SHADES = ("··", "░░", "▒▒", "▓▓", "██")  # from nothing to the largest of a row
LEAST_MAP = 8  # so that there is room for a word above
_WARM = Style(color="#d9682c")
MAX_WORD = 18


def looks_of_a_word(seen: Table, row: int, width: int) -> list[Text]:
    """A line for each word that is looked at: its share, a bar, and the share of each head."""
    shares = seen.mean[row]
    shown = _strongest(shares, MAX_ROWS)
    labels = {j: fit(seen.columns[j].text, MAX_LABEL) for j in shown}
    left = max(map(cell_len, labels.values()), default=0)
    room = width - left - 1 - CELL - 1
    n_heads = len(seen.heads) if len(seen.heads) > 1 else 0
    n_heads = min(n_heads, max(0, (room - BAR - 1) // CELL))
    length = min(BAR, room)
    lines = []
    if n_heads:
        header = Text(f"{' ' * (left + 1)}{right('mean', CELL)}{' ' * (length + 1)}", DIM)
        for head in seen.heads[:n_heads]:
            header.append(f"{right(f'h{head}', CELL - 1)} ")
        header.rstrip()
        lines.append(header)
    for j in shown:
        share = float(shares[j])
        style = DIM if seen.columns[j].is_special else Style.null()
        line = Text.assemble((right(labels[j], left), style), " ")
        line.append(_cell(share), shade(share))
        line.append(" ")
        line.append(set_cell_size(bar(min(1.0, share), length), length), _WARM)
        for h in range(n_heads):
            weight = float(seen.weights[h, row, j])
            line.append(_cell(weight), shade(weight))
        lines.append(line)
    if len(shown) < len(shares):
        lines.append(Text(f"… and {len(shares) - len(shown):,} words that get less", DIM))
    return lines


def _strongest(shares: np.ndarray, most: int) -> list[int]:
    """The places of the largest shares, in their order in the sentence."""
    return sorted(np.argsort(-shares, kind="stable")[:most].tolist())


def _cell(share: float) -> str:
    return f"{right(percent(share), CELL - 1)} "


def looks_of_rows(seen: Table, width: int, top: int | None, row: int | None) -> list[Text]:
    """A line for each row: the words it looks at, most first, each in the colour of its share."""
    rows = range(len(seen.rows))[:MAX_ROWS] if row is None else [row]
    labels = {i: fit(seen.rows[i].text, MAX_LABEL) for i in rows}
    left = max(map(cell_len, labels.values()), default=0)
    lines = []
    for i in rows:
        style = DIM if seen.rows[i].is_special else POINTED if i == row else Style.null()
        line = Text.assemble((right(labels[i], left), style))
        line.append(" → ", DIM)
        shares = seen.mean[i]
        order = np.argsort(-shares, kind="stable")[: top or USUAL_TOP].tolist()
        append_looks(line, ((seen.columns[j].text, float(shares[j])) for j in order), width)
        lines.append(line)
    if row is None and len(seen.rows) > MAX_ROWS:
        lines.append(Text(f"… and {len(seen.rows) - MAX_ROWS:,} more rows", DIM))
    return lines


def cell_maps(seen: Table, grid: tuple[int, int], width: int) -> list[Text]:
    """For each row the cells of a picture, darker signs for more; none where one has no room."""
    across = max(len(_SHADES[0]) * grid[1], LEAST_MAP)
    in_band = (width + len(GAP)) // (across + len(GAP))
    lines: list[Text] = []
    shown = range(min(len(seen.rows), MAX_ROWS) if in_band else 0)
    for start in shown[:: max(1, in_band)]:
        band = shown[start : start + in_band]
        labels = (set_cell_size(fit(seen.rows[i].text, across), across) for i in band)
        lines += [Text(), Text(GAP.join(labels).rstrip(), POINTED)]
        maps = [_cell_map(seen.mean[i].reshape(grid)) for i in band]
        for parts in zip(*maps, strict=True):
            lines.append(Text(GAP.join(set_cell_size(part, across) for part in parts), _WARM))
    return lines


def _cell_map(shares: np.ndarray) -> list[str]:
    places = np.rint((len(_SHADES) - 1) * shares / (shares.max() or 1.0)).astype(int)
    return ["".join(_SHADES[place] for place in row) for row in places.tolist()]


def append_looks(line: Text, looks: Iterable[tuple[str, float]], width: int) -> None:
    """Words with their shares, as many as the line has room for."""
    for k, (word, share) in enumerate(looks):
        if share < LEAST and k:
            break
        said = f" {fit(word, MAX_WORD)} {percent(share)} "
        if line.cell_len + cell_len(said) + 2 > width:
            line.append(DOTS, DIM)
            break
        line.append(said, shade(share))
        line.append(" ")


def steps(trace: Trace, view: View, width: int) -> list[Text]:
    """A line for each step: the token written, how probable it was, the others, where it looked."""
    check_steps(trace)
    looks = looks_of_steps(trace, view.layer, view.heads)
    labels = trace.target.labels(trace.target.tokens, merges=False)
    shown = range(len(trace.steps))[:MAX_ROWS]
    left = max([len("word"), *(cell_len(fit(labels[t].text, MAX_LABEL)) for t in shown)])
    top = view.top_k or 3
    others = [_others(trace, t, top) for t in shown]
    at = 5 + left + 1 + CELL + len(GAP)
    middle = max((line.cell_len for line in others), default=0)
    middle = min(max(middle, len("most probable")), max(16, (width - at) // 2))
    where = "" if looks is None else f"looked at (layer {looks.layer})"
    head = f"{'step':>4} {right('word', left)} {right('%', CELL - 1)} {GAP}"
    lines = [
        Text(trace.way.title, "bold"),
        Text(fit(f"{head}{set_cell_size('most probable', middle)}{GAP}{where}", width), DIM),
    ]
    for t in shown:
        share = math.exp(trace.steps[t].log_probability)
        line = Text.assemble((f"{t:>4} ", DIM))
        label = fit(labels[t].text, MAX_LABEL)
        is_soft = labels[t].is_special or t < trace.n_given
        line.append(right(label, left), DIM if is_soft else POINTED)
        line.append(" ")
        line.append(_cell(share), shade(share))
        line.append(GAP)
        kept = others[t].copy()
        kept.truncate(middle, overflow="ellipsis", pad=True)
        line.append_text(kept)
        if looks is not None:
            line.append(GAP)
            row = looks.weights[:, t].mean(0)
            order = np.argsort(-row, kind="stable")[:top].tolist()
            append_looks(line, ((looks.columns[j].text, float(row[j])) for j in order), width)
        lines.append(line)
    if len(trace.steps) > MAX_ROWS:
        lines.append(Text(f"… and {len(trace.steps) - MAX_ROWS:,} more steps", DIM))
    return lines


def _others(trace: Trace, t: int, top: int) -> Text:
    """The most probable tokens of a step; the one that was written stands out."""
    chosen, line = trace.target.tokens[t].id, Text()
    for k, one in enumerate(trace.steps[t].alternatives[:top]):
        share = math.exp(one.log_probability)
        if k and share < 0.005:
            break
        word = fit(printed(one.text), MAX_WORD)
        line.append(
            f"{GAP if k else ''}{word} {percent(share)}", POINTED if one.id == chosen else DIM
        )
    return line
