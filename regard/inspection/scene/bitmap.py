"""Images: a heat map whose cells are too many to draw one by one, and pictures lit in parts."""

from base64 import b64encode

import numpy as np
import numpy.typing as npt

from regard.inspection.scene.colours import ramp_table
from regard.inspection.scene.items import Heat, Image
from regard.inspection.trace.picture import as_png
from regard.shapes import Float

_SHARP = 4  # a cell of a small matrix is this many pixels wide, lest viewers blur it
_VEIL, _DARKEST = 64, 0.82  # pixels along a side; how dark it is where nobody looks


def shades(heat: Heat) -> npt.NDArray[np.uint8]:
    """The place of every value on its ramp, from 0 to 255."""
    span = heat.high - heat.low or 1.0
    scaled = (np.asarray(heat.values, np.float64) - heat.low) / span
    places: npt.NDArray[np.uint8] = np.rint(255 * np.clip(scaled, 0, 1)).astype(np.uint8)
    return places


def coloured(heat: Heat, theme: str) -> Float[np.ndarray, "R C 3"]:
    """The colour of every cell, each channel between 0 and 1."""
    colours: Float[np.ndarray, "R C 3"] = ramp_table(theme, heat.ramp)[shades(heat)]
    return colours


def png(heat: Heat, theme: str) -> bytes:
    """An image of one pixel a cell, or of several where cells are few, with a palette."""
    indices = shades(heat)
    if indices.size <= 40_000:
        indices = np.repeat(np.repeat(indices, _SHARP, 0), _SHARP, 1)
    palette = np.rint(255 * ramp_table(theme, heat.ramp)).astype(np.uint8)
    return as_png(indices, palette)


def data_address(png: bytes) -> str:
    """A PNG inside an address, for an image that needs no file."""
    return f"data:image/png;base64,{b64encode(png).decode()}"


def veil(light: Float[np.ndarray, "R C"]) -> npt.NDArray[np.uint8]:
    """Black, and how dense it lies over each part (height × width × 2); cells blend."""
    from PIL import Image as Pillow

    rows, columns = light.shape
    scale = max(1, _VEIL // max(rows, columns))
    image = Pillow.fromarray(light.astype(np.float32))
    smooth = image.resize((scale * columns, scale * rows), Pillow.Resampling.BILINEAR)
    density = np.rint(255 * _DARKEST * (1 - np.clip(np.asarray(smooth), 0, 1))).astype(np.uint8)
    return np.stack([np.zeros_like(density), density], axis=-1)


def lit(item: Image) -> npt.NDArray[np.uint8]:
    """The picture with the veil over it, of the size that a file is drawn in."""
    from PIL import Image as Pillow

    size = round(2 * item.width), round(2 * item.height)
    image = Pillow.fromarray(item.pixels).resize(size, Pillow.Resampling.BILINEAR)
    if item.light is not None:
        dark = Pillow.fromarray(veil(item.light)[..., 1]).resize(size, Pillow.Resampling.BILINEAR)
        image.paste((0, 0, 0), mask=dark)
    return np.asarray(image)
