"""How a text came about, step by step: the word chosen, the others, and where it looked."""

import math

import numpy as np

from regard.inspection.figures.view import View, check_steps
from regard.inspection.scene.frame import (
    BODY,
    HEADING,
    MARGIN,
    SMALL,
    heading,
    heading_width,
    noted,
)
from regard.inspection.scene.items import Item, Rectangle, Scene, Text
from regard.inspection.scene.measure import shortened
from regard.inspection.trace import ATTENTIONS, Label, Table, Trace, looks_of_steps
from regard.text.tokens import printed

_CARD, _APART, _IN_ROW = 158.0, 14.0, 7
_LINE = 19.0
_INSIDE = 12.0
_PLACES = 3  # that are named of those it looked at
_SHORT = 12.5
_NUMBER = 40.0  # what a share in percent takes


def strip(trace: Trace, view: View) -> Scene:
    """A card a step, in the order of writing."""
    check_steps(trace)
    looks = looks_of_steps(trace, view.layer, view.heads)
    way = trace.way
    half = ATTENTIONS[way.looks].half
    where = (
        "" if looks is None else f" · where it looked: {half} layer {looks.layer}, mean of heads"
    )
    below = f"{way.shows}, most probable words with their probabilities{where}"
    items = heading(way.title, below)
    n_others = max([len(step.alternatives) for step in trace.steps], default=0)
    height = 62 + n_others * _LINE + (0 if looks is None else 26 + _PLACES * _LINE) + 6
    top = HEADING + 10
    labels = trace.target.labels(trace.target.tokens, merges=False)
    n = len(trace.steps)
    n_rows = math.ceil(n / _IN_ROW)
    in_row = math.ceil(n / n_rows)
    for t in range(n):
        x = MARGIN + (t % in_row) * (_CARD + _APART)
        y = top + (t // in_row) * (height + _APART)
        items += _card(trace, looks, labels[t], t, x, y, height)
    width = max(2 * MARGIN + in_row * (_CARD + _APART) - _APART, heading_width(way.title, below))
    bottom = top + n_rows * (height + _APART)
    n_new = n - trace.n_given
    total = f"log P = {trace.log_probability:.2f} over {n_new} {way.steps}"
    return noted(items, [total], width, bottom + 8, view.theme)


def _card(
    trace: Trace, looks: Table | None, label: Label, t: int, x: float, y: float, height: float
) -> list[Item]:
    step = trace.steps[t]
    chosen = trace.target.tokens[t].id
    inner = _CARD - 2 * _INSIDE
    items: list[Item] = [
        Rectangle(x, y, _CARD, height, fill="panel", stroke="line", radius=8),
        Text(x + _INSIDE, y + 16, f"step {t}{_repeats(trace, t)}", SMALL - 1, "soft"),
        Text(
            x + _CARD - _INSIDE,
            y + 16,
            _percent(step.log_probability),
            SMALL - 1,
            "soft",
            "end",
            tip=f"log p = {step.log_probability:.3f}",
        ),
        Text(
            *(x + _INSIDE, y + 38, shortened(label.text, inner, BODY + 2), BODY + 2),
            "soft" if label.is_special or t < trace.n_given else "ink",
            is_bold=t >= trace.n_given,
            row=t,
        ),
    ]
    at = y + 62
    for other in step.alternatives:
        colour = "look" if other.id == chosen else "faint"
        items += _bar(x, at, printed(other.text), math.exp(other.log_probability), colour)
        at += _LINE
    if looks is not None:
        at += 8
        items.append(Text(x + _INSIDE, at, "looked at", SMALL - 1, "soft"))
        at += _LINE
        row = looks.weights[:, t].mean(0)
        seen = [j for j in np.argsort(-row, kind="stable")[:_PLACES].tolist() if row[j] > 0]
        for j in seen:  # a decoder does not see what comes later
            items += _bar(x, at, looks.columns[j].text, float(row[j]), "mark")
            at += _LINE
    return items


def _repeats(trace: Trace, t: int) -> str:
    """How often the decoder's layer was repeated for this step, where each may halt by itself."""
    depths = trace.depths.get("target", ())
    return f" · {depths[t]} repeats" if t < len(depths) else ""


def _bar(x: float, y: float, text: str, share: float, colour: str) -> list[Item]:
    """A word on a bar as long as its share, and the share in percent."""
    inner = _CARD - 2 * _INSIDE
    length = round(max(0.5, share * (inner - _NUMBER)), 2)
    return [
        Rectangle(*(x + _INSIDE - 3, y - 8, length + 3, 16), fill=colour, opacity=0.32, radius=3),
        Text(x + _INSIDE, y, shortened(text, inner - _NUMBER, _SHORT), _SHORT, "ink"),
        Text(x + _CARD - _INSIDE, y, _share(share), SMALL - 1, "soft", "end", tip=f"{share:.4f}"),
    ]


def _percent(log_probability: float) -> str:
    return f"p = {_share(math.exp(log_probability))}"


def _share(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.0095 else "< 1 %"
