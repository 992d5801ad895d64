"""Sets of pictures, with or without classes: from folders, zip archives and idx files.

In a folder or an archive, each subfolder is a class, however deep its pictures lie; pictures that
all lie flat have no classes. ``train`` and ``test`` (or ``valid``) above the classes are parts of
the set, as are ``train-`` and ``t10k-`` of idx files: ``mnist:test`` names one of them.
"""

import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch

from regard.corpora import CORPORA, is_extract, parse_extract
from regard.corpora.drawn import is_drawn
from regard.data.idx_files import beside, idx_parts, is_idx_images, read_idx
from regard.data.images import SMALLEST, open_picture, pixels_of
from regard.errors import DataError, UsageError, shortened
from regard.shapes import Float, Tensor

Part = Literal["train", "valid", "test"]
ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp")
_PARTS: dict[str, Part] = {
    "train": "train",
    "training": "train",
    "valid": "valid",
    "val": "valid",
    "validation": "valid",
    "test": "test",
    "testing": "test",
}
_MOST_BYTES = 1 << 28  # of one file in an archive: what is packed small may be large
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


@dataclass(frozen=True)
class _Wanted:
    """What is asked of a set: the part its name says or that serves, and what is made of it."""

    asked: Part | None
    part: Part | None
    size: tuple[int, int] | None
    n_channels: int | None
    is_known: bool  # whether it is said which classes there may be


@dataclass(frozen=True)
class PictureFile:
    """A file of a folder or an archive: its path inside, what to call it, and how it is read."""

    path: PurePosixPath
    name: str
    read: Callable[[], Path | bytes]


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
        found = found if classes is None or found.labels is None else _in_order(found, classes)
        return _with_channels(found, n_channels)
    path, asked = _named(name)
    wanted = _Wanted(asked, part, both, n_channels, classes is not None)
    if path.is_dir() and (parts := idx_parts(path)):
        found = _of_idx(_chosen_idx(path, parts, wanted), both, pads)
    elif path.is_file() and is_idx_images(path):
        found = _of_idx(path, both, pads)
    else:
        found = _of_files(path, wanted)
    if classes is not None and found.labels is not None:
        found = _in_order(found, classes)
    return _with_channels(found, n_channels)


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
    return _framed(found, frame) if pads and min(frame) >= 0 else _resized(found, size)


def _framed(found: PictureSet, frame: Sequence[int]) -> PictureSet:
    """The pictures in the middle of larger ones."""
    sides = [(n // 2, n - n // 2) for n in frame]
    pixels = np.pad(found.pixels, ((0, 0), *sides, (0, 0)))
    boxes = found.boxes
    if boxes is not None:
        boxes = boxes + np.array((sides[1][0], sides[0][0]) * 2)
    return replace(found, pixels=pixels, boxes=boxes)


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


def _resized(found: PictureSet, size: tuple[int, int]) -> PictureSet:
    height, width = size
    pixels = np.empty((len(found), height, width, found.n_channels), np.uint8)
    for row in range(len(found)):
        pixels[row] = pixels_of(open_picture(found.pixels[row, :, :, 0]), size, 1)
    boxes = found.boxes
    if boxes is not None:
        before = np.array(found.size[::-1] * 2)
        boxes = np.rint(boxes * np.array((width, height) * 2) / before).astype(np.int64)
    return replace(found, pixels=pixels, boxes=boxes)


def _of_files(path: Path, wanted: _Wanted) -> PictureSet:
    if path.is_dir():
        return _read_entries(path, *_listed_folder(path), wanted)
    try:
        with zipfile.ZipFile(path) as archive:
            return _read_entries(path, *_listed_archive(path, archive), wanted)
    except (zipfile.BadZipFile, NotImplementedError, OSError) as error:
        raise DataError(
            f"{path} is no set of pictures: name a folder of pictures, a .zip of one that is "
            "complete, or an idx file."
        ) from error


def list_pictures(name: str | Path) -> list[PictureFile]:
    """The pictures of a folder or a zip archive, however deep they lie; none is read yet.

    Raises:
        DataError: it is neither, or holds no pictures.
    """
    path = Path(name).expanduser()
    try:
        # An archive stays open as long as one of its files may be read.
        entries = (
            _listed_folder(path) if path.is_dir() else _listed_archive(path, zipfile.ZipFile(path))
        )[1]
    except (zipfile.BadZipFile, NotImplementedError, OSError) as error:
        raise DataError(
            f"{path} is no set of pictures: name a folder of pictures or a .zip that is complete."
        ) from error
    return _pictures(path, entries)


def _pictures(path: Path, entries: Sequence[PictureFile]) -> list[PictureFile]:
    pictures = [one for one in entries if one.path.suffix.lower() in ENDINGS]
    if not pictures:
        raise DataError(
            f"{path} holds no pictures: give files that end with {', '.join(ENDINGS[:-1])} or "
            f"{ENDINGS[-1]}."
        )
    return pictures


def _listed_folder(path: Path) -> tuple[list[PurePosixPath], list[PictureFile]]:
    """All folders and files inside; links are followed, but none twice."""
    folders, entries, seen = list[PurePosixPath](), list[PictureFile](), set[str]()
    for place, inner, names in os.walk(path, followlinks=True):
        inner[:] = sorted(one for one in inner if not _is_hidden(one))
        real = os.path.realpath(place)
        if real in seen:
            inner.clear()
            continue
        seen.add(real)
        within = PurePosixPath(Path(place).relative_to(path).as_posix())
        folders += [within / one for one in inner]
        for one in sorted(names):
            if not _is_hidden(one):
                file = Path(place) / one
                entries.append(PictureFile(within / one, str(file), lambda file=file: file))  # type: ignore[misc]
    return folders, entries


def _listed_archive(
    path: Path, archive: zipfile.ZipFile
) -> tuple[list[PurePosixPath], list[PictureFile]]:
    """All folders and files inside; nothing is unpacked onto the disk."""
    folders, entries = list[PurePosixPath](), list[PictureFile]()
    for info in archive.infolist():
        within = PurePosixPath(info.filename)
        if within.is_absolute() or ".." in within.parts or "\\" in info.filename:
            raise DataError(
                f"{path} has a file that would lie outside of it, {shortened(info.filename)!r}: "
                "pack the pictures again."
            )
        if any(map(_is_hidden, within.parts)):
            continue
        folders += within.parents if not info.is_dir() else (within, *within.parents)
        if not info.is_dir():
            name = f"{path}: {info.filename}"
            entries.append(PictureFile(within, name, partial(_unpacked, archive, path, info)))
    return list(dict.fromkeys(folders)), sorted(entries, key=lambda one: one.path)


def _unpacked(archive: zipfile.ZipFile, path: Path, info: zipfile.ZipInfo) -> bytes:
    name = f"{path}: {info.filename}"
    if info.flag_bits & 1:
        raise DataError(f"{name} is encrypted: pack the pictures without a password.")
    if info.file_size > _MOST_BYTES:
        raise DataError(f"{name} has {info.file_size:,} bytes: make it smaller, or leave it out.")
    try:
        return archive.read(info)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise DataError(f"{name} is damaged or not complete: pack the pictures again.") from error


def _is_hidden(name: str) -> bool:
    """What systems put beside pictures."""
    return name.startswith(".") or name in ("__MACOSX", "Thumbs.db", "desktop.ini")


def _read_entries(
    path: Path, folders: list[PurePosixPath], entries: list[PictureFile], wanted: _Wanted
) -> PictureSet:
    pictures = _pictures(path, entries)
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


def _in_order(found: PictureSet, classes: Sequence[str]) -> PictureSet:
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


def _with_channels(found: PictureSet, n_channels: int | None) -> PictureSet:
    """Grey where grey is asked for, or where nothing is asked for and all of it is grey."""
    if n_channels is None:
        n_channels = 1 if _are_grey(found.pixels) else 3
    if n_channels == found.n_channels:
        return found
    if n_channels == 3:
        return replace(found, pixels=np.repeat(found.pixels, 3, axis=3))
    return replace(found, pixels=np.ascontiguousarray(found.pixels[:, :, :, :1]))


def _are_grey(pixels: npt.NDArray[np.uint8]) -> bool:
    def parts() -> Iterator[npt.NDArray[Any]]:
        return (pixels[start : start + _ROWS] for start in range(0, len(pixels), _ROWS))

    return pixels.shape[3] == 1 or all((one == one[:, :, :, :1]).all() for one in parts())
