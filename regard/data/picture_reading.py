"""Sets of pictures, with or without classes: from folders, zip archives and idx files.

In a folder or an archive, each subfolder is a class, however deep its pictures lie; pictures that
all lie flat have no classes. ``train`` and ``test`` (or ``valid``) above the classes are parts of
the set, as are ``train-`` and ``t10k-`` of idx files: ``mnist:test`` names one of them.
"""

import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal

import numpy as np
import numpy.typing as npt

from regard.corpora import CORPORA, is_extract, parse_extract
from regard.corpora.drawn import is_drawn
from regard.data.idx_files import beside, idx_parts, is_idx_images, read_idx
from regard.data.images import SMALLEST, open_picture, pixels_of
from regard.data.picture_files import PictureFile, listed_archive, listed_folder, pictures_among
from regard.data.picture_sets import PictureSet, framed, in_order, resized, with_channels
from regard.errors import DataError, UsageError

Part = Literal["train", "valid", "test"]
_PARTS: dict[str, Part] = {
    "train": "train",
    "training": "train",
    "valid": "valid",
    "val": "valid",
    "validation": "valid",
    "test": "test",
    "testing": "test",
}


@dataclass(frozen=True)
class _Wanted:
    """What is asked of a set: the part its name says or that serves, and what is made of it."""

    asked: Part | None
    part: Part | None
    size: tuple[int, int] | None
    n_channels: int | None
    is_known: bool  # whether it is said which classes there may be


def read_picture_set(
    name: str | Path,
    *,
    part: Part | None = None,
    size: int | tuple[int, int] | None = None,
    n_channels: int | None = None,
    classes: Sequence[str] | None = None,
    pads: bool = False,
) -> PictureSet:
    """The pictures of a folder, a zip archive, an idx file or a corpus; "mnist:test" is a part.

    Args:
        name: where they are.
        part: the one that is wanted where there are several and the name says none.
        size: of a side, or height and width, to which all are stretched; as they are without it.
        n_channels: 3, or 1 of grey; without it 1 if all pictures are grey.
        classes: the only ones there may be, in their order; else they are found.
        pads: pictures of an idx file that are smaller are framed by 0, and not stretched.

    Raises:
        DataError: what cannot be used, with the name of the file.
    """
    if n_channels not in (None, 1, 3):
        raise UsageError(f"pictures have 3 channels, or 1 of grey, not {n_channels}")
    both = (size, size) if isinstance(size, int) else size
    if _is_drawn(name):
        found = _of_corpus(str(name), both)
        found = found if classes is None or found.labels is None else in_order(found, classes)
        return with_channels(found, n_channels)
    path, asked = _named(name)
    wanted = _Wanted(asked, part, both, n_channels, classes is not None)
    if path.is_dir() and (parts := idx_parts(path)):
        found = _of_idx(_chosen_idx(path, parts, wanted), both, pads)
    elif path.is_file() and is_idx_images(path):
        found = _of_idx(path, both, pads)
    else:
        found = _of_files(path, wanted)
    if classes is not None and found.labels is not None:
        found = in_order(found, classes)
    return with_channels(found, n_channels)


def _is_drawn(name: str | Path) -> bool:
    """Whether a name is that of a corpus; a file or folder of that name comes first."""
    return isinstance(name, str) and is_extract(name) and not Path(name).exists()


def _of_corpus(name: str, size: tuple[int, int] | None) -> PictureSet:
    """The pictures that a corpus describes; their targets are classes where it is one of labels."""
    extract = parse_extract(name)
    examples = list(extract.draw())
    if not examples or not is_drawn(examples[0].source):
        raise DataError(f"the corpus {extract.corpus} has no pictures: choose digits or scenes:en.")
    images = [open_picture(one.source) for one in examples]
    shape = size or (images[0].height, images[0].width)
    found = PictureSet(
        np.stack([pixels_of(one, shape) for one in images]),
        name=name,
        files=tuple(one.source for one in examples),
    )
    if CORPORA[extract.corpus].gives != "images":
        return found
    classes = tuple(sorted({one.target for one in examples}))
    labels = np.array([classes.index(one.target) for one in examples], np.int64)
    return replace(found, labels=labels, classes=classes)


def _named(name: str | Path) -> tuple[Path, Part | None]:
    """The path, and the part after a colon."""
    path = Path(name).expanduser()
    before, _, after = str(path).rpartition(":")
    if not path.exists() and after in _PARTS and Path(before).exists():
        return Path(before), _PARTS[after]
    if not path.exists():
        raise DataError(
            f"there is no {path}: name a folder of pictures, a .zip of one, or an idx file."
        )
    return path, None


def _chosen(where: Path, there: Iterable[str], wanted: _Wanted) -> str:
    """One of the parts that are there: the one asked for, or the one that serves best."""
    parts = list(there)
    if wanted.asked is not None:
        if wanted.asked not in parts:
            raise DataError(f"{where} has no part {wanted.asked}: there are {' and '.join(parts)}.")
        return wanted.asked
    # What is held out may be called either way, and is never what is learned from.
    others = {"valid": ("valid", "test"), "test": ("test", "valid")}
    order = others.get(wanted.part or "", ("train",))
    for one in order:
        if one in parts:
            return one
    raise DataError(
        f"{where} has no part {order[0]}, only {' and '.join(parts)}: say which as "
        f"{where}:{parts[0]}."
    )


def _chosen_idx(folder: Path, parts: dict[str, Path], wanted: _Wanted) -> Path:
    if list(parts) == [""] and wanted.asked is None:
        return parts[""]
    return parts[_chosen(folder, parts, wanted)]


def _of_idx(path: Path, size: tuple[int, int] | None, pads: bool) -> PictureSet:
    pixels = read_idx(path, 3)[:, :, :, None]
    if pixels.dtype != np.uint8 or not len(pixels) or min(pixels.shape[1:3]) < SMALLEST:
        n, height, width, _ = pixels.shape
        raise DataError(
            f"{path} has {n:,} pictures of {height} × {width}: give one or more, of bytes, of at "
            f"least {SMALLEST} × {SMALLEST} pixels."
        )
    labels, boxes = (
        _beside(path, what, axes, kind, len(pixels))
        for what, axes, kind in (("labels", 1, "ubyte"), ("boxes", 2, "short"))
    )
    found = PictureSet(pixels, labels, boxes=boxes, name=str(path))
    if labels is not None:
        found = replace(found, classes=tuple(map(str, range(int(labels.max()) + 1))))
    if size is None or size == found.size:
        return found
    frame = [wanted - there for wanted, there in zip(size, found.size, strict=True)]
    return framed(found, frame) if pads and min(frame) >= 0 else resized(found, size)


def _beside(
    images: Path, what: str, axes: int, kind: str, n_pictures: int
) -> npt.NDArray[np.int64] | None:
    path = beside(images, what, axes, kind)
    if path is None:
        return None
    found = read_idx(path, axes).astype(np.int64)
    if len(found) != n_pictures:
        raise DataError(
            f"{path} has {len(found):,} {what} and {images.name} has {n_pictures:,} pictures: they "
            "do not belong together; copy or download both again."
        )
    return found


def _of_files(path: Path, wanted: _Wanted) -> PictureSet:
    if path.is_dir():
        return _read_entries(path, *listed_folder(path), wanted)
    try:
        with zipfile.ZipFile(path) as archive:
            return _read_entries(path, *listed_archive(path, archive), wanted)
    except (zipfile.BadZipFile, NotImplementedError, OSError) as error:
        raise DataError(
            f"{path} is no set of pictures: name a folder of pictures, a .zip of one that is "
            "complete, or an idx file."
        ) from error


def _read_entries(
    path: Path, folders: list[PurePosixPath], entries: list[PictureFile], wanted: _Wanted
) -> PictureSet:
    pictures = pictures_among(path, entries)
    root = _root(pictures, path, wanted)
    inside = [one for one in pictures if one.path.is_relative_to(root)]
    labels, classes = _classes(path, root, inside)
    if classes and not wanted.is_known:
        _refuse_empty(path, root, folders, classes)
    return PictureSet(
        _read_all(inside, wanted.size, wanted.n_channels),
        labels,
        classes,
        name=str(path),
        files=tuple(one.name for one in inside),
        n_skipped=len(entries) - len(pictures),
    )


def _root(pictures: Sequence[PictureFile], path: Path, wanted: _Wanted) -> PurePosixPath:
    """The folder whose subfolders are the classes: below what wraps all, in the part wanted."""
    root = PurePosixPath()
    while True:
        inside = [one.path.relative_to(root).parts for one in pictures]
        first = {parts[0] for parts in inside}
        if len(first) > 1 or all(len(parts) < 3 for parts in inside):
            break
        root /= first.pop()
    named = {_PARTS[one.lower()]: one for one in first if one.lower() in _PARTS}
    if len(named) == len(first) > 1 and "train" in named:
        return root / named[_PARTS[_chosen(path, named, wanted)]]
    if wanted.asked is not None:
        raise DataError(
            f"{path} has no part {wanted.asked}: put its classes into folders train and "
            f"{wanted.asked}, or leave :{wanted.asked} out."
        )
    return root


def _classes(
    path: Path, root: PurePosixPath, pictures: Sequence[PictureFile]
) -> tuple[npt.NDArray[np.int64] | None, tuple[str, ...]]:
    inside = [one.path.relative_to(root).parts for one in pictures]
    n_flat = sum(len(parts) == 1 for parts in inside)
    if n_flat == len(inside):
        return None, ()
    if n_flat:
        alone = next(one for one, parts in zip(pictures, inside, strict=True) if len(parts) == 1)
        raise DataError(
            f"{path / root} has pictures in folders, which are classes, and others beside them, "
            f"such as {alone.path.name}: put each into the folder of its class."
        )
    names = {parts[0] for parts in inside}
    is_counted = all(one.isdecimal() for one in names)
    classes = sorted(names, key=lambda one: (int(one) if is_counted else 0, one))
    numbers = {one: number for number, one in enumerate(classes)}
    return np.array([numbers[parts[0]] for parts in inside], np.int64), tuple(classes)


def _refuse_empty(
    path: Path, root: PurePosixPath, folders: Sequence[PurePosixPath], classes: Sequence[str]
) -> None:
    there = {one.relative_to(root).parts for one in folders if one.is_relative_to(root)}
    for (one,) in (parts for parts in sorted(there) if len(parts) == 1):
        if one not in classes:
            raise DataError(
                f"{path / root / one} holds no pictures, and a class has some: add pictures, or "
                "remove the folder."
            )


def _read_all(
    pictures: Sequence[PictureFile], size: tuple[int, int] | None, n_channels: int | None
) -> npt.NDArray[np.uint8]:
    """The pixels of all, of the size that is asked for or that all have."""
    shape = size
    pixels: npt.NDArray[np.uint8] | None = None
    for row, one in enumerate(pictures):
        image = open_picture(one.read(), one.name)
        own = image.height, image.width
        if shape is None:
            shape = own
        elif size is None and own != shape:
            raise DataError(
                f"{one.name} has {own[1]} × {own[0]} pixels and {pictures[0].name} has "
                f"{shape[1]} × {shape[0]}: give all pictures one size, or say to which they are "
                "made with --set model.size=32."
            )
        if pixels is None:
            pixels = np.empty((len(pictures), *shape, n_channels or 3), np.uint8)
        pixels[row] = pixels_of(image, shape, n_channels or 3)
    assert pixels is not None
    return pixels
