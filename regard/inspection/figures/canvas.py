"""The drawing surface: pixels from the top left, text measured with the fonts that draw it.

So nothing is cut and nothing overlaps. What repeats (boxes, curves) is one matplotlib collection.
"""

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, Literal

import numpy as np

from regard.inspection.figures.drawing import INCH, DrawnFigure, printable, ramp, styled
from regard.inspection.fonts import FAMILIES, quiet_matplotlib, register
from regard.shapes import Float

MARGIN = 20.0
TITLE, BODY, SMALL = 17.0, 14.0, 11.5
HEADING = 52.0  # what a title and the line below it take
_POINT = 72.0 / INCH
_ABOVE = 10_000  # where texts lie
Number = float | int
Anchor = Literal["start", "middle", "end"]
Box = tuple[Number, Number, Number, Number]  # x, y, width, height
_SIDES = {"start": "left", "middle": "center", "end": "right"}
_BEFORE = {"left": 0.0, "center": 0.5, "right": 1.0}  # how much of a text lies before its place


@lru_cache(maxsize=20_000)
def _measured(text: str, weight: str) -> float:
    """How wide a text is at the size of one pixel, by the renderer of PNG files."""
    with quiet_matplotlib():
        renderer, font = _ruler(weight)
        return float(renderer.get_text_width_height_descent(text, font, ismath=False)[0]) / 100


@cache
def _ruler(weight: str) -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.font_manager import FontProperties

    register()
    renderer = RendererAgg(1, 1, 72)  # type: ignore[no-untyped-call]
    return renderer, FontProperties(family=list(FAMILIES), weight=weight, size=100)


@cache
def _line() -> Any:
    """Text in one line whose length is known: matplotlib need not lay it out to draw it."""
    from matplotlib.text import Text

    class Line(Text):
        length = 0.0  # pixels of the picture

        def draw(self, renderer: Any) -> None:
            x, y = self.get_transform().transform(self.get_unitless_position())
            before = _BEFORE[self.get_horizontalalignment()]
            back = before * self.length * renderer.points_to_pixels(_POINT)
            angle = math.radians(self.get_rotation())
            x, y = x - back * math.cos(angle), y - back * math.sin(angle)
            if renderer.flipy():
                y = renderer.get_canvas_width_height()[1] - y
            context = renderer.new_gc()
            context.set_foreground(self.get_color())
            renderer.draw_text(
                context, x, y, self.get_text(), self.get_fontproperties(), self.get_rotation(),
                ismath=False, mtext=self,
            )  # fmt: skip
            context.restore()

    return Line


class Canvas:
    """A figure while it is drawn: x to the right and y downwards, in pixels."""

    def __init__(self, theme: str = "light") -> None:
        self.theme = theme
        with styled(theme) as self.colours:
            from matplotlib.figure import Figure

            self.figure = Figure()
            self.axes = self.figure.add_axes((0, 0, 1, 1))
            self.axes.axis("off")
        self.right = self.bottom = 0.0  # where what was drawn ends
        self._n_layers = 0
        self._title = ""

    @staticmethod
    def text_width(text: str, size: Number = BODY, *, is_bold: bool = False) -> float:
        """How many pixels a text takes in the fonts of pictures."""
        said = printable(text)
        return size * _measured(said, "bold" if is_bold else "normal") if said else 0.0

    @staticmethod
    def widest(texts: Sequence[str], size: Number = BODY, *, is_bold: bool = False) -> float:
        """The width of the longest of them."""
        return max((Canvas.text_width(text, size, is_bold=is_bold) for text in texts), default=0.0)

    @staticmethod
    def shortened(text: str, most: Number, size: Number = BODY, *, is_bold: bool = False) -> str:
        """The text, or as much of its beginning as fits, and dots."""
        if Canvas.text_width(text, size, is_bold=is_bold) <= most:
            return text
        fits, fails = 0, len(text)
        while fails - fits > 1:
            middle = (fits + fails) // 2
            is_short = Canvas.text_width(text[:middle] + "…", size, is_bold=is_bold) <= most
            fits, fails = (middle, fails) if is_short else (fits, middle)
        return text[:fits].rstrip() + "…"

    def text(
        self, x: Number, y: Number, text: str, size: Number = BODY, colour: str = "ink",
        anchor: Anchor = "start", *, is_bold: bool = False, turned: Number = 0.0,
    ) -> None:  # fmt: skip
        """Words whose middle height is at ``y``; ``turned`` upwards by so many degrees."""
        said, angle = printable(text), math.radians(turned)
        if not said:
            return
        # The middle of a line is a third above its foot, in any script.
        below = 0.35 * size
        artist = _line()(
            x + below * math.sin(angle), y + below * math.cos(angle), said, size=size * _POINT,
            family=list(FAMILIES), weight="bold" if is_bold else "normal",
            color=self.colours[colour], ha=_SIDES[anchor], va="baseline", rotation=turned,
            rotation_mode="anchor", parse_math=False, zorder=_ABOVE,
        )  # fmt: skip
        artist.length = self.text_width(said, size, is_bold=is_bold)
        self.axes.add_artist(artist)
        reach = (1 - _BEFORE[_SIDES[anchor]]) * artist.length
        self.reach(x + reach * math.cos(angle) + below * math.sin(angle), y + 0.6 * size)

    def heading(self, title: str, below: str) -> None:
        """A title and a softer line below it, at the top."""
        self._title = title
        self.text(MARGIN, MARGIN + 6, title, TITLE, is_bold=True)
        self.text(MARGIN, MARGIN + 27, below, SMALL, "soft")

    def boxes(
        self, places: Sequence[Box], *, fill: str = "",
        stroke: str = "", opacity: Number | Sequence[float] = 1.0, radius: Number = 0.0,
        width: Number = 1.0, hatch: str = "",
    ) -> None:  # fmt: skip
        """Boxes (x, y, width, height) of one kind, filled or outlined or both."""
        from matplotlib.collections import PatchCollection
        from matplotlib.colors import to_rgba
        from matplotlib.patches import FancyBboxPatch

        if not places:
            return
        style = f"round,pad=0,rounding_size={radius}" if radius else "square,pad=0"
        opacities = np.broadcast_to(opacity, len(places)).tolist()
        collection = PatchCollection(
            [FancyBboxPatch((x, y), w, h, boxstyle=style) for x, y, w, h in places],
            facecolors=[to_rgba(self.colours[fill], one) for one in opacities] if fill else "none",
            edgecolors=self.colours[stroke] if stroke else "none",
            linewidths=width * _POINT if stroke and not hatch else 0.0,
            hatch=hatch or None,
        )
        self._put(collection)
        self.reach(max(x + w for x, _, w, _ in places), max(y + h for _, y, _, h in places))

    def curves(
        self, points: Sequence[Any] | np.ndarray, colours: str | Sequence[str] = "ink",
        widths: Number | np.ndarray = 1.0, opacities: Number | np.ndarray = 1.0, *,
        is_smooth: bool = False,
    ) -> None:  # fmt: skip
        """Lines through points (x, y); smooth ones have four each: start, two pulls, end."""
        from matplotlib.collections import PathCollection
        from matplotlib.colors import to_rgba_array
        from matplotlib.path import Path as Outline

        n = len(points)
        if not n:
            return
        codes = [Outline.MOVETO, *[Outline.CURVE4] * 3] if is_smooth else None
        roles = [colours] * n if isinstance(colours, str) else colours
        inks = to_rgba_array(
            [self.colours[role] for role in roles], np.broadcast_to(opacities, n).tolist()
        )
        thick = np.broadcast_to(np.asarray(widths) * _POINT, n)
        outlines = [Outline(one, codes) for one in points]
        self._put(PathCollection(outlines, facecolors="none", edgecolors=inks, linewidths=thick))

    def heat(
        self, x: Number, y: Number, width: Number, height: Number, values: Float[np.ndarray, "R C"],
        *, low: Number = 0.0, high: Number = 1.0, name: str = "weights", most_shapes: int = 3_000,
    ) -> None:  # fmt: skip
        """A matrix as shades along a ramp; few cells are shapes, more of them an image."""
        from matplotlib.collections import QuadMesh
        from matplotlib.colors import Normalize

        n_rows, n_columns = values.shape
        if not values.size:
            return
        how: dict[str, Any] = {"cmap": ramp(self.theme, name), "norm": Normalize(low, high)}
        if values.size <= most_shapes:
            corners = np.meshgrid(
                np.linspace(x, x + width, n_columns + 1), np.linspace(y, y + height, n_rows + 1)
            )
            # Edges of the cells' own colours: viewers leave seams between shapes without.
            edges: dict[str, Any] = {"edgecolors": "face", "linewidth": 0.3, "antialiased": False}
            mesh = QuadMesh(np.stack(corners, -1), **edges, **how)
            mesh.set_array(values)
            self._put(mesh)
        else:
            # Cells finer than pixels are blended, others keep their edges.
            is_fine = min(width / n_columns, height / n_rows) < 1
            self.image(x, y, width, height, values, "antialiased" if is_fine else "none", **how)
        self.reach(x + width, y + height)

    def image(
        self, x: Number, y: Number, width: Number, height: Number, pixels: np.ndarray,
        interpolation: str = "none", **how: Any,
    ) -> None:  # fmt: skip
        """A picture of height × width × 3, or numbers that have shades."""
        from matplotlib.image import AxesImage

        drawn = AxesImage(self.axes, interpolation=interpolation, origin="upper", **how)
        drawn.set_data(pixels)
        drawn.set_extent((x, x + width, y + height, y))
        self._put(drawn)
        self.reach(x + width, y + height)

    def scale(
        self, x: Number, y: Number, high: Number = 1.0, *, low: Number = 0.0, name: str = "weights",
        meaning: str = "", is_open: bool = False,
    ) -> float:  # fmt: skip
        """What the shades mean; gives back where it ends. An open one has values beyond its end."""
        left, right = f"{low:g}", f"{'≥ ' if is_open else ''}{high:g}"
        start = x + self.text_width(left, SMALL) + 6
        self.text(x, y, left, SMALL, "soft")
        shades = np.linspace(low, high, 64)[None]
        self.heat(start, y - 5, 120, 10, shades, low=low, high=high, name=name, most_shapes=0)
        self.boxes([(start, y - 5, 120, 10)], stroke="line")
        said = f"{right}  {meaning}".rstrip()
        self.text(start + 126, y, said, SMALL, "soft")
        return start + 126 + self.text_width(said, SMALL)

    def reach(self, x: Number, y: Number) -> None:
        """Let the picture be at least so large, and a margin more."""
        self.right, self.bottom = max(self.right, x), max(self.bottom, y)

    def note(self, text: str) -> None:
        """A soft line below everything."""
        self.text(MARGIN, self.bottom + 20, text, SMALL, "soft")

    def finished(self, title: str = "") -> DrawnFigure:
        """The drawing, as large as what is on it."""
        width, height = round(self.right + MARGIN), round(self.bottom + MARGIN)
        self.axes.set(xlim=(0, width), ylim=(height, 0))
        self.figure.set_size_inches(width / INCH, height / INCH)
        return DrawnFigure(self.figure, title or self._title, self.theme)

    def _put(self, artist: Any) -> None:
        """What is drawn later lies above what was drawn before."""
        self._n_layers += 1
        artist.set(zorder=self._n_layers, clip_on=False)
        self.axes.add_artist(artist)
