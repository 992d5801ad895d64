"""Ids on disk are what was written: checksums, and what must hold whoever wrote them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from regard.errors import DataError
from regard.files import CHECKSUMS, first_damaged


@contextmanager
def whole_header(folder: Path) -> Iterator[None]:
    """Turn a key of the header that is missing, or of another type, into one sentence."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise _damaged(folder / "header.json", f"not as it was written ({error})") from error


def mapped(path: Path, dtype: str, n: int) -> npt.NDArray[Any]:
    """The n numbers of a file, mapped into memory."""
    expected = n * np.dtype(dtype).itemsize
    actual = path.stat().st_size if path.is_file() else 0
    if actual != expected:
        raise _damaged(path, f"it has {actual:,} bytes instead of {expected:,}")
    if not n:
        return np.zeros(0, dtype)  # nothing cannot be mapped
    # A plain view: slicing the memmap class itself is several times slower.
    return np.memmap(path, dtype=dtype, mode="r").view(np.ndarray)


def require_as_written(folder: Path) -> None:
    """Refuse a folder of which a file differs from its checksum."""
    if (path := first_damaged(folder)) is not None:
        raise _damaged(path, f"its checksum is not the one in {CHECKSUMS}")


def require_offsets(path: Path, offsets: npt.NDArray[np.int64], n_ids: int) -> None:
    """Refuse places in a stream of ids that go back, or beyond its end."""
    is_whole = offsets[0] == 0 and offsets[-1] == n_ids and bool((np.diff(offsets) >= 0).all())
    if not is_whole:
        raise _damaged(path, f"its places do not go from 0 to {n_ids:,}")


def require_ids(path: Path, ids: npt.NDArray[Any], n_vocabulary: int) -> None:
    """Refuse ids that a vocabulary of this size does not have."""
    if ids.size and not (ids.min() >= 0 and ids.max() < n_vocabulary):
        raise _damaged(path, f"it has ids outside the vocabulary of {n_vocabulary:,}")


def _damaged(path: Path, what: str) -> DataError:
    return DataError(
        f"{path} is damaged: {what}. Delete the folder {path.parent} and it will be prepared anew."
    )
