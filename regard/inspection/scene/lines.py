"""The lectures' picture: two columns of words, and lines as thick as one looks at the other."""

from collections.abc import Iterator

import numpy as np

from regard.inspection.figures.view import View, named, named_heads
from regard.inspection.scene.colours import head_colour
from regard.inspection.scene.frame import (
    BODY,
    HEADING,
    MARGIN,
    SMALL,
    head_names,
    heading,
    heading_width,
    noted,
)
from regard.inspection.scene.items import Item, Path, Rectangle, Scene, Text
from regard.inspection.scene.measure import text_width
from regard.inspection.trace import Table, Trace

ROW, GAP = 26.0, 240.0
_LEAST = 0.02  # of the attention; thinner lines are not seen
_THICK = 9.0
_MOST_LINES = 6_000  # more are neither seen nor drawn quickly
_LOUD = 0.1


def lines(trace: Trace, view: View) -> Scene:
    """Lines from each row (or the one chosen) to the columns it looks at, a colour a head."""
    table = view.table(trace)
    site = trace.site(table.kind, table.layer)
    focus = None if view.word is None else table.row(view.word)
    top_k = view.top_k or _usual_top_k(table)
    title = named(table)
    below = f"{named_heads(table.heads, site.n_heads)} · thicker = more attention" + (
        "" if top_k >= len(table.columns) else f" · the {top_k} strongest of each row and head"
    )
    left = MARGIN + max([text_width(label.text, BODY) for label in table.rows], default=0) + 8
    left = max(left, MARGIN + text_width(table.row_meaning, SMALL) + 8)
    right = left + GAP
    n = max(len(table.rows), len(table.columns))
    top = HEADING + 56
    items = heading(title, below)
    chips, chips_width = head_names(table.heads, MARGIN, HEADING + 16)
    items += chips if len(table.heads) > 1 else []
    items += [
        Text(left - 8, top - 20, table.row_meaning, SMALL, "soft", "end"),
        Text(right + 8, top - 20, "looks at", SMALL, "soft"),
    ]
    items += _columns(table, focus, left, right, top, n)
    items += _links(table, focus, top_k, left, right, top, n)
    widest = max([text_width(label.text, BODY) for label in table.columns] + [48.0])
    width = max(right + 8 + widest + MARGIN, heading_width(title, below), chips_width + 2 * MARGIN)
    return noted(items, [_flagged(table, site.is_uniform)], width, top + n * ROW + 12, view.theme)


def _usual_top_k(table: Table) -> int:
    n_rows = max(1, len(table.rows) * len(table.heads))
    return max(1, min(len(table.columns), _MOST_LINES // n_rows))


def _at(place: int, of: int, n: int, top: float) -> float:
    return top + (place + 0.5 + (n - of) / 2) * ROW


def _columns(
    table: Table, focus: int | None, left: float, right: float, top: float, n: int
) -> Iterator[Item]:
    shown = table.mean if focus is None else table.mean[focus : focus + 1]
    most = shown.max(0) if shown.size else np.zeros(len(table.columns))
    for i, label in enumerate(table.rows):
        y = _at(i, len(table.rows), n, top)
        is_loud = focus is None or i == focus
        colour = "soft" if label.is_special and is_loud else "ink" if is_loud else "faint"
        yield Text(left - 8, y, label.text, BODY, colour, "end", is_bold=i == focus, row=i)
    for j, label in enumerate(table.columns):
        y, weight = _at(j, len(table.columns), n, top), float(most[j])
        if focus is not None and weight >= _LEAST:
            width = text_width(label.text, BODY) + 10
            yield Rectangle(
                right + 3, y - 11, width, 22, fill="look", opacity=_round(weight / 2), radius=5
            )
        is_loud = focus is None or weight >= _LOUD
        colour = "soft" if label.is_special else "ink" if is_loud else "soft"
        tip = "" if focus is None else f"{label.text}: {weight:.3f}"
        yield Text(right + 8, y, label.text, BODY, colour, tip=tip, column=j)


def _links(
    table: Table, focus: int | None, top_k: int, left: float, right: float, top: float, n: int
) -> Iterator[Item]:
    """Faint lines first, so that strong ones lie on top; heads beside each other, not over."""
    weights = table.weights
    keeps = weights >= _LEAST
    if top_k < len(table.columns):
        strongest = np.argpartition(-weights, top_k - 1, axis=-1)[..., :top_k]
        is_strong = np.zeros_like(keeps)
        np.put_along_axis(is_strong, strongest, True, axis=-1)
        keeps &= is_strong
    if focus is not None:
        keeps[:, np.arange(len(table.rows)) != focus] = False
    places = np.argwhere(keeps)
    values = weights[keeps]
    order = np.argsort(values, kind="stable")
    n_heads = len(table.heads)
    for weight, (h, i, j) in zip(values[order].tolist(), places[order].tolist(), strict=True):
        aside = (h - (n_heads - 1) / 2) * min(2.4, 14 / n_heads)
        y1 = _at(i, len(table.rows), n, top) + aside
        y2 = _at(j, len(table.columns), n, top) + aside
        head = table.heads[h]
        yield Path(
            ((left, y1), (left + 0.4 * GAP, y1), (right - 0.4 * GAP, y2), (right, y2)),
            "look" if n_heads == 1 else head_colour(head),
            _round(max(0.6, _THICK * weight if n_heads == 1 else _THICK * weight / n_heads**0.4)),
            _round(min(1.0, 0.18 + 0.8 * weight)),
            is_curve=True,
            tip=f"{table.rows[i].text} → {table.columns[j].text}: {weight:.3f} (head {head})",
            head=head,
            row=i,
            column=j,
        )


def _flagged(table: Table, is_uniform: tuple[bool, ...]) -> str:
    even = [head for head in table.heads if is_uniform[head]]
    if not even:
        return ""
    said = ", ".join(str(head) for head in even)
    return f"head{'s' if len(even) > 1 else ''} {said}: almost the same weight everywhere"


def _round(value: float) -> float:
    return round(value, 3)
