"""Digits as pixels: strokes of a pen that wavers, light on black, 28 × 28.

"digit 7, hand 4021" is a picture, exactly: the hand is a seed, from which the width of the pen, the
slant, the size and how far each point of a stroke is off all follow.
"""

import math
import re
from random import Random

import numpy as np
import numpy.typing as npt

from regard.errors import DataError, shortened

SIDE = 28
_TEXT = re.compile(r"digit ([0-9]), hand ([0-9]{1,12})")
_MIDDLES = np.arange(SIDE) + 0.5
Point = tuple[float, float]


def _arc(x: float, y: float, a: float, b: float, start: float, end: float) -> list[Point]:
    """Part of an ellipse, clockwise from the right in turns of a circle."""
    n = max(3, round(14 * abs(end - start)))
    turns = (start + (end - start) * k / n for k in range(n + 1))
    return [(x + a * math.cos(math.tau * t), y + b * math.sin(math.tau * t)) for t in turns]


# Strokes in a box from -1 to 1, y downwards.
_STROKES: dict[int, list[list[Point]]] = {
    0: [_arc(0, 0, 0.6, 0.95, -0.25, 0.75)],
    1: [[(-0.35, -0.55), (0.05, -0.95), (0.05, 0.95)]],
    2: [[*_arc(0, -0.45, 0.55, 0.5, -0.5, 0.1), (-0.6, 0.95), (0.65, 0.95)]],
    3: [
        [
            *_arc(-0.05, -0.48, 0.5, 0.46, -0.45, 0.25),
            *_arc(-0.05, 0.47, 0.6, 0.49, -0.25, 0.45),
        ]
    ],
    4: [[(0.25, 0.95), (0.25, -0.95), (-0.65, 0.35), (0.7, 0.35)]],
    5: [[(0.55, -0.95), (-0.45, -0.95), (-0.5, -0.1), *_arc(-0.05, 0.35, 0.6, 0.58, -0.32, 0.42)]],
    6: [[(0.35, -0.95), (-0.3, -0.3), *_arc(0, 0.4, 0.55, 0.55, 0.5, 1.5)]],
    7: [[(-0.6, -0.95), (0.6, -0.95), (-0.1, 0.95)]],
    8: [[*_arc(0, -0.48, 0.45, 0.46, 0.25, 1.25), *_arc(0, 0.47, 0.58, 0.49, -0.25, 0.75)]],
    9: [[*_arc(0, -0.4, 0.5, 0.52, 0.0, 1.0), (0.45, 0.2), (0.25, 0.95)]],
}


def is_digit(text: str) -> bool:
    """Whether a text says that it is a digit."""
    return text.startswith("digit ")


def draw_digit(text: str) -> npt.NDArray[np.uint8]:
    """The picture that a text names, 28 × 28 × 3 and grey; the same text gives the same bytes."""
    found = _TEXT.fullmatch(text)
    if found is None:
        raise DataError(
            f"{shortened(text)!r} is no digit: write the digit and a hand, as 'digit 7, hand 4021'."
        )
    starts, ends, pen = _written(int(found[1]), Random(text))  # noqa: S311 - the same everywhere
    # How far the middle of every pixel is from every line: its ink fades over one pixel.
    (x0, y0), (x, y) = starts.T, (ends - starts).T
    u, v = _MIDDLES[None, :, None] - x0, _MIDDLES[:, None, None] - y0
    along = np.clip((u * x + v * y) / np.maximum(x * x + y * y, 1e-9), 0, 1)
    squares = (u - along * x) ** 2 + (v - along * y) ** 2
    ink = np.clip(pen + 0.5 - np.sqrt(squares.min(-1)), 0, 1)
    grey = np.rint(255 * ink).astype(np.uint8)
    return np.repeat(grey[:, :, None], 3, axis=2)


def _written(
    digit: int, random: Random
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]:
    """Beginnings and ends of short lines in pixels, and half the width of the pen."""
    size, thin = random.uniform(7.0, 10.5), random.uniform(0.65, 1.05)
    slant, turn = random.gauss(0.12, 0.15), random.gauss(0, 0.12)
    middle = [SIDE / 2 + random.uniform(-2, 2) for _ in range(2)]
    starts, ends = [], []
    for stroke in _STROKES[digit]:
        points = []
        for x, y in stroke:
            x, y = x + random.gauss(0, 0.05), y + random.gauss(0, 0.05)
            x, y = thin * x - slant * y, y
            x, y = (
                math.cos(turn) * x - math.sin(turn) * y,
                math.sin(turn) * x + math.cos(turn) * y,
            )
            points.append((middle[0] + size * x, middle[1] + size * y))
        starts += points[:-1]
        ends += points[1:]
    return np.array(starts), np.array(ends), random.uniform(0.8, 1.7)
