"""Cluttered canvases: a picture somewhere on a larger black one, among pieces of others.

As Mnih et al. (2014) made them of MNIST: the digit is placed anywhere, and pieces of 8 × 8 pixels
of other digits are strewn over the canvas. Where the digit is, is kept.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from regard.data.idx_files import write_idx
from regard.data.picture_sets import PictureSet
from regard.errors import DataError

PIECE = 8  # pixels, the side of what is strewn


def clutter(
    pictures: PictureSet, canvas: int, n_pieces: int, *, n: int | None = None, seed: int = 1
) -> PictureSet:
    """Canvases of ``canvas × canvas`` pixels, each with a picture and so many pieces of others.

    The pictures come in turns, n in all; the same seed gives the same canvases.
    """
    height, width = pictures.size
    if canvas < max(height, width) or min(height, width) < PIECE:
        raise DataError(
            f"pictures of {width} × {height} pixels do not fit on a canvas of {canvas}, or are "
            f"smaller than the pieces of {PIECE}: choose a larger --canvas or other pictures."
        )
    random = np.random.default_rng(seed)
    n = len(pictures) if n is None else n
    rows = np.arange(n) % len(pictures)
    whole = np.zeros((n, canvas, canvas), np.uint8)
    grey = pictures.pixels[..., 0] if pictures.n_channels == 1 else pictures.pixels.mean(-1)
    boxes = np.empty((n, 4), np.int64)
    for number, row in enumerate(rows):
        _strew(whole[number], grey, n_pieces, random)
        x, y = (int(random.integers(canvas - side + 1)) for side in (width, height))
        place = whole[number, y : y + height, x : x + width]
        np.maximum(place, grey[row].astype(np.uint8), out=place)
        boxes[number] = np.add(_box(grey[row]), (x, y, x, y))
    labels = None if pictures.labels is None else pictures.labels[rows]
    return PictureSet(whole[..., None], labels, pictures.classes, boxes, f"cluttered {canvas}")


def _strew(
    canvas: npt.NDArray[np.uint8],
    pictures: npt.NDArray[np.generic],
    n_pieces: int,
    random: np.random.Generator,
) -> None:
    n, height, width = pictures.shape
    for _ in range(n_pieces):
        source = pictures[random.integers(n)]
        top, left = (int(random.integers(side - PIECE + 1)) for side in (height, width))
        y, x = (int(one) for one in random.integers(len(canvas) - PIECE + 1, size=2))
        place = canvas[y : y + PIECE, x : x + PIECE]
        piece = source[top : top + PIECE, left : left + PIECE].astype(np.uint8)
        np.maximum(place, piece, out=place)


def _box(picture: npt.NDArray[np.generic]) -> tuple[int, int, int, int]:
    """The smallest box around what is not black; all of a picture that is."""
    is_there = np.asarray(picture) > 0
    if not is_there.any():
        return 0, 0, picture.shape[1], picture.shape[0]
    y, x = np.flatnonzero(is_there.any(1)), np.flatnonzero(is_there.any(0))
    return int(x[0]), int(y[0]), int(x[-1]) + 1, int(y[-1]) + 1


def write_canvases(folder: Path, part: str, canvases: PictureSet) -> None:
    """Write ``PART-images-idx3-ubyte`` with its labels and boxes, as MNIST is written."""
    write_idx(folder / f"{part}-images-idx3-ubyte", canvases.pixels[..., 0])
    if canvases.labels is not None:
        write_idx(folder / f"{part}-labels-idx1-ubyte", canvases.labels.astype(np.uint8))
    if canvases.boxes is not None:
        write_idx(folder / f"{part}-boxes-idx2-short", canvases.boxes.astype(np.int16))
