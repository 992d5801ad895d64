"""Canvases: the picture is where the box says, pieces lie around it, and a seed says it all."""

from pathlib import Path

import numpy as np
import pytest

from regard.data import PictureSet, read_picture_set
from regard.data.cluttered import PIECE, clutter, write_canvases
from regard.errors import DataError


def squares() -> PictureSet:
    """Three pictures with a square of 6 × 4 in another shade each, not in the middle."""
    pixels = np.zeros((3, 12, 14, 1), np.uint8)
    for row in range(3):
        pixels[row, 2:6, 5:11] = 50 * (row + 1)
    return PictureSet(pixels, np.array([0, 1, 1]), ("a", "b"))


def test_the_picture_is_where_its_box_says() -> None:
    made = clutter(squares(), 40, 0, n=7, seed=3)
    assert (made.size, len(made), made.classes) == ((40, 40), 7, ("a", "b"))
    assert made.labels is not None
    assert made.boxes is not None
    assert made.labels.tolist() == [0, 1, 1, 0, 1, 1, 0]
    places = set()
    for row in range(7):
        x0, y0, x1, y1 = made.boxes[row].tolist()
        assert (x1 - x0, y1 - y0) == (6, 4)
        canvas = made.pixels[row, :, :, 0]
        assert (canvas[y0:y1, x0:x1] == 50 * (row % 3 + 1)).all()
        assert canvas.sum(dtype=int) == 24 * 50 * (row % 3 + 1)  # and nothing else
        places.add((x0, y0))
    assert len(places) > 4


def test_pieces_are_of_the_pictures_and_never_cover_the_one() -> None:
    made, bare = clutter(squares(), 40, 5, seed=3), clutter(squares(), 40, 0, seed=3)
    assert made.pixels.sum(dtype=int) > bare.pixels.sum(dtype=int)
    assert set(np.unique(made.pixels)) <= {0, 50, 100, 150}
    for row, (x0, y0, x1, y1) in enumerate(made.boxes.tolist() if made.boxes is not None else ()):
        assert (made.pixels[row, y0:y1, x0:x1] >= 50 * (row + 1)).all()


def test_a_seed_says_it_all_and_files_keep_it(tmp_path: Path) -> None:
    made = clutter(squares(), 30, 2, seed=5)
    np.testing.assert_array_equal(made.pixels, clutter(squares(), 30, 2, seed=5).pixels)
    assert (made.pixels != clutter(squares(), 30, 2, seed=6).pixels).any()
    write_canvases(tmp_path, "train", made)
    read = read_picture_set(tmp_path)
    np.testing.assert_array_equal(read.pixels, made.pixels)
    assert read.labels is not None
    assert read.boxes is not None
    assert made.boxes is not None
    assert (read.labels.tolist(), read.boxes.tolist()) == ([0, 1, 1], made.boxes.tolist())


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(DataError, match="canvas of 10"):
        clutter(squares(), 10, 1)
    small = PictureSet(np.zeros((1, PIECE - 1, 9, 1), np.uint8))
    with pytest.raises(DataError, match=f"pieces of {PIECE}"):
        clutter(small, 20, 1)
