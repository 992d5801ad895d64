"""What is where in a picture, and the text that says so exactly.

"cream paper; circle red large 14 40; T blue small 44 38": the background, then kind, colour, size
and centre of each object, in pixels from the top left of a picture of 64 × 64.
"""

import re
from dataclasses import dataclass

from regard.corpora.interface import Box
from regard.errors import DataError, shortened

SIDE = 64  # pixels, of a picture
RADII = {"small": 6, "medium": 9, "large": 12}  # half the side of an object's box
KINDS = (
    "circle", "ring", "square", "diamond", "triangle", "star", "plus", "cross", "arrow", "T", "L",
)  # fmt: skip
COLOURS = {
    "red": (214, 39, 40),
    "orange": (255, 140, 0),
    "yellow": (240, 208, 0),
    "green": (40, 150, 60),
    "blue": (40, 90, 220),
    "purple": (140, 60, 180),
    "black": (24, 24, 24),
}
PAPERS = {
    "white": (255, 255, 255),
    "grey": (232, 232, 232),
    "cream": (252, 246, 228),
    "mint": (232, 250, 238),
    "sky": (230, 242, 255),
    "rose": (255, 236, 240),
}
_OBJECT = (
    rf"(?P<kind>{'|'.join(KINDS)}) (?P<colour>{'|'.join(COLOURS)}) "
    rf"(?P<size>{'|'.join(RADII)}) (?P<x>\d\d?) (?P<y>\d\d?)"
)
_SCENE = re.compile(rf"({'|'.join(PAPERS)}) paper((?:; [^;]+)*)")


@dataclass(frozen=True)
class SceneObject:
    """A shape or a sign: what it is, and where its centre is."""

    kind: str
    colour: str
    size: str
    x: int
    y: int

    @property
    def box(self) -> Box:
        """The pixels it may touch."""
        radius = RADII[self.size]
        return self.x - radius, self.y - radius, self.x + radius, self.y + radius

    def __str__(self) -> str:
        return f"{self.kind} {self.colour} {self.size} {self.x} {self.y}"


@dataclass(frozen=True)
class SceneLayout:
    """The objects of a picture, on paper of a colour."""

    paper: str
    objects: tuple[SceneObject, ...]

    def __str__(self) -> str:
        return "; ".join((f"{self.paper} paper", *map(str, self.objects)))


def is_scene(text: str) -> bool:
    """Whether a text says that it is a scene: it begins with paper."""
    return _SCENE.fullmatch(text) is not None


def parse_scene(text: str) -> SceneLayout:
    """Read what describes a scene, and check that it can be drawn."""
    found = _SCENE.fullmatch(text)
    if found is None:
        raise DataError(
            f"{shortened(text)!r} is not a scene: begin with the paper ({', '.join(PAPERS)}), as "
            "in 'white paper; circle red large 14 40'."
        )
    return SceneLayout(found[1], tuple(_object(part) for part in found[2].split("; ")[1:]))


def _object(text: str) -> SceneObject:
    found = re.fullmatch(_OBJECT, text)
    if found is None:
        raise DataError(
            f"{shortened(text)!r} is not an object of a scene: write kind, colour, size and centre,"
            f" as in 'circle red large 14 40'; kinds are {', '.join(KINDS)}, colours "
            f"{', '.join(COLOURS)}, sizes {', '.join(RADII)}."
        )
    kind, colour, size, x, y = found.groups()
    made = SceneObject(kind, colour, size, int(x), int(y))
    if min(made.box) < 0 or max(made.box) > SIDE:
        low, high = RADII[size], SIDE - RADII[size]
        raise DataError(
            f"{text!r} does not fit into the picture: the centre of an object that is {size} lies "
            f"between {low} and {high}."
        )
    return made
