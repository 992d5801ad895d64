"""A picture before it is drawn: texts, paths, boxes, heat maps and images, in plain numbers.

Colours are roles ("ink", "head2"), which a theme turns into colours; so one scene serves light and
dark. ``head``, ``row`` and ``column`` say what an item shows, for pages on which one can choose.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from regard.shapes import Float

Anchor = Literal["start", "middle", "end"]
Number = float | int
Point = tuple[Number, Number]


@dataclass(frozen=True)
class Text:
    """Words whose middle height is at ``y``; ``turned`` is in degrees, clockwise, around (x, y)."""

    x: Number
    y: Number
    text: str
    size: Number = 14.0
    colour: str = "ink"
    anchor: Anchor = "start"
    is_bold: bool = False
    turned: Number = 0.0
    tip: str = ""
    head: int | None = None
    row: int | None = None
    column: int | None = None


@dataclass(frozen=True)
class Path:
    """A line through points, or with ``is_curve`` a cubic curve of four (start, two pulls, end)."""

    points: tuple[Point, ...]
    colour: str = "ink"
    width: Number = 1.0
    opacity: Number = 1.0
    is_curve: bool = False
    is_dashed: bool = False
    tip: str = ""
    head: int | None = None
    row: int | None = None
    column: int | None = None


@dataclass(frozen=True)
class Rectangle:
    """A box, filled or outlined or both; an empty role leaves that out."""

    x: Number
    y: Number
    width: Number
    height: Number
    fill: str = ""
    stroke: str = ""
    opacity: Number = 1.0
    radius: Number = 0.0
    stroke_width: Number = 1.0
    tip: str = ""
    head: int | None = None
    row: int | None = None
    column: int | None = None


@dataclass(frozen=True, eq=False)
class Heat:
    """A matrix as shades: ``values`` from ``low`` to ``high`` along the theme's ramp of that name.

    Where it ``tells``, pointing at a cell names its row, its column and its value.
    """

    x: Number
    y: Number
    width: Number
    height: Number
    values: Float[np.ndarray, "R C"]
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    low: Number = 0.0
    high: Number = 1.0
    ramp: Literal["weights", "signed"] = "weights"
    tells: bool = True
    tip: str = ""


@dataclass(frozen=True, eq=False)
class Image:
    """A picture, and how brightly each part of it is seen: ``light`` from 0 to 1, cell by cell."""

    x: Number
    y: Number
    width: Number
    height: Number
    pixels: npt.NDArray[np.uint8]  # height × width × 3
    light: Float[np.ndarray, "R C"] | None = None
    tip: str = ""


Item = Text | Path | Rectangle | Heat | Image


@dataclass(frozen=True, eq=False)
class Scene:
    """All of a picture: its size in pixels, what is on it from back to front, and its theme."""

    width: Number
    height: Number
    items: tuple[Item, ...]
    title: str  # for those who hear the picture
    theme: str = "light"
