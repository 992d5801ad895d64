"""Features of pictures: written once, found again by name, refused if they are no grid."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from regard.data.features import FeatureFolder, write_features
from regard.errors import DataError

NAMES = [f"dogs/{n}.jpg" for n in range(40)]


def encode(names: Sequence[str]) -> npt.NDArray[np.float16]:
    numbers = [float(Path(name).stem) for name in names]
    return np.broadcast_to(np.array(numbers)[:, None, None, None], (len(names), 2, 3, 5)).astype(
        np.float16
    )


def test_what_was_written_is_found_by_the_name_of_its_picture(tmp_path: Path) -> None:
    assert list(write_features(tmp_path / "new", NAMES, encode)) == [16, 32, 40]
    found = FeatureFolder(tmp_path / "new")
    assert len(found) == 40
    assert "dogs/7.png" in found  # whatever it was saved as
    assert "7.jpg" not in found
    assert found.read("dogs/7.jpg").shape == found.shape() == (2, 3, 5)
    assert found.read("dogs/7.jpg")[1, 2, 4] == 7


def test_only_what_is_missing_is_computed(tmp_path: Path) -> None:
    list(write_features(tmp_path, NAMES[:20], encode))
    asked = list[str]()

    def watched(names: Sequence[str]) -> npt.NDArray[np.float16]:
        asked.extend(names)
        return encode(names)

    list(write_features(tmp_path, NAMES, watched))
    assert asked == NAMES[20:]
    assert len(list(tmp_path.glob("*.safetensors"))) == 2
    assert list(write_features(tmp_path, NAMES, watched)) == []


def test_what_is_interrupted_leaves_no_half_file(tmp_path: Path) -> None:
    def broken(names: Sequence[str]) -> npt.NDArray[np.float16]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(write_features(tmp_path, NAMES, broken))
    assert len(FeatureFolder(tmp_path)) == 0


def test_arrays_of_others_are_features_too(tmp_path: Path) -> None:
    (tmp_path / "dogs").mkdir()
    np.save(tmp_path / "dogs" / "rex.npy", np.arange(36, dtype=np.float32).reshape(9, 4))
    found = FeatureFolder(tmp_path)
    assert found.names == ("dogs/rex",)
    assert found.read("dogs/rex.jpeg").shape == (3, 3, 4)
    assert found.read("dogs/rex")[1, 0, 0] == 12


@pytest.mark.parametrize("shape", [(8, 4), (4,), (2, 2, 2, 2), (0, 3, 4)])
def test_what_is_no_grid_is_refused(tmp_path: Path, shape: tuple[int, ...]) -> None:
    np.save(tmp_path / "x.npy", np.zeros(shape, np.float32))
    with pytest.raises(DataError, match="rows × columns × width"):
        FeatureFolder(tmp_path).read("x")


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no features of rex"):
        FeatureFolder(tmp_path).read("rex")
    with pytest.raises(DataError, match="holds no features"):
        FeatureFolder(tmp_path).shape()
    (tmp_path / "bad.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(DataError, match="is damaged"):
        FeatureFolder(tmp_path)
    (tmp_path / "bad.safetensors").unlink()
    np.save(tmp_path / "pickled.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(DataError, match="not an array of numbers"):
        FeatureFolder(tmp_path).read("pickled")
