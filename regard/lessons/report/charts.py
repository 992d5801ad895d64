"""The page's pictures: a curve, a heat map and lines, as HTML and SVG that follow its colours."""

import math
from collections.abc import Sequence
from html import escape
from unicodedata import east_asian_width

from regard.inspection.looking import Looking
from regard.lessons.report.contents import Points

_WIDTH, _HEIGHT, _LEFT, _BELOW = 640, 240, 44, 28
_ROW, _GAP, _TEXT = 24, 150, 14
_LEAST = 0.01


def curve(lines: Sequence[tuple[str, Points]]) -> str:
    """Losses over updates, a line for each name (which is also its CSS class)."""
    points = [point for _, line in lines for point in line]
    if not points:
        return ""
    most = max(update for update, _ in points)
    low, high = 0.0, max(math.ceil(max(loss for _, loss in points)), 1)
    right, bottom = _WIDTH - 12, _HEIGHT - _BELOW

    def at(update: int, loss: float | int) -> str:
        x = _LEFT + (right - _LEFT) * update / most
        return f"{x:.1f},{bottom - (bottom - 10) * (loss - low) / (high - low):.1f}"

    step = max(1, math.ceil(high / 5))
    drawn = []
    for level in range(0, high + 1, step):
        y = at(0, level).split(",")[1]
        drawn.append(f'<line class="grid" x1="{_LEFT}" y1="{y}" x2="{right}" y2="{y}"/>')
        drawn.append(
            f'<text class="tick" x="{_LEFT - 8}" y="{y}" dy="4" text-anchor="end">{level}</text>'
        )
    for update in _ticks(most):
        x = at(update, 0).split(",")[0]
        drawn.append(
            f'<text class="tick" x="{x}" y="{_HEIGHT - 8}" text-anchor="middle">{update:,}</text>'
        )
    for name, line in lines:
        if line:
            path = " ".join(at(*point) for point in line)
            drawn.append(f'<polyline class="curve {escape(name)}" points="{path}"/>')
        if len(line) <= 40:
            for update, loss in line:
                x, y = at(update, loss).split(",")
                drawn.append(
                    f'<circle class="dot {escape(name)}" cx="{x}" cy="{y}" r="3">'
                    f"<title>{update:,}: {loss:.3f}</title></circle>"
                )
    return (
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="training curve">{"".join(drawn)}</svg>'
    )


def _ticks(most: int) -> list[int]:
    step: int = 10 ** len(str(most)) // 10
    while most / step < 4 and step > 1:
        step = step // 2 if str(step)[0] != "5" else step // 5
    return list(range(step, most + 1, max(1, step)))


def heat_map(looking: Looking, caption: str = "") -> str:
    """A table of shades; each cell tells its words and weight, true links have a ring."""
    head = "".join(
        f'<th scope="col"><span class="{_script(word)}">{escape(word)}</span></th>'
        for word in looking.columns
    )
    truth = set(looking.truth)
    rows = []
    for i, (word, weights) in enumerate(zip(looking.rows, looking.weights, strict=True)):
        cells = "".join(
            f'<td class="{_looks(weight, (i, j) in truth)}" style="--w:{weight:.3f}" '
            f'title="{escape(f"{word} → {column}: {weight:.2f}", quote=True)}">'
            f"<b>{_short(weight)}</b></td>"
            for j, (column, weight) in enumerate(zip(looking.columns, weights, strict=True))
        )
        rows.append(f'<tr><th scope="row">{escape(word)}</th>{cells}</tr>')
    return (
        f'<div class="scroll"><table class="heat"><caption>{escape(caption)}</caption>'
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _script(word: str) -> str:
    """Chinese stands upright above its column, other words lie on their side."""
    return "upright" if any(east_asian_width(c) in "WF" for c in word) else "lying"


def _looks(weight: float, is_true: bool) -> str:
    """The classes of a cell: ink changes where the ground is deep."""
    return " ".join(["true"] * is_true + ["deep"] * (weight >= 0.55))


def _short(weight: float) -> str:
    return f"{round(100 * weight)}" if weight >= 0.05 else ""


def lines(looking: Looking, label: str) -> str:
    """Two columns of words; lines from the word in focus, as thick as it looks."""
    n = max(len(looking.rows), len(looking.columns))
    left = 12 + max(map(_width, looking.rows))
    right, height = left + _GAP, n * _ROW + 8
    total = right + 16 + max(map(_width, looking.columns))  # a frame and its stroke have room
    shown = range(len(looking.rows)) if looking.focus is None else (looking.focus,)
    true = {column for row, column in looking.truth if row in shown}

    def y(place: int, of: int) -> float:
        return 4 + (place + 0.5 + (n - of) / 2) * _ROW

    drawn = []
    for i in shown:
        for j, weight in enumerate(looking.weights[i]):
            if weight >= _LEAST:
                told = escape(f"{looking.rows[i]} → {looking.columns[j]}: {weight:.2f}")
                drawn.append(
                    f'<line class="look" x1="{left}" y1="{y(i, len(looking.rows)):.1f}" '
                    f'x2="{right}" y2="{y(j, len(looking.columns)):.1f}" '
                    f'stroke-width="{max(0.6, 13 * weight):.2f}" '
                    f'stroke-opacity="{min(1.0, 0.3 + weight):.2f}"><title>{told}</title></line>'
                )
    for i, word in enumerate(looking.rows):
        kind = "loud" if i in shown else "quiet"
        at = y(i, len(looking.rows))
        drawn.append(
            f'<text class="{kind}" x="{left - 7}" y="{at:.1f}" dy="5" text-anchor="end">'
            f"{escape(word)}</text>"
        )
    for j, word in enumerate(looking.columns):
        at = y(j, len(looking.columns))
        largest = max(looking.weights[i][j] for i in shown)
        if j in true:
            drawn.append(
                f'<rect class="true" x="{right + 2}" y="{at - 10:.1f}" rx="5" '
                f'width="{_width(word) + 10}" height="20"/>'
            )
        kind = "loud" if largest >= 0.1 or j in true else "quiet"
        drawn.append(
            f'<text class="{kind}" x="{right + 7}" y="{at:.1f}" dy="5">{escape(word)}</text>'
        )
    return (
        f'<svg class="lines" viewBox="0 0 {total} {height}" width="{total}" role="img" '
        f'aria-label="{escape(label, quote=True)}">{"".join(drawn)}</svg>'
    )


def _width(text: str) -> int:
    """About how many pixels a word takes; Chinese characters are as wide as high."""
    return round(sum(_TEXT if east_asian_width(c) in "WF" else 8.8 for c in text))
