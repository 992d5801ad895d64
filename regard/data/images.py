"""Pictures to arrays of one size, and the cells into which a captioner divides them."""

import io
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image, ImageOps, UnidentifiedImageError

from regard.corpora import Box
from regard.corpora.drawn import draw, is_drawn
from regard.errors import DataError, RegardError, UsageError
from regard.shapes import Float, Tensor

# Only these are tried: others run programs (EPS), or are read by code that few have tested.
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")
SMALLEST = 8  # pixels each way; less has nothing to see

Picture = str | Path | bytes | npt.NDArray[np.uint8] | Image.Image
Pixels = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Cell:
    """A part of a picture with a vector of its own: its place in the grid, and its pixels."""

    row: int
    column: int
    box: Box


@dataclass(frozen=True)
class ImageCodec:
    """Pictures as ``channels × size × size`` numbers from -1 to 1; other shapes are stretched."""

    size: int = 64
    cell: int = 8  # the side of what one vector of the encoder stands for
    n_channels: int = 3  # red, green and blue, or 1: grey

    def __post_init__(self) -> None:
        if self.cell < 1 or self.size < self.cell or self.size % self.cell:
            raise UsageError(
                f"a picture of {self.size} pixels cannot be divided into cells of {self.cell}: "
                f"choose a size that is a multiple of the cell"
            )

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of cells."""
        return self.size // self.cell, self.size // self.cell

    def encode(self, picture: Picture) -> Pixels:
        """The numbers of a picture: a file, bytes of one, an array, a PIL image or a scene."""
        return self.numbers(self.pixels(picture))

    def pixels(self, picture: Picture) -> npt.NDArray[np.uint8]:
        """A picture as it is read, ``size × size × channels``."""
        return pixels_of(open_picture(picture), (self.size, self.size), self.n_channels)

    def numbers(self, pixels: npt.NDArray[np.uint8]) -> Pixels:
        """Pixels as a model takes them, channels first."""
        values = pixels.astype(np.float32) / np.float32(127.5) - 1
        return np.ascontiguousarray(values.transpose(2, 0, 1))

    def collate(self, pictures: Sequence[Pixels]) -> Float[Tensor, "B Z Y X"]:
        """A batch of pictures that are encoded."""
        return torch.from_numpy(np.stack(pictures))

    def units(self, width: int | None = None, height: int | None = None) -> list[Cell]:
        """The cells, row by row, in pixels of a picture of that size, or as it was encoded."""
        rows, columns = self.grid
        x = [round(n * (width or self.size) / columns) for n in range(columns + 1)]
        y = [round(n * (height or self.size) / rows) for n in range(rows + 1)]
        return [
            Cell(row, column, (x[column], y[row], x[column + 1], y[row + 1]))
            for row in range(rows)
            for column in range(columns)
        ]


def pixels_of(
    image: Image.Image, size: tuple[int, int], n_channels: int = 3
) -> npt.NDArray[np.uint8]:
    """A picture as ``height × width × channels``, stretched to a height and a width."""
    height, width = size
    if n_channels == 1:
        image = image.convert("L")
    if image.size != (width, height):
        image = image.resize((width, height), Image.Resampling.BILINEAR)
    pixels = np.asarray(image)
    return pixels[:, :, None] if n_channels == 1 else pixels


def open_picture(picture: Picture, name: str | None = None) -> Image.Image:
    """A picture as people see it: upright, red, green and blue, on white where it is transparent.

    Of several frames it is the first. ``name`` is what a refusal calls it.

    Raises:
        DataError: it is not a picture, or one that cannot be used.
        UsageError: it is not anything that could be one.
    """
    match picture:
        case Image.Image():
            return _checked(name or "the picture", picture)
        case np.ndarray():
            return _checked(name or "the array", _of_array(picture))
        case bytes():
            return _read(name or "the picture", io.BytesIO(picture))
        case str() if is_drawn(picture):
            return Image.fromarray(draw(picture))
        case str() | Path():
            path = Path(picture)
            if path.is_dir():
                raise DataError(f"{path} is a folder: name a picture in it.")
            if not path.is_file():
                raise DataError(f"there is no picture {path}: give the path of a file.")
            return _read(name or str(path), path)
    raise UsageError(
        "a picture is a path, bytes, an array, a PIL image or the text of a drawing, not "
        f"{type(picture).__name__}"
    )


def _of_array(array: npt.NDArray[np.uint8]) -> Image.Image:
    has_channels = array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (3, 4))
    if array.dtype != np.uint8 or not has_channels:
        raise UsageError(
            f"an array of {array.dtype} and shape {array.shape} is not a picture: give uint8 of "
            "height × width, or with 3 or 4 channels behind"
        )
    return Image.fromarray(np.ascontiguousarray(array)) if array.size else Image.new("RGB", (0, 0))


def _read(name: str, file: Path | io.BytesIO) -> Image.Image:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(file, formats=FORMATS) as image:
                return _checked(name, image)
    except RegardError:
        raise
    except UnidentifiedImageError as error:
        kinds = ", ".join(FORMATS[:-1])
        raise DataError(f"{name} is not a picture: give {kinds} or {FORMATS[-1]}.") from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        most = (Image.MAX_IMAGE_PIXELS or 0) // 1_000_000
        raise DataError(
            f"{name} has more than {most} million pixels: make it smaller first."
        ) from error
    # A damaged file can make a decoder raise anything at all.
    except Exception as error:
        raise DataError(f"{name} is damaged or not complete: save or copy it again.") from error


def _checked(name: str, image: Image.Image) -> Image.Image:
    if min(image.size) < SMALLEST:
        width, height = image.size
        raise DataError(
            f"{name} has {width} × {height} pixels: at least {SMALLEST} × {SMALLEST} are needed."
        )
    image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I"):  # 16 bits, of which PIL would cut off the upper ones
        image = Image.fromarray((np.asarray(image) >> 8).clip(0, 255).astype(np.uint8))
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")
