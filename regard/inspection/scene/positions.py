"""The position encoding: a vector for every place, and the waves its columns are."""

import numpy as np

from regard.errors import UsageError
from regard.inspection.figures.view import View
from regard.inspection.scene.frame import (
    BODY,
    HEADING,
    MARGIN,
    SMALL,
    heading,
    heading_width,
    noted,
)
from regard.inspection.scene.items import Heat, Item, Path, Scene, Text
from regard.inspection.trace import Trace
from regard.shapes import Float

_WIDTH, _HEIGHT, _WAVES = 620.0, 340.0, 110.0


def positions(trace: Trace, view: View) -> Scene:
    """What the model adds to the word at each place; pointing at a row names the first words."""
    encoding = trace.positions
    if encoding is None:
        raise UsageError(
            f"{trace.provenance.model} adds nothing for the place of a word: the positions view is "
            "for Transformers and convolutions"
        )
    n_places, width = encoding.shape
    title = f"Position encoding: {n_places} places, {width} numbers each"
    below = "every row is added to the word at that place · columns are waves, ever slower"
    items = heading(title, below)
    text, tokens = trace.read(trace.way.reads[0])
    words = [label.text for label in text.labels(tokens, merges=False)]
    row = _HEIGHT / n_places
    left, top = MARGIN + 56.0, HEADING + 22
    high = float(np.abs(encoding).max()) or 1.0
    items.append(
        Heat(
            *(left, top, _WIDTH, _HEIGHT),
            encoding,
            tuple(
                f"place {i} ({words[i]})" if i < len(words) else f"place {i}"
                for i in range(n_places)
            ),
            tuple(f"column {j}" for j in range(width)),
            low=-high,
            high=high,
            ramp="signed",
        )
    )
    for i in range(0, n_places, max(1, int(np.ceil(14 / row)))):
        y = top + (i + 0.5) * row
        items.append(Text(left - 8, y, str(i), SMALL, "soft", "end"))
    for j in range(0, width, max(1, width // 8)):
        x = left + (j + 0.5) * _WIDTH / width
        items.append(Text(x, top - 10, str(j), SMALL, "soft", "middle"))
    bottom = top + _HEIGHT + 40
    items += _waves(encoding, left, bottom, high)
    total = max(left + _WIDTH + MARGIN, heading_width(title, below))
    return noted(items, [], total, bottom + _WAVES + MARGIN + 6, view.theme)


def _waves(encoding: Float[np.ndarray, "L D"], left: float, top: float, high: float) -> list[Item]:
    """Four columns as curves over the places."""
    n_places, width = encoding.shape
    columns = sorted({min(width - 1, c) for c in (0, width // 8, width // 4, width // 2)})
    middle, half = top + _WAVES / 2, _WAVES / 2
    items: list[Item] = [
        Text(left, top - 14, "columns over places", BODY - 1, "ink", is_bold=True),
        Path(((left, middle), (left + _WIDTH, middle)), "line", 1.0),
        Text(left - 8, top, f"{high:.2g}", SMALL, "soft", "end"),
        Text(left - 8, top + _WAVES, f"-{high:.2g}", SMALL, "soft", "end"),
    ]
    step = _WIDTH / max(1, n_places - 1)
    key = left + 160
    for order, column in enumerate(columns):
        points = tuple(
            (round(left + i * step, 2), round(middle - half * float(value) / high, 2))
            for i, value in enumerate(encoding[:, column])
        )
        colour = f"head{order}"
        items.append(Path(points, colour, 1.8, tip=f"column {column}"))
        items.append(Path(((key, top - 14), (key + 18, top - 14)), colour, 2.5))
        items.append(Text(key + 24, top - 14, str(column), SMALL, "soft"))
        key += 62
    return items
