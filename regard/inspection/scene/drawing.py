"""A scene as PNG or PDF, drawn by matplotlib item by item."""

import io
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from regard.inspection.figures.drawing import styled
from regard.inspection.scene.bitmap import coloured, lit
from regard.inspection.scene.colours import COLOURS
from regard.inspection.scene.items import Heat, Image, Item, Path, Rectangle, Scene, Text
from regard.inspection.scene.svg import printable

_PIXELS = 96.0  # of a scene, in an inch
_POINTS = 72.0 / _PIXELS
_SHARPNESS = 2.0  # dots of a PNG for each pixel of the scene
_MOST_DOTS = 8e6  # of a PNG, unless the scene itself has more pixels

# Dates and versions would make the bytes differ from day to day.
_WITHOUT_DATES: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def draw(scene: Scene, kind: str) -> bytes:
    """The file's bytes, of kind "png" or "pdf"."""
    colours = COLOURS[scene.theme]
    size = scene.width / _PIXELS, scene.height / _PIXELS
    with styled(scene.theme):
        from matplotlib.figure import Figure

        figure = Figure(figsize=size)
        figure.set_facecolor(colours["ground"])
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, scene.width), ylim=(scene.height, 0))
        axes.axis("off")
        for order, (kind_of_item, group) in enumerate(groupby(scene.items, key=type)):
            _put(axes, kind_of_item, list(group), scene.theme, order + 1)
        sharpness = (_MOST_DOTS / (scene.width * scene.height)) ** 0.5
        sharpness = min(_SHARPNESS, max(1.0, sharpness))
        written = io.BytesIO()
        figure.savefig(written, format=kind, dpi=_PIXELS * sharpness, metadata=_WITHOUT_DATES[kind])
    return written.getvalue()


def _put(axes: Any, kind: type, items: Sequence[Item], theme: str, order: int) -> None:
    colours = COLOURS[theme]
    if kind is Path:
        _paths(axes, [item for item in items if isinstance(item, Path)], colours, order)
        return
    for item in items:
        match item:
            case Text():
                _text(axes, item, colours, order)
            case Rectangle():
                _rectangle(axes, item, colours, order)
            case Heat():
                if item.values.size:
                    _image(axes, item, coloured(item, theme), "nearest", order)
            case Image():
                _image(axes, item, lit(item), "antialiased", order)
            case Path():
                pass  # all were put at once


def _text(axes: Any, item: Text, colours: dict[str, str], order: int) -> None:
    # A name between dollars would be read as a formula.
    axes.text(
        item.x,
        item.y,
        printable(item.text),
        fontsize=item.size * _POINTS,
        color=colours[item.colour],
        ha={"start": "left", "middle": "center", "end": "right"}[item.anchor],
        va="center_baseline" if not item.turned else "center",
        rotation=-item.turned,
        rotation_mode="anchor",
        fontweight="bold" if item.is_bold else "normal",
        parse_math=False,
        zorder=order,
    )


def _paths(axes: Any, items: Sequence[Path], colours: dict[str, str], order: int) -> None:
    """All at once: thousands of them one by one would take seconds."""
    from matplotlib.collections import PathCollection
    from matplotlib.colors import to_rgba
    from matplotlib.path import Path as Outline

    curve = [Outline.MOVETO, Outline.CURVE4, Outline.CURVE4, Outline.CURVE4]
    outlines = [Outline(item.points, curve if item.is_curve else None) for item in items]
    axes.add_collection(
        PathCollection(
            outlines,
            facecolors="none",
            edgecolors=[to_rgba(colours[item.colour], item.opacity) for item in items],
            linewidths=[item.width * _POINTS for item in items],
            linestyles=["--" if item.is_dashed else "-" for item in items],
            zorder=order,
        ),
        autolim=False,
    )


def _rectangle(axes: Any, item: Rectangle, colours: dict[str, str], order: int) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner = min(item.radius, item.width / 2, item.height / 2)
    axes.add_patch(
        FancyBboxPatch(
            (item.x, item.y),
            item.width,
            item.height,
            boxstyle=f"round,pad=0,rounding_size={corner}" if corner else "square,pad=0",
            facecolor=colours[item.fill] if item.fill else "none",
            edgecolor=colours[item.stroke] if item.stroke else "none",
            linewidth=item.stroke_width * _POINTS if item.stroke else 0,
            alpha=item.opacity if item.opacity < 1 else None,
            zorder=order,
        )
    )


def _image(axes: Any, item: Heat | Image, pixels: Any, interpolation: str, order: int) -> None:
    right, bottom = item.x + item.width, item.y + item.height
    axes.imshow(
        pixels,
        extent=(item.x, right, bottom, item.y),
        interpolation=interpolation,
        aspect="auto",
        zorder=order,
    )
