"""Features of pictures: a grid of vectors for each, computed once by a frozen network and kept.

A folder of features holds safetensors files, in which each tensor is named after its picture
(``dogs/rex.jpg`` is ``dogs/rex``), or ``.npy`` files of that name, one for each picture. The shape
is cells × width, row by row from the top left, or rows × columns × width.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from regard.errors import DataError
from regard.files import explained_errors, whole_file

Grid = npt.NDArray[np.float16]  # rows × columns × width

_PER_FILE = 512  # pictures; what was computed is kept when the rest is not
_AT_ONCE = 16  # pictures


def picture_key(name: str) -> str:
    """What features are found under: the name of a picture without its ending."""
    return str(PurePosixPath(name).with_suffix(""))


class FeatureFolder:
    """Features by the name of their picture; only those that are asked for are read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._places: dict[str, Path] = {}
        self._open: dict[Path, Any] = {}
        with explained_errors(folder):
            if folder.is_dir():
                for path in sorted(folder.rglob("*")):
                    self._list(path)

    def _list(self, path: Path) -> None:
        if path.suffix == ".safetensors":
            try:
                self._open[path] = safe_open(path, framework="numpy")
            except SafetensorError as error:
                raise DataError(f"{path} is damaged: {error}.") from error
            self._places |= dict.fromkeys(self._open[path].keys(), path)
        elif path.suffix == ".npy":
            self._places[picture_key(path.relative_to(self.folder).as_posix())] = path

    def __contains__(self, name: str) -> bool:
        return picture_key(name) in self._places

    def __len__(self) -> int:
        return len(self._places)

    @property
    def names(self) -> tuple[str, ...]:
        """Of all pictures, without their endings."""
        return tuple(self._places)

    def read(self, name: str) -> Grid:
        """The features of a picture, rows × columns × width.

        Raises:
            DataError: there are none, or they are no grid of vectors.
        """
        key = picture_key(name)
        path = self._places.get(key)
        if path is None:
            raise DataError(f"{self.folder} has no features of {name}: compute them first.")
        if path in self._open:
            return as_grid(self._open[path].get_tensor(key), f"{key} in {path}")
        return read_array(path)

    def shape(self) -> tuple[int, int, int]:
        """Rows, columns and width of the first picture, which all others have to share."""
        if not self._places:
            raise DataError(
                f"{self.folder} holds no features: it needs .safetensors files with a tensor for "
                "each picture, or .npy files."
            )
        rows, columns, width = self.read(next(iter(self._places))).shape
        return rows, columns, width


def read_array(path: Path) -> Grid:
    """The features in a .npy file."""
    with explained_errors(path):
        try:
            return as_grid(np.load(path, allow_pickle=False), str(path))
        except ValueError as error:
            raise DataError(f"{path} is not an array of numbers: {error}.") from error


def as_grid(found: npt.NDArray[Any], name: str) -> Grid:
    """Features as rows × columns × width; cells without rows have to make a square."""
    if found.ndim == 2:
        side = round(len(found) ** 0.5)
        if side * side == len(found):
            found = found.reshape(side, side, found.shape[1])
    if found.ndim != 3 or found.dtype.kind != "f" or not found.size:
        raise DataError(
            f"{name} has the shape {found.shape} of {found.dtype}: features are rows × columns × "
            "width, or cells × width of a square, as floating-point numbers."
        )
    return found.astype(np.float16, copy=False)


def write_features(
    folder: Path,
    names: Sequence[str],
    encode: Callable[[Sequence[str]], npt.NDArray[np.float16]],
) -> Iterator[int]:
    """Compute the features of pictures that have none yet, and say after each batch how many.

    ``encode`` gives the grids of some pictures by their names. Files are written whole: what is
    interrupted goes on after the last of them.
    """
    there = FeatureFolder(folder)
    missing = list(dict.fromkeys(name for name in names if name not in there))
    n_files = len(list(folder.glob("*.safetensors"))) if folder.is_dir() else 0
    n_done = 0
    for number, part in enumerate(_parts(missing, _PER_FILE), n_files):
        grids: dict[str, npt.NDArray[np.float16]] = {}
        for few in _parts(part, _AT_ONCE):
            grids |= zip(map(picture_key, few), encode(few), strict=True)
            n_done += len(few)
            yield n_done
        with explained_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            with whole_file(folder / f"features-{number:05}.safetensors") as partial:
                save_file(grids, partial)


def _parts(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), size):
        yield names[start : start + size]
