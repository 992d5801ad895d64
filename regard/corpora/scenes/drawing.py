"""Scenes as pixels: shapes are conditions on a point, and edges are smooth by counting points."""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

from regard.corpora.scenes.layout import COLOURS, PAPERS, RADII, SIDE, parse_scene

Points = npt.NDArray[np.float64]
Inside = npt.NDArray[np.bool_]
_POINTS = 4  # of a pixel, each way

_TIPS = [(math.sin(turn), -math.cos(turn)) for turn in (0.4 * math.pi * n for n in range(5))]
_WAIST = math.cos(0.4 * math.pi)  # how far from its centre the lines of a star pass


def _star(u: Points, v: Points) -> Inside:
    """Within four of the five lines; stretched to touch its box on all sides."""
    u, v = u * math.sin(0.4 * math.pi), (v + 1) * (1 + math.cos(0.2 * math.pi)) / 2 - 1
    within: Inside = np.sum([x * u + y * v <= _WAIST for x, y in _TIPS], axis=0) >= 4
    return within


# Where u goes right and v goes down, both from -1 to 1.
SHAPES: dict[str, Callable[[Points, Points], Inside]] = {
    "circle": lambda u, v: u * u + v * v <= 1,
    "ring": lambda u, v: (u * u + v * v <= 1) & (u * u + v * v >= 0.3),
    "square": lambda u, v: np.ones_like(u + v, dtype=bool),
    "diamond": lambda u, v: abs(u) + abs(v) <= 1,
    "triangle": lambda u, v: 2 * abs(u) <= v + 1,
    "star": _star,
    "plus": lambda u, v: np.minimum(abs(u), abs(v)) <= 0.3,
    "cross": lambda u, v: abs(abs(u) - abs(v)) <= 0.4,
    "arrow": lambda u, v: (abs(v) <= 0.3) & (u <= 0) | (u >= 0) & (abs(v) <= 1 - u),
    "T": lambda u, v: (v <= -0.4) | (abs(u) <= 0.3),
    "L": lambda u, v: (v >= 0.4) | (u <= -0.4),
}


def draw_scene(text: str) -> npt.NDArray[np.uint8]:
    """The picture that a text describes, 64 × 64 × 3; the same text gives the same bytes."""
    scene = parse_scene(text)
    picture = np.tile(np.array(PAPERS[scene.paper], dtype=np.float64), (SIDE, SIDE, 1))
    for one in scene.objects:
        x0, y0, x1, y1 = one.box
        part = picture[y0:y1, x0:x1]
        part += _covered(one.kind, RADII[one.size]) * (np.array(COLOURS[one.colour]) - part)
    return np.rint(picture).astype(np.uint8)


@cache
def _covered(kind: str, radius: int) -> Points:
    """How much of each pixel of its box a shape covers."""
    places = (np.arange(2 * radius * _POINTS) + 0.5) / (radius * _POINTS) - 1
    inside = SHAPES[kind](places[None, :], places[:, None])
    side = 2 * radius
    covered: Points = inside.reshape(side, _POINTS, side, _POINTS).mean((1, 3))
    return covered[:, :, None]
