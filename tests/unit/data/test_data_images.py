"""Pictures become arrays of one size, whatever they come as; what is no picture is told."""

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from regard.corpora.scenes import draw_scene
from regard.data import Cell, ImageCodec, open_picture
from regard.errors import DataError, UsageError

SCENE = "white paper; circle red large 20 40; T blue small 50 12"
CODEC = ImageCodec()


def saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def test_a_scene_its_array_its_image_and_its_file_are_one_picture(tmp_path: Path) -> None:
    array = draw_scene(SCENE)
    image = Image.fromarray(array)
    path = tmp_path / "scene.png"
    image.save(path)
    pixels = CODEC.encode(SCENE)
    assert (pixels.shape, pixels.dtype) == ((3, 64, 64), np.float32)
    np.testing.assert_allclose((pixels.transpose(1, 2, 0) + 1) * 127.5, array, atol=1e-4)
    assert (pixels.min() >= -1, pixels.max()) == (True, 1.0)
    for same in (array, image, path, str(path), path.read_bytes()):
        np.testing.assert_array_equal(CODEC.encode(same), pixels)
    batch = CODEC.collate([pixels, CODEC.encode(array[::-1])])
    assert batch.shape == (2, 3, 64, 64)
    np.testing.assert_array_equal(batch[1].numpy(), pixels[:, ::-1])


@pytest.mark.parametrize(("kind", "most"), [("JPEG", 0.1), ("WEBP", 0.1), ("GIF", 0.2), ("BMP", 0)])
def test_other_formats(kind: str, most: float) -> None:
    image = Image.fromarray(draw_scene(SCENE))
    difference = np.abs(CODEC.encode(saved(image, kind)) - CODEC.encode(image))
    assert difference.mean() <= most


def test_other_sizes_are_stretched() -> None:
    array = np.zeros((20, 50, 3), np.uint8)
    array[:, 25:] = 255  # the right half is white
    pixels = ImageCodec(size=16, cell=4).encode(array)
    assert pixels.shape == (3, 16, 16)
    assert (pixels[:, :, :7] == -1).all()
    assert (pixels[:, :, 9:] == 1).all()


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_what_is_transparent_is_white(mode: str) -> None:
    image = Image.new("RGBA", (16, 16), (0, 0, 0, 0))
    image.paste((0, 0, 0, 255), (0, 0, 16, 8))
    pixels = ImageCodec(16, 4).encode(saved(image.convert(mode), "PNG"))
    assert (pixels[:, :8] == -1).all()
    assert (pixels[:, 8:] == 1).all()


def test_16_bits_are_not_cut_off() -> None:
    image = Image.fromarray(np.full((16, 16), 0x80FF, np.uint16))
    assert CODEC.encode(saved(image, "PNG")).max() == pytest.approx(0x80 / 127.5 - 1, abs=1e-6)


def test_photographs_stand_upright() -> None:
    image = Image.new("RGB", (24, 16), "white")
    image.paste((0, 0, 0), (0, 0, 12, 16))  # the left is black
    exif = Image.Exif()
    exif[0x0112] = 6  # a quarter turn to the right when shown
    upright = open_picture(saved(image, "PNG", exif=exif))
    assert upright.size == (16, 24)
    assert (upright.getpixel((8, 2)), upright.getpixel((8, 22))) == ((0, 0, 0), (255, 255, 255))


def test_photographs_of_telephones_have_more_pictures_behind_them() -> None:
    image = Image.fromarray(draw_scene(SCENE))
    several = saved(image, "MPO", save_all=True, append_images=[image.rotate(90)], quality=95)
    assert np.abs(CODEC.encode(several) - CODEC.encode(image)).mean() < 0.05


def test_units_are_cells_with_their_pixels() -> None:
    codec = ImageCodec(size=24, cell=8)
    assert codec.grid == (3, 3)
    cells = codec.units()
    assert (cells[0], cells[5]) == (Cell(0, 0, (0, 0, 8, 8)), Cell(1, 2, (16, 8, 24, 16)))
    stretched = codec.units(width=48, height=100)
    assert stretched[5].box == (32, 33, 48, 67)
    assert stretched[8].box[2:] == (48, 100)
    covered = np.zeros((100, 48), int)
    for cell in stretched:
        x0, y0, x1, y1 = cell.box
        covered[y0:y1, x0:x1] += 1
    assert (covered == 1).all()


def bomb(side: int) -> bytes:
    """A PNG of a few bytes that says it has very many pixels."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        check = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def frames() -> bytes:
    first, second = (Image.new("L", (16, 16), value) for value in (0, 255))
    return saved(first, "GIF", save_all=True, append_images=[second])


def test_of_several_frames_the_first_is_the_picture() -> None:
    assert (CODEC.encode(frames()) == -1).all()


def test_grey_has_one_channel() -> None:
    pixels = ImageCodec(16, 4, n_channels=1).encode(Image.new("RGB", (20, 30), (255, 255, 255)))
    assert pixels.shape == (1, 16, 16)
    assert (pixels == 1).all()


SMALL = Image.fromarray(draw_scene(SCENE))


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        (b"", "is not a picture: give PNG, JPEG"),
        (b"a red circle\n", "is not a picture"),
        (saved(SMALL, "TIFF"), "is not a picture"),
        (saved(SMALL, "PNG")[:200], "is damaged or not complete"),
        (saved(SMALL, "JPEG")[:500], "is damaged or not complete"),
        (saved(Image.new("RGB", (1, 1)), "PNG"), "has 1 × 1 pixels: at least 8 × 8"),
        (bomb(10_000), "has more than 89 million pixels"),
        (bomb(60_000), "has more than 89 million pixels"),
        (bomb(100), "is damaged or not complete"),
    ],
)
def test_files_that_cannot_be_used_are_told_by_name(
    content: bytes, fact: str, tmp_path: Path
) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        CODEC.encode(path)
    assert str(caught.value).startswith(f"{path} ")
    assert fact in str(caught.value)
    with pytest.raises(DataError, match=r"^the picture "):
        CODEC.encode(content)


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"{tmp_path} is a folder"):
        CODEC.encode(tmp_path)
    with pytest.raises(DataError, match=r"there is no picture none\.png"):
        CODEC.encode("none.png")
    with pytest.raises(DataError, match="'circle red huge 9 9' is not an object"):
        CODEC.encode("white paper; circle red huge 9 9")


@pytest.mark.usefixtures("as_users_call")
@pytest.mark.parametrize(
    ("given", "fact"),
    [
        (None, "not NoneType"),
        ([[1, 2]], "not list"),
        (np.zeros((9, 9, 3)), "float64"),
        (np.zeros((3, 9, 9), np.uint8), "(3, 9, 9)"),
        (np.zeros((9,), np.uint8), "(9,)"),
    ],
)
def test_what_could_be_no_picture_is_a_wrong_call(given: Any, fact: str) -> None:
    with pytest.raises(UsageError) as caught:
        CODEC.encode(given)
    assert fact in str(caught.value)


@pytest.mark.parametrize(("size", "cell"), [(60, 8), (4, 8), (64, 0), (0, 8)])
def test_cells_fill_the_picture(size: int, cell: int) -> None:
    with pytest.raises(UsageError, match=f"{size} pixels .* cells of {cell}"):
        ImageCodec(size, cell)
