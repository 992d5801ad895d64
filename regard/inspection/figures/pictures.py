"""Where a picture was looked at: lit under each word, or as a path of gazes.

As in Show, Attend and Tell (Xu et al. 2015, figures 2 to 5): the weights of a word over the cells
of the picture, made as large as it is, the cells blending into each other. And as in Recurrent
Models of Visual Attention (Mnih et al. 2014, figure 3): glimpses in their order.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from regard.errors import UsageError
from regard.inspection.figures.canvas import BODY, HEADING, MARGIN, SMALL, Box, Canvas, Number
from regard.inspection.figures.drawing import DrawnFigure
from regard.inspection.figures.view import View, mean_of, named, pathed, pictured
from regard.inspection.trace import Table, Trace
from regard.shapes import Float

_SIDE, _APART, _WORD = 140.0, 14.0, 24.0
_IN_ROW = 6
_MOST_PIXELS = 280  # along a side, in files: more are not seen
_DARKEST = 0.82  # where nobody looks
_DARK = 90.0  # the mean of a picture that is mostly black, of 255
_TINT, _LIGHT = 0.75, (255.0, 150.0, 40.0)  # how much, and red, green and blue of it
_LARGE = 360.0  # pixels along a side of the picture with a path
_BAR = 110.0
_PATCH = 44.0  # pixels along a side of what a gaze saw

Pixels = npt.NDArray[np.uint8]  # height × width × 3


@dataclass(frozen=True)
class Gaze:
    """One glimpse: its middle and the sides of its patches in pixels, and what was believed then.

    ``beliefs`` are names with their probabilities, the most probable first.
    """

    x: Number
    y: Number
    sides: tuple[Number, ...] = ()
    beliefs: tuple[tuple[str, Number], ...] = ()


def draw_pictures(trace: Trace, view: View) -> DrawnFigure:
    """The picture, then once more under each word, in the order of writing."""
    picture, found = pictured(trace, view)
    canvas = Canvas(view.theme)
    canvas.heading(f"Where it looked for each {trace.unit}", _below(trace, found))
    pixels = _shrunk(picture.pixels)
    scale = _SIDE / max(pixels.shape[:2])
    height, width = (max(24.0, round(scale * side, 1)) for side in pixels.shape[:2])
    across = max(width, _SIDE / 2)  # words need room beside a tall picture, too
    n = len(found.rows) + 1
    in_row = math.ceil(n / math.ceil(n / _IN_ROW))
    boxes = []
    for k in range(n):
        x = MARGIN + (k % in_row) * (across + _APART) + (across - width) / 2
        y = HEADING + 12 + (k // in_row) * (_WORD + height + _APART)
        label, shown, colour = "the picture", pixels, "soft"
        if k:
            row, label = found.mean[k - 1], found.rows[k - 1].text
            shown = lit(pixels, (row / (row.max() or 1.0)).reshape(picture.grid))
            colour = "soft" if found.rows[k - 1].is_special else "ink"
        said = Canvas.shortened(label, across, BODY, is_bold=k > 0)
        canvas.text(x + width / 2, y + 10, said, BODY, colour, "middle", is_bold=k > 0)
        canvas.image(x, y + _WORD, width, height, shown)
        boxes.append((x, y + _WORD, width, height))
        if k and trace.unit == "place":
            canvas.boxes([_cell(picture.grid, label, boxes[-1])], stroke="mark", width=2)
    canvas.boxes(boxes, stroke="line")
    canvas.note(f"full brightness: the largest weight of that {trace.unit}")
    return canvas.finished()


def draw_moment(trace: Trace, view: View, number: int) -> DrawnFigure:
    """The picture under one word, large, with all words below it and that one marked."""
    picture, found = pictured(trace, view)
    canvas = Canvas(view.theme)
    canvas.heading(f"Where it looked for each {trace.unit}", _below(trace, found))
    pixels = _shrunk(picture.pixels)
    scale = _LARGE / max(pixels.shape[:2])
    box = MARGIN, HEADING + 12, scale * pixels.shape[1], scale * pixels.shape[0]
    row = found.mean[number]
    canvas.image(*box, lit(pixels, (row / (row.max() or 1.0)).reshape(picture.grid)))
    canvas.boxes([box], stroke="line")
    if trace.unit == "place":
        cell = _cell(picture.grid, found.rows[number].text, box)
        canvas.boxes([cell], stroke="mark", width=2)
    x, y = MARGIN, box[1] + box[3] + 20
    for k, one in enumerate(found.rows):
        width = Canvas.text_width(one.text, BODY, is_bold=True)
        if x > MARGIN and x + width > MARGIN + _LARGE:
            x, y = MARGIN, y + _WORD
        colour = "mark" if k == number else "ink" if k < number else "faint"
        canvas.text(x, y, one.text, BODY, colour, is_bold=k == number)
        x += width + 8
    return canvas.finished()


def _below(trace: Trace, found: Table) -> str:
    """What is drawn, in a line."""
    site = "attention within the picture" if trace.unit == "place" else named(found)
    assert trace.picture is not None
    rows, columns = trace.picture.grid
    return (
        f"{site[0].lower()}{site[1:]}, {mean_of(found, trace)} · {rows} × {columns} cells · "
        "brighter = more attention"
    )


def _cell(grid: tuple[int, int], name: str, box: Box) -> Box:
    """Where a cell lies on a picture that is drawn in this box."""
    row, column = (int(part) for part in name.split(","))
    height, width = box[3] / grid[0], box[2] / grid[1]
    return box[0] + column * width, box[1] + row * height, width, height


def draw_gazes(trace: Trace, view: View, n_seen: int | None = None) -> DrawnFigure:
    """The path of a model that moves over a picture, what it saw, and what it believed."""
    return gazes(pathed(trace).pixels, path_of(trace), theme=view.theme, n_seen=n_seen)


def path_of(trace: Trace) -> tuple[Gaze, ...]:
    """The looks of a trace, with the labels that were the most probable after each."""
    return tuple(
        Gaze(x, y, tuple(sides), tuple((one.text, math.exp(one.log_probability)) for one in best))
        for (x, y, *sides), best in zip(
            pathed(trace).gazes, (step.alternatives for step in trace.steps), strict=True
        )
    )


def gazes(
    pixels: Pixels,
    path: Sequence[Gaze],
    title: str = "Where it looked",
    theme: str = "light",
    n_seen: int | None = None,
) -> DrawnFigure:
    """A path of gazes over a picture, numbered from 1, and what was believed after each.

    With ``n_seen`` only the first ones are drawn, and what the last of them saw.
    """
    if not path:
        raise UsageError("there is no path to draw: give at least one gaze")
    canvas = Canvas(theme)
    canvas.heading(title, f"{len(path)} gazes, from 1 · boxes: what was seen")
    shown, boxed = path[:n_seen], path[n_seen - 1 : n_seen] if n_seen else path
    rows, columns = pixels.shape[:2]
    scale = _LARGE / max(rows, columns)
    left, top, width, height = MARGIN, HEADING + 12, columns * scale, rows * scale
    canvas.image(left, top, width, height, pixels)
    canvas.boxes([(left, top, width, height)], stroke="line")
    points = np.array([(left + one.x * scale, top + one.y * scale) for one in shown])
    edges = np.array([left, top, left, top]), np.array([left + width, top + height] * 2)
    squares = [
        np.clip((x - half, y - half, x + half, y + half), *edges)  # what lies outside is black
        for (x, y), one in zip(points[-len(boxed) :].tolist(), boxed, strict=True)
        for half in (side * scale / 2 for side in one.sides)
    ]
    canvas.boxes([(x, y, right - x, low - y) for x, y, right, low in squares], stroke="mark")
    canvas.curves(points[None], "mark", 2.0)
    canvas.boxes([(x - 9, y - 9, 18, 18) for x, y in points.tolist()], fill="mark", radius=9)
    for number, (x, y) in enumerate(points.tolist(), start=1):
        later = points[number:] - (x, y)
        if not (np.hypot(*later.T) < _APART).any():  # what lies above it has the number
            canvas.text(x, y, str(number), SMALL, "pale", "middle", is_bold=True)
    across = _patches(canvas, pixels, path, left + width + 30, top, len(shown))
    _beliefs(canvas, path, left + width + 30, across, top, len(shown))
    return canvas.finished()


def lit(pixels: Pixels, light: Float[np.ndarray, "R C"]) -> Pixels:
    """The picture under a black veil, thinner where the light (from 0 to 1) is; cells blend.

    On a picture that is dark itself no veil is seen: there the light has a colour.
    """
    from PIL import Image

    height, width = pixels.shape[:2]
    cells = Image.fromarray(light.astype(np.float32))
    smooth = cells.resize((width, height), Image.Resampling.BILINEAR)
    bright = np.clip(np.asarray(smooth), 0, 1)[..., None]
    if pixels.mean() < _DARK:
        shown = (1 - _TINT * bright) * pixels + _TINT * bright * np.array(_LIGHT)
    else:
        shown = pixels * (1 - _DARKEST * (1 - bright))
    drawn: Pixels = np.rint(shown).astype(np.uint8)
    return drawn


def _patches(
    canvas: Canvas, pixels: Pixels, path: Sequence[Gaze], x: Number, y: Number, n_seen: int
) -> float:
    """What each gaze saw at each of its scales, as sharp as it saw it; gives where they end."""
    n = max(len(one.sides) for one in path)
    if not n:
        return x + 24
    canvas.text(x, y + 6, "seen", SMALL, "soft")
    boxes = []
    for number, one in enumerate(path[:n_seen], start=1):
        for k, side in enumerate(one.sides):
            at = x + 24 + k * (_PATCH + 6), _line(y, number, path) - _PATCH / 2
            canvas.image(*at, _PATCH, _PATCH, _seen(pixels, one, side))
            boxes.append((*at, _PATCH, _PATCH))
    canvas.boxes(boxes, stroke="line")
    return x + 34 + n * (_PATCH + 6)


def _seen(pixels: Pixels, gaze: Gaze, side: Number) -> Pixels:
    """A square around a gaze, black outside of the picture, in as many parts as the sharpest."""
    width, parts = round(side), max(1, round(min(gaze.sides)))
    x, y = (round(at) - width // 2 for at in (gaze.x, gaze.y))
    framed = np.pad(pixels, ((width, width), (width, width), (0, 0)))
    rows, columns = (np.clip(np.arange(at, at + width) + width, 0, None) for at in (y, x))
    square = framed[np.minimum(rows, len(framed) - 1)][:, np.minimum(columns, framed.shape[1] - 1)]
    step = max(1, width // parts)
    whole = square[: parts * step, : parts * step].reshape(parts, step, parts, step, -1)
    mean: Pixels = np.rint(whole.mean((1, 3))).astype(np.uint8)
    return mean


def _line(y: Number, number: int, path: Sequence[Gaze]) -> float:
    """The middle of the line of a gaze; lines with patches are higher."""
    high = _PATCH + 8 if any(one.sides for one in path) else 24.0
    return y + 22 + high * (number - 0.5)


def _beliefs(
    canvas: Canvas, path: Sequence[Gaze], x: Number, across: Number, y: Number, n_seen: int
) -> None:
    """A line for each gaze: its number, and a bar for what was most probable after it."""
    for number in range(1, len(path) + 1):
        canvas.text(x, _line(y, number, path), str(number), SMALL, "mark", is_bold=True)
    if not any(one.beliefs for one in path):
        return
    canvas.text(across, y + 6, "believed then", SMALL, "soft")
    room = max(Canvas.text_width(one.beliefs[0][0]) for one in path if one.beliefs)
    for number, one in enumerate(path[:n_seen], start=1):
        at = _line(y, number, path)
        if one.beliefs:
            name, share = one.beliefs[0]
            canvas.text(across, at, name, BODY)
            start = across + 10 + room
            canvas.boxes([(start, at - 7, _BAR, 14)], fill="panel", radius=3)
            canvas.boxes([(start, at - 7, max(1.0, _BAR * share), 14)], fill="look", radius=3)
            canvas.text(start + _BAR + 8, at, f"{100 * share:.0f} %", SMALL, "soft")


def _shrunk(pixels: Pixels) -> Pixels:
    """The picture at the size that a file shows."""
    from PIL import Image

    scale = _MOST_PIXELS / max(pixels.shape[:2])
    size = tuple(max(1, round(scale * side)) for side in pixels.shape[1::-1])
    how = Image.Resampling.LANCZOS if scale < 1 else Image.Resampling.BILINEAR
    return np.asarray(Image.fromarray(pixels).resize((size[0], size[1]), how))
