"""Sets of pictures from folders, archives and idx files; what cannot be used is named."""

import gzip
import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard.data import PictureSet, read_picture_set
from regard.data.idx_files import write_idx
from regard.errors import DataError, UsageError
from tests.unit.data.test_data_images import bomb, saved

GREY = np.arange(3 * 9 * 12, dtype=np.uint8).reshape(3, 9, 12)  # three pictures, 9 high, 12 wide


def put(path: Path, value: int = 0, size: tuple[int, int] = (12, 9)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("L", size, value).save(path)
    return path


def pets(folder: Path) -> Path:
    """Two classes: cats are dark, dogs are light; one dog lies deeper."""
    put(folder / "cats/1.png", 10)
    put(folder / "cats/2.jpg", 10)
    put(folder / "dogs/small/3.webp", 200)
    (folder / "dogs/notes.txt").write_text("good dogs")
    (folder / ".hidden").mkdir()
    return folder


def zipped(folder: Path, path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder.parent))
    return path


@pytest.mark.parametrize("is_packed", [False, True])
def test_folders_are_classes(tmp_path: Path, is_packed: bool) -> None:
    place = pets(tmp_path / "pets")
    if is_packed:
        place = zipped(place, tmp_path / "pets.zip")
    found = read_picture_set(place)
    assert (found.classes, found.size, found.n_channels) == (("cats", "dogs"), (9, 12), 1)
    assert found.labels is not None
    assert found.labels.tolist() == [0, 0, 1]
    assert found.n_skipped == 1
    assert found.file(2).endswith("pets/dogs/small/3.webp")
    means = found.pixels.mean((1, 2, 3))
    np.testing.assert_allclose(means, [10, 10, 200], atol=3)
    numbers = found.numbers([2, 0])
    assert numbers.shape == (2, 1, 9, 12)
    np.testing.assert_allclose(numbers.mean((1, 2, 3)), means[[2, 0]] / 127.5 - 1, atol=1e-5)
    one = found.subset(np.array([2]))
    assert (len(one), one.file(0)) == (1, found.file(2))


def test_flat_folders_have_no_classes(tmp_path: Path) -> None:
    for n in range(3):
        Image.new("RGB", (10, 8), (n, 50, 100)).save(tmp_path / f"{n}.bmp")
    found = read_picture_set(tmp_path)
    assert (found.labels, found.classes, len(found), found.n_channels) == (None, (), 3, 3)
    assert read_picture_set(tmp_path, size=16, n_channels=1).pixels.shape == (3, 16, 16, 1)
    assert read_picture_set(tmp_path, size=(8, 32)).pixels.shape == (3, 8, 32, 3)


def test_a_single_class_is_one(tmp_path: Path) -> None:
    put(tmp_path / "cats/1.png")
    found = read_picture_set(tmp_path)
    assert (found.classes, found.labels is not None) == (("cats",), True)


def test_numbers_are_counted_and_not_spelled(tmp_path: Path) -> None:
    for name in ("10", "9", "0"):
        put(tmp_path / name / "1.png")
    assert read_picture_set(tmp_path).classes == ("0", "9", "10")


def test_parts_of_a_folder(tmp_path: Path) -> None:
    for part, value in (("train", 10), ("val", 20), ("test", 30)):
        put(tmp_path / part / "cats/1.png", value)
        put(tmp_path / part / "dogs/1.png", value)

    def shade(found: PictureSet) -> int:
        assert found.classes == ("cats", "dogs")
        return int(found.pixels.max())

    assert shade(read_picture_set(tmp_path)) == 10
    assert shade(read_picture_set(tmp_path, part="valid")) == 20
    assert shade(read_picture_set(f"{tmp_path}:test")) == 30
    assert shade(read_picture_set(f"{tmp_path}:train", part="test")) == 10


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("form", ["{}-{}-idx{}-{}", "emnist-{}-{}.idx{}-{}"])
def test_idx_files(tmp_path: Path, ending: str, form: str) -> None:
    def write(part: str, what: str, array: np.ndarray, kind: str = "ubyte") -> None:
        path = tmp_path / form.format(part, what, array.ndim, kind)
        write_idx(path, array)
        if ending:
            path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()

    write("train", "images", GREY)
    write("train", "labels", np.array([2, 0, 2], np.uint8))
    write("train", "boxes", np.array([[1, 2, 3, 4]] * 3, np.int16), "short")
    write("t10k", "images", 255 - GREY[:2])
    found = read_picture_set(tmp_path)
    np.testing.assert_array_equal(found.pixels[:, :, :, 0], GREY)
    assert found.labels is not None
    assert found.boxes is not None
    assert (found.labels.tolist(), found.classes) == ([2, 0, 2], ("0", "1", "2"))
    assert found.boxes.tolist()[1] == [1, 2, 3, 4]
    held = read_picture_set(tmp_path, part="test")
    assert (held.labels, len(held)) == (None, 2)
    file = next(tmp_path.glob("*t10k*"))
    np.testing.assert_array_equal(read_picture_set(file).pixels, held.pixels)
    wide = read_picture_set(tmp_path, size=(18, 36), n_channels=3)
    assert wide.pixels.shape == (3, 18, 36, 3)
    assert wide.boxes is not None
    assert wide.boxes.tolist()[0] == [3, 4, 9, 8]


def test_classes_may_be_known_before(tmp_path: Path) -> None:
    found = read_picture_set(pets(tmp_path / "pets"), classes=("dogs", "horses", "cats"))
    assert found.labels is not None
    assert (found.labels.tolist(), found.classes) == ([2, 2, 0], ("dogs", "horses", "cats"))


def test_odd_modes_are_turned_into_colours_or_grey(tmp_path: Path) -> None:
    shades = Image.fromarray(np.full((9, 12), 0x80FF, np.uint16))
    (tmp_path / "16.png").write_bytes(saved(shades, "PNG"))
    for mode, value in (
        ("CMYK", (0, 0, 0, 127)),
        ("RGBA", (128, 128, 128, 255)),
        ("LA", (128, 255)),
    ):
        kind = "JPEG" if mode == "CMYK" else "PNG"
        image = Image.new(mode, (12, 9), value)
        (tmp_path / f"{mode}.{kind.lower()}").write_bytes(saved(image, kind))
    palette = Image.new("L", (12, 9), 128).convert("P")
    (tmp_path / "palette.gif").write_bytes(
        saved(palette, "GIF", save_all=True, append_images=[Image.new("P", (12, 9), 3)])
    )
    found = read_picture_set(tmp_path)
    np.testing.assert_allclose(found.pixels, 128, atol=2)


def test_links_that_go_round_end(tmp_path: Path) -> None:
    pets(tmp_path)
    (tmp_path / "cats/again").symlink_to(tmp_path)
    assert len(read_picture_set(tmp_path)) == 3


def _mixed(place: Path) -> Path:
    put(pets(place) / "alone.png")
    return place


def _empty_class(place: Path) -> Path:
    (pets(place) / "horses").mkdir()
    return place


def _other_sizes(place: Path) -> Path:
    put(pets(place) / "cats/9.png", size=(30, 20))
    return place


def _text_only(place: Path) -> Path:
    place.mkdir()
    (place / "a.txt").write_text("no picture")
    return place


def _damaged(content: bytes) -> Callable[[Path], Path]:
    def make(place: Path) -> Path:
        (pets(place) / "cats/2.jpg").write_bytes(content)
        return place

    return make


@pytest.mark.parametrize(
    ("make", "facts"),
    [
        (lambda place: place, ("there is no", "name a folder")),
        (_text_only, ("holds no pictures", ".png")),
        (_mixed, ("alone.png", "put each into the folder of its class")),
        (_empty_class, ("horses holds no pictures", "remove the folder")),
        (_other_sizes, ("9.png has 30 × 20 pixels", "12 × 9", "model.size")),
        (_damaged(b"no picture"), ("cats/2.jpg is not a picture",)),
        (_damaged(saved(Image.new("L", (90, 90)), "JPEG")[:300]), ("cats/2.jpg is damaged",)),
        (_damaged(bomb(60_000)), ("cats/2.jpg has more than 89 million pixels",)),
    ],
)
@pytest.mark.parametrize("is_packed", [False, True])
def test_what_cannot_be_used_is_told_by_name(
    tmp_path: Path, make: Callable[[Path], Path], facts: tuple[str, ...], is_packed: bool
) -> None:
    place = make(tmp_path / "pets")
    if is_packed and place.exists():
        place = zipped(place, tmp_path / "pets.zip")
    with pytest.raises(DataError) as caught:
        read_picture_set(place)
    assert str(place) in str(caught.value)
    assert all(fact in str(caught.value) for fact in facts), caught.value


def _archive(name: str = "cats/1.png", *, flag: int = 0, content: bytes = b"") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        info = zipfile.ZipInfo(name)
        archive.writestr(info, content or saved(Image.new("L", (9, 9)), "PNG"))
    packed = bytearray(file.getvalue())
    for start in (6, packed.index(b"PK\x01\x02") + 8):
        packed[start] |= flag
    return bytes(packed)


def _broken() -> bytes:
    packed = bytearray(_archive())
    packed[60] ^= 0xFF  # inside the picture: its sum is no longer right
    return bytes(packed)


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        (b"nothing", ("is no set of pictures",)),
        (_archive()[:-30], ("is no set of pictures",)),
        (_archive("../cats/1.png"), ("'../cats/1.png'", "outside")),
        (_archive("/cats/1.png"), ("'/cats/1.png'", "outside")),
        (_archive("cats\\1.png"), ("outside",)),
        (_archive(flag=1), ("cats/1.png is encrypted", "without a password")),
        (_broken(), ("cats/1.png is damaged",)),
    ],
)
def test_archives_that_cannot_be_used(tmp_path: Path, content: bytes, facts: tuple[str]) -> None:
    path = tmp_path / "pets.zip"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_picture_set(path)
    assert str(path) in str(caught.value)
    assert all(fact in str(caught.value) for fact in facts), caught.value
    assert not (tmp_path.parent / "cats").exists()


def test_what_is_packed_small_and_is_large_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.data.picture_files._MOST_BYTES", 1_000)
    path = tmp_path / "pets.zip"
    path.write_bytes(_archive(content=bytes(5_000)))
    with pytest.raises(DataError, match=r"cats/1\.png has 5,000 bytes: make it smaller"):
        read_picture_set(path)


def _idx(n_axes: int, *lengths: int, body: int, kind: int = 8) -> bytes:
    return struct.pack(f">4B{len(lengths)}I", 0, 0, kind, n_axes, *lengths) + bytes(body)


WHOLE = _idx(3, 2, 9, 9, body=162)


@pytest.mark.parametrize(
    ("images", "labels", "facts"),
    [
        (b"", None, ("is not an idx file",)),
        (b"GIF89a" * 9, None, ("is not an idx file",)),
        (_idx(3, 2, 9, 9, body=162, kind=13), None, ("is not an idx file",)),
        (_idx(1, 2, body=2), None, ("has 1 axes, and 3 are needed",)),
        (WHOLE[:9], None, ("not complete",)),
        (WHOLE[:-1], None, ("not complete",)),
        (WHOLE + b"?", None, ("not complete",)),
        (_idx(3, 1 << 31, 1 << 31, 9, body=9), None, ("is it the right file",)),
        (_idx(3, 0, 9, 9, body=0), None, ("has 0 pictures",)),
        (_idx(3, 2, 9, 2, body=36), None, ("2 pictures of 9 × 2", "8 × 8")),
        (WHOLE, _idx(1, 3, body=3), ("3 labels", "2 pictures", "do not belong together")),
        (WHOLE, _idx(1, 2, body=1), ("labels-idx1-ubyte", "not complete")),
    ],
)
@pytest.mark.parametrize("is_packed", [False, True])
def test_idx_files_that_cannot_be_used(
    tmp_path: Path, images: bytes, labels: bytes | None, facts: tuple[str, ...], is_packed: bool
) -> None:
    for what, axes, content in (("images", 3, images), ("labels", 1, labels)):
        if content is not None:
            path = tmp_path / f"train-{what}-idx{axes}-ubyte{'.gz' if is_packed else ''}"
            path.write_bytes(gzip.compress(content) if is_packed else content)
    with pytest.raises(DataError) as caught:
        read_picture_set(tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert all(fact in str(caught.value) for fact in facts), caught.value


def test_a_gz_file_that_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "train-images-idx3-ubyte.gz"
    path.write_bytes(gzip.compress(WHOLE)[:-12])
    with pytest.raises(DataError, match="not complete"):
        read_picture_set(path)


@pytest.mark.parametrize(
    ("names", "asked", "facts"),
    [
        (("train",), ":test", ("has no part test", "train")),
        (("a-train", "b-train"), "", ("several idx files", "name one of them")),
        (("t10k",), "", ("has no part train", ":test")),
    ],
)
def test_parts_that_are_not_there(
    tmp_path: Path, names: tuple[str, ...], asked: str, facts: tuple[str, ...]
) -> None:
    for name in names:
        write_idx(tmp_path / f"{name}-images-idx3-ubyte", GREY)
    with pytest.raises(DataError) as caught:
        read_picture_set(f"{tmp_path}{asked}")
    assert all(fact in str(caught.value) for fact in facts), caught.value


def test_a_part_of_a_folder_without_parts(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no part test: put its classes into folders"):
        read_picture_set(f"{pets(tmp_path)}:test")


def test_unknown_classes_and_channels(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"the class 'cats', which is not among dogs, horses"):
        read_picture_set(pets(tmp_path), classes=("dogs", "horses"))
    with pytest.raises(UsageError, match="not 2"):
        read_picture_set(tmp_path, n_channels=2)
