"""Where a captioner looked for each word: the picture again and again, bright where it looked.

As in Show, Attend and Tell (Xu et al. 2015, figures 2 to 5): the weights of a word over the cells
of the picture, made as large as it is, the cells blending into each other.
"""

import math

import numpy as np
import numpy.typing as npt

from regard.inspection.figures.view import View, named, named_heads, pictured
from regard.inspection.scene.frame import (
    BODY,
    HEADING,
    MARGIN,
    heading,
    heading_width,
    noted,
)
from regard.inspection.scene.items import Image, Rectangle, Scene, Text
from regard.inspection.scene.measure import shortened
from regard.inspection.trace import Trace

_SIDE, _APART, _WORD = 140.0, 14.0, 24.0
_IN_ROW = 6
_MOST_PIXELS = 320  # along a side, in files: more are not seen


def pictures(trace: Trace, view: View) -> Scene:
    """The picture, then once more under each word, in the order of writing."""
    picture, table = pictured(trace, view)
    n_heads = trace.site(table.kind, table.layer).n_heads
    mean = "mean of " if len(table.heads) > 1 else ""
    title = "Where it looked for each word"
    below = (
        f"{named(table)[0].lower()}{named(table)[1:]}, {mean}{named_heads(table.heads, n_heads)} · "
        f"{picture.grid[0]} × {picture.grid[1]} cells · brighter = more attention"
    )
    pixels = _shrunk(picture.pixels)
    scale = _SIDE / max(pixels.shape[:2])
    height, width = (max(24.0, round(scale * side, 1)) for side in pixels.shape[:2])
    across = max(width, _SIDE / 2)  # words need room beside a tall picture, too
    items = heading(title, below)
    n = len(table.rows) + 1
    in_row = math.ceil(n / math.ceil(n / _IN_ROW))
    for k in range(n):
        x = MARGIN + (k % in_row) * (across + _APART) + (across - width) / 2
        y = HEADING + 12 + (k // in_row) * (_WORD + height + _APART)
        label, tip, light, colour = "the picture", picture.text, None, "soft"
        if k:
            row, label = table.mean[k - 1], table.rows[k - 1].text
            light = (row / (row.max() or 1.0)).reshape(picture.grid)
            best = int(row.argmax())
            tip = f"{label} → {table.columns[best].text}: {row[best]:.3f}"
            colour = "soft" if table.rows[k - 1].is_special else "ink"
        said = shortened(label, across, BODY)
        items += [
            Text(x + width / 2, y + 10, said, BODY, colour, "middle", is_bold=k > 0),
            Image(x, y + _WORD, width, height, pixels, light, tip),
            Rectangle(x, y + _WORD, width, height, stroke="line"),
        ]
    bottom = HEADING + 12 + math.ceil(n / in_row) * (_WORD + height + _APART)
    right = 2 * MARGIN + in_row * (across + _APART) - _APART
    note = "full brightness: the largest weight of that word"
    return noted(items, [note], max(right, heading_width(title, below)), bottom, view.theme)


def _shrunk(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    from PIL import Image as Pillow

    image = Pillow.fromarray(pixels)
    image.thumbnail((_MOST_PIXELS, _MOST_PIXELS))
    return np.asarray(image)
