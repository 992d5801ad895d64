"""Numbers as colours: brighter means more, warm above zero, cold below."""

import math

from rich.color import Color
from rich.style import Style

_Shade = tuple[int, int, int]

# Near zero a cell is almost black, so that on a dark terminal it fades into the ground.
_GROUND: _Shade = (22, 24, 30)
_WARM: tuple[_Shade, ...] = (_GROUND, (112, 42, 32), (217, 104, 44), (255, 214, 128))
_COLD: tuple[_Shade, ...] = (_GROUND, (28, 58, 110), (60, 128, 200), (176, 222, 255))

DIM = Style(dim=True)


def heat(strength: float) -> Style:
    """The style of a cell, for a strength from -1 (coldest) to 1 (warmest)."""
    if math.isnan(strength):
        return Style(bold=True, color="red")
    if math.isinf(strength):
        return DIM
    shade = _between(_COLD if strength < 0 else _WARM, min(1.0, abs(strength)))
    is_bright = 0.3 * shade[0] + 0.59 * shade[1] + 0.11 * shade[2] > 120
    return Style(
        color="#101014" if is_bright else "#e8e8ea", bgcolor=Color.from_rgb(*map(float, shade))
    )


def _between(shades: tuple[_Shade, ...], share: float) -> _Shade:
    place = share * (len(shades) - 1)
    low = min(int(place), len(shades) - 2)
    rest = place - low
    red, green, blue = (
        round(a + (b - a) * rest) for a, b in zip(shades[low], shades[low + 1], strict=True)
    )
    return red, green, blue
