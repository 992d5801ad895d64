"""A picture as the source of a trace: what a captioner read, in the cells that it attends to."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from regard.errors import UsageError
from regard.text.tokens import Label, Sentence, Token, Word

Box = tuple[int, int, int, int]  # left, top, right, bottom: pixels, the last two not included


@dataclass(frozen=True, eq=False)
class TracedPicture:
    """Pixels, and the rows and columns of cells that a model attends to.

    It stands where a sentence would: its tokens are the cells, row by row, each called by its row
    and column ("2,3", from 0). No cell is special, and none is part of a word.
    """

    pixels: np.ndarray  # uint8, height × width × 3
    grid: tuple[int, int]  # rows and columns of cells
    text: str = "a picture"  # what it is called: the name of its file, or what it shows
    # Where a model looked that moves over the picture: of each look x, y and the sides of what it
    # saw, in pixels.
    gazes: tuple[tuple[float, ...], ...] = ()
    words: ClassVar[tuple[Word, ...]] = ()
    gaps: ClassVar[tuple[int, ...]] = ()

    def __post_init__(self) -> None:
        shape = self.pixels.shape
        if self.pixels.dtype != np.uint8 or len(shape) != 3 or shape[2] != 3 or 0 in shape:
            raise UsageError(
                f"an array of {self.pixels.dtype} and shape {shape} is not a picture: give uint8 "
                "of height × width × 3"
            )
        if not all(1 <= n <= most for n, most in zip(self.grid, shape, strict=False)):
            raise UsageError(
                f"a picture of {shape[0]} × {shape[1]} pixels has no grid of {self.grid[0]} × "
                f"{self.grid[1]} cells: a cell has at least one pixel"
            )

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The cells as what is attended to; their id is none of any vocabulary."""
        rows, columns = self.grid
        places = [divmod(n, columns) for n in range(rows * columns)]
        return tuple(Token(-1, f"{i},{j}", n, n + 1) for n, (i, j) in enumerate(places))

    @property
    def boxes(self) -> tuple[Box, ...]:
        """The pixels of every cell."""
        y, x = (
            [round(n * size / parts) for n in range(parts + 1)]
            for size, parts in zip(self.pixels.shape, self.grid, strict=False)
        )
        return tuple(
            (x[j], y[i], x[j + 1], y[i + 1])
            for i in range(self.grid[0])
            for j in range(self.grid[1])
        )

    @property
    def middles(self) -> tuple[str, ...]:
        """The cell in the middle, and that of each quarter, by their names."""
        rows, columns = self.grid
        places = ((2, 2), (2, 6), (4, 4), (6, 2), (6, 6))
        return tuple(dict.fromkeys(f"{rows * i // 8},{columns * j // 8}" for i, j in places))

    def labels(self, tokens: Sequence[Token], *, merges: bool) -> tuple[Label, ...]:
        """A label for every cell, merged or not."""
        return tuple(Label(token.text, (place,)) for place, token in enumerate(tokens))

    def png(self) -> bytes:
        """The pixels as a file."""
        from PIL import Image

        written = io.BytesIO()
        Image.fromarray(np.ascontiguousarray(self.pixels)).save(written, "PNG", optimize=True)
        return written.getvalue()


Source = Sentence | TracedPicture
