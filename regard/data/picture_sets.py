"""A set of pictures of one size in memory, with or without classes, and what can be made of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from regard.data.images import open_picture, pixels_of
from regard.errors import DataError, shortened
from regard.shapes import Float, Tensor

_MOST_NAMED = 12  # classes that a sentence names
_ROWS = 4_096  # pictures whose colours are looked at together


@dataclass(frozen=True, eq=False)
class PictureSet:
    """Pictures of one size, the class of each where there are classes, and where something is."""

    pixels: npt.NDArray[np.uint8]  # N × height × width × channels
    labels: npt.NDArray[np.int64] | None = None  # numbers of classes
    classes: tuple[str, ...] = ()
    boxes: npt.NDArray[np.int64] | None = None  # N × 4: x0, y0, x1, y1 of what is to be found
    name: str = "pictures"
    files: tuple[str, ...] = ()  # what each came from; none of an idx file
    n_skipped: int = 0  # files that are no pictures

    def __len__(self) -> int:
        return len(self.pixels)

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        return self.pixels.shape[1], self.pixels.shape[2]

    @property
    def n_channels(self) -> int:
        """3, or 1 of grey."""
        return int(self.pixels.shape[3])

    def numbers(self, rows: Sequence[int] | npt.NDArray[np.int64]) -> Float[Tensor, "B Z Y X"]:
        """Some pictures as a model takes them: from -1 to 1, channels first."""
        values = self.pixels[np.asarray(rows)].astype(np.float32)
        return torch.from_numpy(values).permute(0, 3, 1, 2).div_(127.5).sub_(1).contiguous()

    def file(self, row: int) -> str:
        """What a picture is called."""
        return self.files[row] if self.files else f"{self.name}, picture {row + 1}"

    def subset(self, rows: npt.NDArray[np.int64]) -> "PictureSet":
        """Some of the pictures, in the order given."""
        return replace(
            self,
            pixels=self.pixels[rows],
            labels=None if self.labels is None else self.labels[rows],
            boxes=None if self.boxes is None else self.boxes[rows],
            files=tuple(self.files[int(i)] for i in rows) if self.files else (),
        )


def join_picture_sets(sets: Sequence[PictureSet]) -> PictureSet:
    """Several sets as one; they have the same size, colours and classes.

    Raises:
        DataError: two of them do not go together.
    """
    first, *others = sets
    if not others:
        return first
    for one in others:
        for what, mine, its in (
            ("size", first.size, one.size),
            ("colours", first.n_channels, one.n_channels),
            ("classes", first.classes, one.classes),
        ):
            if mine != its:
                raise DataError(
                    f"{first.name} and {one.name} differ in their {what}: name sets that go "
                    "together, or put the pictures into one folder."
                )
    labels, boxes = (
        [found for one in sets if (found := getattr(one, key)) is not None]
        for key in ("labels", "boxes")
    )
    return replace(
        first,
        pixels=np.concatenate([one.pixels for one in sets]),
        labels=np.concatenate(labels) if len(labels) == len(sets) else None,
        boxes=np.concatenate(boxes) if len(boxes) == len(sets) else None,
        name=", ".join(one.name for one in sets),
        files=tuple(one.file(row) for one in sets for row in range(len(one))),
        n_skipped=sum(one.n_skipped for one in sets),
    )


def in_order(found: PictureSet, classes: Sequence[str]) -> PictureSet:
    """The same pictures, with the numbers that a model knows the classes by."""
    assert found.labels is not None
    there = {found.classes[number] for number in np.unique(found.labels)}
    if unknown := sorted(there - set(classes)):
        known = ", ".join(classes[:_MOST_NAMED]) + (", ..." if len(classes) > _MOST_NAMED else "")
        raise DataError(
            f"{found.name} has the class {shortened(unknown[0])!r}, which is not among {known}: "
            "rename it, or leave it out."
        )
    numbers = {one: number for number, one in enumerate(classes)}
    order = np.array([numbers.get(one, -1) for one in found.classes], np.int64)
    return replace(found, labels=order[found.labels], classes=tuple(classes))


def with_channels(found: PictureSet, n_channels: int | None) -> PictureSet:
    """Grey where grey is asked for, or where nothing is asked for and all of it is grey."""
    if n_channels is None:
        n_channels = 1 if _are_grey(found.pixels) else 3
    if n_channels == found.n_channels:
        return found
    if n_channels == 3:
        return replace(found, pixels=np.repeat(found.pixels, 3, axis=3))
    return replace(found, pixels=np.ascontiguousarray(found.pixels[:, :, :, :1]))


def framed(found: PictureSet, frame: Sequence[int]) -> PictureSet:
    """The pictures in the middle of larger ones."""
    sides = [(n // 2, n - n // 2) for n in frame]
    pixels = np.pad(found.pixels, ((0, 0), *sides, (0, 0)))
    boxes = found.boxes
    if boxes is not None:
        boxes = boxes + np.array((sides[1][0], sides[0][0]) * 2)
    return replace(found, pixels=pixels, boxes=boxes)


def resized(found: PictureSet, size: tuple[int, int]) -> PictureSet:
    """The pictures stretched to a height and width, and their boxes with them."""
    height, width = size
    pixels = np.empty((len(found), height, width, found.n_channels), np.uint8)
    for row in range(len(found)):
        pixels[row] = pixels_of(open_picture(found.pixels[row, :, :, 0]), size, 1)
    boxes = found.boxes
    if boxes is not None:
        before = np.array(found.size[::-1] * 2)
        boxes = np.rint(boxes * np.array((width, height) * 2) / before).astype(np.int64)
    return replace(found, pixels=pixels, boxes=boxes)


def _are_grey(pixels: npt.NDArray[np.uint8]) -> bool:
    def parts() -> Iterator[npt.NDArray[Any]]:
        return (pixels[start : start + _ROWS] for start in range(0, len(pixels), _ROWS))

    return pixels.shape[3] == 1 or all((one == one[:, :, :, :1]).all() for one in parts())
