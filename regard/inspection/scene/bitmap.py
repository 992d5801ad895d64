"""A heat map as a PNG of its own, for matrices whose cells are too many to draw one by one."""

import struct
import zlib
from base64 import b64encode

import numpy as np
import numpy.typing as npt

from regard.inspection.scene.colours import ramp_table
from regard.inspection.scene.items import Heat
from regard.shapes import Float

_SHARP = 4  # a cell of a small matrix is this many pixels wide, lest viewers blur it


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
    height, width = indices.shape
    palette = np.rint(255 * ramp_table(theme, heat.ramp)).astype(np.uint8)
    rows = np.concatenate([np.zeros((height, 1), np.uint8), indices], axis=1)  # no filter
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", palette.tobytes()),
            _chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)),
            _chunk(b"IEND", b""),
        )
    )


def data_address(heat: Heat, theme: str) -> str:
    """Image inside an address, for an image that needs no file."""
    return f"data:image/png;base64,{b64encode(png(heat, theme)).decode()}"


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)
