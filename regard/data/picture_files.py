"""Picture files of a folder or a zip archive, listed and then read one at a time."""

import os
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from regard.errors import DataError, shortened

ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp")
_MOST_BYTES = 1 << 28  # of one file in an archive: what is packed small may be large


@dataclass(frozen=True)
class PictureFile:
    """A file of a folder or an archive: its path inside, what to call it, and how it is read."""

    path: PurePosixPath
    name: str
    read: Callable[[], Path | bytes]


def list_pictures(name: str | Path) -> list[PictureFile]:
    """The pictures of a folder or a zip archive, however deep they lie; none is read yet.

    Raises:
        DataError: it is neither, or holds no pictures.
    """
    path = Path(name).expanduser()
    try:
        # An archive stays open as long as one of its files may be read.
        entries = (
            listed_folder(path) if path.is_dir() else listed_archive(path, zipfile.ZipFile(path))
        )[1]
    except (zipfile.BadZipFile, NotImplementedError, OSError) as error:
        raise DataError(
            f"{path} is no set of pictures: name a folder of pictures or a .zip that is complete."
        ) from error
    return pictures_among(path, entries)


def pictures_among(path: Path, entries: Sequence[PictureFile]) -> list[PictureFile]:
    """Those files that are pictures, by their endings; refuses none at all."""
    pictures = [one for one in entries if one.path.suffix.lower() in ENDINGS]
    if not pictures:
        raise DataError(
            f"{path} holds no pictures: give files that end with {', '.join(ENDINGS[:-1])} or "
            f"{ENDINGS[-1]}."
        )
    return pictures


def listed_folder(path: Path) -> tuple[list[PurePosixPath], list[PictureFile]]:
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


def listed_archive(
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
