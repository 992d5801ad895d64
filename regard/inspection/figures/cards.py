"""How a text came about, a card a step; and which passages of a long document were looked at."""

import math
from collections.abc import Sequence

import numpy as np

from regard.errors import UsageError
from regard.inspection.figures.canvas import BODY, HEADING, MARGIN, SMALL, Box, Canvas
from regard.inspection.figures.drawing import DrawnFigure
from regard.inspection.figures.heat import pooled, scale_end
from regard.inspection.figures.view import View, check_steps
from regard.inspection.trace import ATTENTIONS, Label, Table, Trace, looks_of_steps
from regard.shapes import Float
from regard.text.tokens import printed

_CARD, _APART, _IN_ROW = 158.0, 14.0, 7
_LINE = 19.0
_INSIDE = 12.0
_PLACES, _FEW_PLACES = 3, 1  # that are named of those it looked at
_FEW_WORDS = 2  # the most probable of a step, where steps are many
_MANY = 100  # steps
_SHORT = 12.5
_STRIP, _LANE = 900.0, 20.0
_AROUND = 12  # words of a passage on each side of its middle


def draw_strip(trace: Trace, view: View) -> DrawnFigure:
    """A card a step, in the order of writing."""
    check_steps(trace)
    looks = looks_of_steps(trace, view.layer, view.heads)
    way = trace.way
    half = ATTENTIONS[way.looks].half
    below = f"{way.shows}, most probable words with their probabilities"
    if looks is not None:
        below += f" · where it looked: {half} layer {looks.layer}, mean of heads"
    canvas = Canvas(view.theme)
    canvas.heading(way.title, below)
    n = len(trace.steps)
    n_others, n_places = max(len(step.alternatives) for step in trace.steps), _PLACES
    if n > _MANY:
        n_others, n_places = min(n_others, _FEW_WORDS), _FEW_PLACES
    height = 62 + n_others * _LINE + (0 if looks is None else 26 + n_places * _LINE) + 6
    in_row = math.ceil(n / math.ceil(n / _IN_ROW))
    places = [divmod(t, in_row) for t in range(n)]
    corners = [
        (MARGIN + j * (_CARD + _APART), HEADING + 10 + i * (height + _APART)) for i, j in places
    ]
    canvas.boxes([(x, y, _CARD, height) for x, y in corners], fill="panel", stroke="line", radius=8)
    bars: dict[str, list[Box]] = {"look": [], "faint": [], "mark": []}
    labels = trace.target.labels(trace.target.tokens, merges=False)
    for t, corner in enumerate(corners):
        _card(canvas, trace, looks, labels[t], t, corner, bars, (n_others, n_places))
    for colour, boxes in bars.items():
        canvas.boxes(boxes, fill=colour, opacity=0.32, radius=3)
    canvas.note(f"log P = {trace.log_probability:.2f} over {n - trace.n_given} {way.steps}")
    return canvas.finished()


def document(
    words: Sequence[str], weights: Float[np.ndarray, "R L"], rows: Sequence[str],
    title: str = "Where it looked in the document", *, n_passages: int = 5, theme: str = "light",
) -> DrawnFigure:  # fmt: skip
    """A long document from left to right, a lane for each word written; the strongest are quoted.

    A lane is as wide as the picture however long the document is: a column of it shows the largest
    weight of its words. Passages are those that all lanes together look at most.
    """
    if weights.shape != (len(rows), len(words)) or not weights.size:
        raise UsageError(
            f"{len(rows)} lanes over {len(words)} words need as many rows and columns of weights; "
            f"the array has the shape {weights.shape}"
        )
    canvas = Canvas(theme)
    below = f"{len(words):,} words, the first on the left · a lane for each word written"
    canvas.heading(title, below)
    names = [Canvas.shortened(row, 160.0, _SHORT) for row in rows]
    left, top = MARGIN + Canvas.widest(names, _SHORT) + 8, HEADING + 34.0
    height = _LANE * len(rows)
    for i, name in enumerate(names):
        canvas.text(left - 8, top + (i + 0.5) * _LANE, name, _SHORT, "ink", "end")
    high = scale_end(weights)
    lanes = np.asarray(weights, np.float64)
    canvas.heat(left, top, _STRIP, height, pooled(lanes, int(_STRIP)), high=high)
    canvas.boxes([(left, top, _STRIP, height)], stroke="line")
    middles = _passages(lanes.mean(0), n_passages)
    for number, middle in enumerate(middles, start=1):
        x = left + _STRIP * (middle + 0.5) / len(words)
        canvas.text(x, top - 10, str(number), SMALL, "mark", "middle", is_bold=True)
    is_open = bool((lanes > high).any())
    canvas.scale(left, top + height + 20, high, meaning="largest weight", is_open=is_open)
    y = canvas.bottom + 26
    for number, middle in enumerate(middles, start=1):
        start, end = max(0, middle - _AROUND), middle + _AROUND + 1
        share = float(lanes[:, start:end].sum() / max(lanes.sum(), 1e-12))
        canvas.text(MARGIN, y, str(number), _SHORT, "mark", is_bold=True)
        canvas.text(left - 8, y, f"{100 * share:.0f} %", SMALL, "soft", "end")
        canvas.text(left, y, _quoted(words, middle), _SHORT)
        y += _LINE
    return canvas.finished()


def _quoted(words: Sequence[str], middle: int) -> str:
    """As many words around the middle as there is room for."""
    said = Canvas.shortened(words[middle], _STRIP - 40, _SHORT)
    for step in range(1, _AROUND + 1):
        around = words[max(0, middle - step) : middle + step + 1]
        longer = Canvas.shortened(" ".join(around), _STRIP - 40, _SHORT)
        if longer.endswith("…"):
            break
        said = longer
    return f"… {said} …"


def _passages(shares: np.ndarray, most: int) -> list[int]:
    """The middles of the passages looked at most, none within another, in their order."""
    found: list[int] = []
    apart = max(2 * _AROUND, math.ceil(16 / _STRIP * len(shares)))  # or their numbers would overlap
    window = np.convolve(shares, np.ones(2 * _AROUND + 1), "full")[_AROUND:-_AROUND]
    while len(found) < most and window.max(initial=0.0) > 0:
        middle = int(window.argmax())
        near = np.arange(max(0, middle - _AROUND), min(len(shares), middle + _AROUND + 1))
        found.append(round(float((near * shares[near]).sum() / shares[near].sum())))
        window[max(0, middle - apart) : middle + apart + 1] = 0
    return sorted(found)


def _card(
    canvas: Canvas, trace: Trace, looks: Table | None, label: Label, t: int,
    corner: tuple[float, float], bars: dict[str, list[Box]], most: tuple[int, int],
) -> None:  # fmt: skip
    (x, y), (n_others, n_places) = corner, most
    step, chosen = trace.steps[t], trace.target.tokens[t].id
    depths = trace.depths.get("target", ())
    repeats = f" · {depths[t]} repeats" if t < len(depths) else ""
    inside, size, is_given = x + _INSIDE, BODY + 2, t < trace.n_given
    canvas.text(inside, y + 16, f"step {t}{repeats}", SMALL - 1, "soft")
    share = f"p = {_share(math.exp(step.log_probability))}".replace("= <", "<")
    canvas.text(x + _CARD - _INSIDE, y + 16, share, SMALL - 1, "soft", "end")
    text = Canvas.shortened(label.text, _CARD - 2 * _INSIDE, size, is_bold=not is_given)
    colour = "soft" if label.is_special or is_given else "ink"
    canvas.text(inside, y + 38, text, size, colour, is_bold=not is_given)
    at = y + 62
    for other in step.alternatives[:n_others]:
        colour = "look" if other.id == chosen else "faint"
        likely = math.exp(other.log_probability)
        bars[colour].append(_bar(canvas, x, at, printed(other.text), likely))
        at += _LINE
    if looks is None:
        return
    at += 8
    canvas.text(inside, at, "looked at", SMALL - 1, "soft")
    row = looks.weights[:, t].mean(0)
    for j in np.argsort(-row, kind="stable")[:n_places].tolist():
        if row[j] > 0:  # a decoder does not see what comes later
            at += _LINE
            bars["mark"].append(_bar(canvas, x, at, looks.columns[j].text, float(row[j])))


def _bar(canvas: Canvas, x: float, y: float, text: str, share: float) -> Box:
    """A word and its share in percent; gives back the bar behind it."""
    inner = _CARD - 2 * _INSIDE - 40  # without the number
    canvas.text(x + _INSIDE, y, Canvas.shortened(text, inner, _SHORT), _SHORT)
    canvas.text(x + _CARD - _INSIDE, y, _share(share), SMALL - 1, "soft", "end")
    return x + _INSIDE - 3, y - 8, max(0.5, share * inner) + 3, 16.0


def _share(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.0095 else "< 1 %"
