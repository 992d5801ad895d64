"""Arrays in idx files, as those of MNIST: two zero bytes, the type, the axes, their lengths, bytes.

``train-images-idx3-ubyte`` stands beside ``train-labels-idx1-ubyte``, and ``t10k-`` is the test
part; each may end with .gz. Where the place of something in a picture is known,
``train-boxes-idx2-short`` has its x0, y0, x1 and y1.
"""

import gzip
import math
import re
import struct
import zlib
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from regard.errors import DataError
from regard.files import whole_file

_TYPES: dict[int, np.dtype[Any]] = {0x08: np.dtype(">u1"), 0x0B: np.dtype(">i2")}
_MOST_BYTES = 1 << 33
_IMAGES = re.compile(
    r"(?P<before>.*?)(?P<part>train|t10k|test|valid)?(?P<mark>[-_.]?images)(?P<after>[-_.]idx)3"
    r"(?P<end>[-_.]ubyte)?(?P<packed>\.gz)?",
    re.IGNORECASE,
)
_PARTS = {"t10k": "test"}


def is_idx_images(path: Path) -> bool:
    """Whether a file is named as idx files of pictures are."""
    return _IMAGES.fullmatch(path.name) is not None


def idx_parts(folder: Path) -> dict[str, Path]:
    """The idx files of pictures in a folder, by part: train, valid or test; "" where none is named.

    Raises:
        DataError: there are several of one part.
    """
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        named = _IMAGES.fullmatch(path.name)
        if named is None or not path.is_file():
            continue
        part = (named["part"] or "").lower()
        part = _PARTS.get(part, part)
        if part in found and found[part].name.removesuffix(".gz") != path.name.removesuffix(".gz"):
            raise DataError(
                f"{folder} has several idx files of pictures, {found[part].name} and {path.name}: "
                "name one of them, or give each set a folder of its own."
            )
        found.setdefault(part, path)
    return found


def beside(images: Path, what: str, axes: int, kind: str = "ubyte") -> Path | None:
    """The file of labels or boxes that belongs to a file of pictures, where there is one."""
    named = _IMAGES.fullmatch(images.name)
    assert named is not None
    mark = named["mark"][: -len("images")]
    end = named["end"] or ""
    stem = f"{named['before']}{named['part'] or ''}{mark}{what}{named['after']}{axes}"
    for ending in (f"{end[:1]}{kind}" if end else "", ""):
        for packed in ("", ".gz"):
            path = images.with_name(f"{stem}{ending}{packed}")
            if path.is_file():
                return path
    return None


def read_idx(path: Path, n_axes: int) -> npt.NDArray[Any]:
    """The array of an idx file; of one that is not packed, the bytes stay on the disk.

    Raises:
        DataError: it is something else, has other axes, or is not complete.
    """
    is_packed = path.name.lower().endswith(".gz")
    try:
        with gzip.open(path) if is_packed else path.open("rb") as file:
            kind, shape = _head(path, file, n_axes)
            n_bytes = kind.itemsize * math.prod(shape)
            if n_bytes > _MOST_BYTES:
                raise DataError(f"{path} says it has {n_bytes:,} bytes: is it the right file?")
            if not is_packed:
                return _mapped(path, kind, shape, 4 + 4 * n_axes, n_bytes)
            content = file.read(n_bytes + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise _incomplete(path) from error
    if len(content) != n_bytes:
        raise _incomplete(path)
    return np.frombuffer(content, kind).reshape(shape)


def _head(path: Path, file: BufferedIOBase, n_axes: int) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """The type of the numbers, and how many there are along each axis."""
    head = file.read(4)
    if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in _TYPES or not head[3]:
        raise DataError(
            f"{path} is not an idx file of bytes: give one such as MNIST's, or a folder of "
            "pictures."
        )
    if head[3] != n_axes:
        raise DataError(
            f"{path} has {head[3]} axes, and {n_axes} are needed: pictures are idx3 files, labels "
            "idx1 files."
        )
    lengths = file.read(4 * n_axes)
    if len(lengths) < 4 * n_axes:
        raise _incomplete(path)
    return _TYPES[head[2]], struct.unpack(f">{n_axes}I", lengths)


def _mapped(
    path: Path, kind: np.dtype[Any], shape: tuple[int, ...], start: int, n_bytes: int
) -> npt.NDArray[Any]:
    if path.stat().st_size != start + n_bytes:
        raise _incomplete(path)
    return np.memmap(path, kind, "r", start, shape) if n_bytes else np.zeros(shape, kind)


def _incomplete(path: Path) -> DataError:
    return DataError(f"{path} is damaged or not complete: copy or download it again.")


def write_idx(path: Path, array: npt.NDArray[Any]) -> None:
    """Write an array of bytes or short numbers as an idx file."""
    code = {kind.kind: number for number, kind in _TYPES.items()}[array.dtype.kind]
    with whole_file(path) as partial, partial.open("wb") as file:
        file.write(struct.pack(f">4B{array.ndim}I", 0, 0, code, array.ndim, *array.shape))
        file.write(np.ascontiguousarray(array, _TYPES[code]).data)
