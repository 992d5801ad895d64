"""The alignment of a translation: which source word each target word came from."""

import numpy as np

from regard.inspection.scene.frame import (
    HEADING,
    MARGIN,
    SMALL,
    heading,
    heading_width,
    named_heads,
    noted,
)
from regard.inspection.scene.items import Rectangle, Scene, Text
from regard.inspection.scene.matrix import ramp_bar, squares
from regard.inspection.scene.view import View, check_across
from regard.inspection.trace import Trace, table


def alignment(trace: Trace, view: View) -> Scene:
    """Target words over source words, in the layer that aligns best; the largest are outlined.

    <EOS> is left out and what remains of a row sums to one again, as ``Translator.align`` does.
    """
    check_across(trace, "alignment")
    found = table(
        trace,
        "cross",
        view.layer,
        heads=view.heads,
        reading=view.reading,
        merges=view.merges,
    )
    found = found.without_special()
    values = found.mean
    totals = values.sum(-1, keepdims=True)
    values = np.divide(values, totals, out=values.copy(), where=totals > 0)
    title = "Which source word each word looked at"
    n_heads = trace.site("cross", found.layer).n_heads
    mean = "mean of " if len(found.heads) > 1 else ""
    below = (
        f"decoder layer {found.layer}, {mean}{named_heads(found.heads, n_heads)} · "
        f"rows: {found.row_meaning} · columns: source"
    )
    items = heading(title, below)
    drawn = squares(values, found.rows, found.columns, MARGIN, HEADING + 8)
    items += drawn.items
    cell = drawn.cell
    if cell >= 6 and len(found.columns):
        for i, row in enumerate(values):
            j = int(row.argmax())
            items.append(
                Rectangle(
                    drawn.left + j * cell + 1,
                    drawn.top + i * cell + 1,
                    cell - 2,
                    cell - 2,
                    stroke="mark",
                    stroke_width=1.8,
                    radius=2,
                )
            )
    bar = drawn.bottom + 18
    items += ramp_bar(drawn.left, bar)
    items.append(Rectangle(drawn.left + 172, bar - 5, 10, 10, stroke="mark", stroke_width=1.8))
    items.append(Text(drawn.left + 188, bar, "largest of the row", SMALL, "soft"))
    width = max(drawn.right + MARGIN, heading_width(title, below), drawn.left + 310)
    return noted(items, [], width, bar + 24, view.theme)
