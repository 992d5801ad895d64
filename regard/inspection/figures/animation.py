"""An animated GIF of a picture that is looked at: glimpse after glimpse, or word after word."""

import io
from typing import TYPE_CHECKING

from regard.inspection.figures.drawing import DrawnFigure, colours_of
from regard.inspection.figures.pictures import draw_gazes, draw_moment
from regard.inspection.figures.view import View, pictured
from regard.inspection.trace import Trace

if TYPE_CHECKING:
    from PIL.Image import Image as Frame

_MOMENT, _LAST = 900, 2_500  # milliseconds


def animation(trace: Trace, view: View) -> bytes:
    """The content of a GIF file: a frame for each glimpse, word or place; it runs without end."""
    from PIL import Image

    picture, found = pictured(trace, view)
    if picture.gazes and view.form == "gazes":
        drawn = [draw_gazes(trace, view, n + 1) for n in range(len(picture.gazes))]
    else:
        drawn = [draw_moment(trace, view, n) for n in range(len(found.rows))]
    size = max(one.size[0] for one in drawn), max(one.size[1] for one in drawn)
    frames = []
    for one in drawn:
        frame = Image.new("RGB", size, colours_of(view.theme)["ground"])
        frame.paste(_image(one))
        frames.append(frame.quantize(dither=Image.Dither.NONE))
    written = io.BytesIO()
    times = [_MOMENT] * (len(frames) - 1) + [_LAST]
    frames[0].save(written, "GIF", save_all=True, append_images=frames[1:], duration=times, loop=0)
    return written.getvalue()


def _image(drawn: DrawnFigure) -> "Frame":
    """As many pixels as the figure says it has."""
    from PIL import Image

    with Image.open(io.BytesIO(drawn.to_bytes("png"))) as image:
        return image.convert("RGB").resize(drawn.size, Image.Resampling.LANCZOS)
