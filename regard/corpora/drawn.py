"""Texts that are pictures: what the sources of some corpora describe exactly, drawn."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from regard.corpora.digits import draw_digit, is_digit
from regard.corpora.scenes import draw_scene, is_scene

_DRAWN: tuple[tuple[Callable[[str], bool], Callable[[str], npt.NDArray[np.uint8]]], ...] = (
    (is_scene, draw_scene),
    (is_digit, draw_digit),
)


def is_drawn(text: str) -> bool:
    """Whether a text describes a picture."""
    return any(knows(text) for knows, _ in _DRAWN)


def draw(text: str) -> npt.NDArray[np.uint8]:
    """The picture that a text describes, height × width × 3; the same text gives the same bytes."""
    return next(draw(text) for knows, draw in _DRAWN if knows(text))
