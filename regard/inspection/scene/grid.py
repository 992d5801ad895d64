"""Every head of every layer at a glance: a small matrix each."""

import numpy as np

from regard.inspection.scene.frame import (
    HEADING,
    MARGIN,
    SMALL,
    capitalised,
    heading,
    heading_width,
    noted,
)
from regard.inspection.scene.items import Heat, Rectangle, Scene, Text
from regard.inspection.scene.view import View
from regard.inspection.trace import Trace, table
from regard.shapes import Float

_MOST_CELLS = 132  # along a side of a small matrix: as many as its pixels
_LONG, _SHORT, _APART, _NAMES = 132.0, 44.0, 14.0, 62.0


def grid(trace: Trace, view: View) -> Scene:
    """Layers downwards, heads to the right; a dashed name marks a head that prefers nothing."""
    kind = view.kind(trace)
    layers = trace.layers(kind)
    if view.layer is not None or not layers:
        layers = (trace.site(kind, view.layer or 0).layer,)
    tables = []
    for layer in layers:
        one = table(
            trace,
            kind,
            layer,
            heads=view.heads,
            reading=view.reading,
            merges=view.merges,
        )
        tables.append(one.without_special() if view.hides_special else one)
    title = f"{capitalised(trace.sites_of(kind)[0].attention.name)}, every head"
    first = tables[0]
    below = (
        f"{len(first.rows)} rows: {first.row_meaning} · "
        f"{len(first.columns)} columns: looks at · stronger = more"
    )
    items = heading(title, below)
    longest = max(len(first.rows), len(first.columns), 1)
    width = max(_SHORT, _LONG * len(first.columns) / longest)
    height = max(_SHORT, _LONG * len(first.rows) / longest)
    left, top = MARGIN + _NAMES, HEADING + 34
    for place, head in enumerate(first.heads):
        x = left + place * (width + _APART)
        items.append(Text(x + width / 2, top - 12, f"head {head}", SMALL, "soft", "middle"))
    has_uniform = False
    for down, one in enumerate(tables):
        y = top + down * (height + _APART)
        items.append(Text(left - 10, y + height / 2, f"layer {one.layer}", SMALL, "soft", "end"))
        is_uniform = trace.site(one.kind, one.layer).is_uniform
        for place, head in enumerate(one.heads):
            x = left + place * (width + _APART)
            even = is_uniform[head]
            has_uniform |= even
            tip = f"layer {one.layer}, head {head}" + (": nearly uniform" if even else "")
            small = _pooled(one.weights[place])
            items.append(Heat(x, y, width, height, small, tells=False, tip=tip))
            items.append(
                Rectangle(
                    *(x - 0.5, y - 0.5, width + 1, height + 1),
                    stroke="mark" if even else "line",
                    stroke_width=1.5 if even else 1.0,
                )
            )
    n_heads = len(first.heads)
    right = left + n_heads * (width + _APART) - _APART + MARGIN
    notes = ["outlined: almost the same weight everywhere"] if has_uniform else []
    bottom = top + len(tables) * (height + _APART) + 6
    return noted(items, notes, max(right, heading_width(title, below)), bottom, view.theme)


def _pooled(values: Float[np.ndarray, "R C"]) -> Float[np.ndarray, "r c"]:
    """The largest of each block, so that a thin diagonal of a long sentence is still seen."""
    for axis in (0, 1):
        n = values.shape[axis]
        block = -(-n // _MOST_CELLS)
        if block > 1:
            values = np.maximum.reduceat(values, np.arange(0, n, block), axis=axis)
    return values
