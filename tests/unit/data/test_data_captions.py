"""Pictures with captions: what files of captions may look like, and which picture a name means."""

from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from PIL import Image

from regard.data.captions import read_captioned, read_captions
from regard.errors import DataError


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Three pictures, two of them in folders of their own."""
    for n, name in enumerate(("a.png", "dogs/b.png", "cats/b.png")):
        path = tmp_path / "pictures" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((9, 8, 3), 50 * n, np.uint8)).save(path)
    return tmp_path


def write(folder: Path, text: str, name: str = "captions.tsv") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


@pytest.mark.parametrize(
    "text",
    [
        "a.png#0\tone  dog .\na.png#1\ttwo\ndogs/b\tthree\n",
        "a.png\tone dog .\na\ttwo\ndogs/b.png\tthree\n",
        "a\ten\tone dog .\na\ten\ttwo\ndogs/b\ten\tthree\n",
        'image,caption\na.png,one dog .\na.png,two\n"dogs/b.png",three\n',
    ],
)
def test_formats(tmp_path: Path, text: str) -> None:
    found = read_captions(write(tmp_path, text))
    assert [caption for own in found.values() for caption in own] == ["one dog .", "two", "three"]


def test_one_language_of_several(tmp_path: Path) -> None:
    file = write(tmp_path, "a\ten\ta dog\na\tzh\t一只狗\na\tzh-translated\t狗\n")
    assert read_captions(f"{file}:zh") == {"a": ["一只狗"]}
    assert read_captions(f"{file}:zh-translated") == {"a": ["狗"]}
    with pytest.raises(DataError, match="captions in en, zh, zh-translated: choose one"):
        read_captions(file)
    with pytest.raises(DataError, match="there is no de"):
        read_captions(f"{file}:de")
    with pytest.raises(DataError, match="names no language"):
        read_captions(write(tmp_path, "a\ta dog") + ":de")


@pytest.mark.parametrize("is_archive", [False, True])
def test_names_mean_pictures(pictures: Path, is_archive: bool) -> None:
    place = pictures / "pictures"
    if is_archive:
        with ZipFile(pictures / "all.zip", "w") as archive:
            for path in place.rglob("*.png"):
                archive.write(path, path.relative_to(place))
        place = pictures / "all.zip"
    file = write(pictures, "cats/b.png\ta cat\na.jpg#0\ta thing\nnobody\tgone\ncats/b\tagain\n")
    found = read_captioned([f"{place}|{file}"])
    # "a.jpg" was saved in another format since; names in two folders need them.
    assert [one.key for one in found.pictures][:2] == ["cats/b", "a"]
    assert found.n_without_picture == 1
    assert found.n_captions == 3
    other = write(pictures, "zebra.png\tone\n")
    with pytest.raises(DataError, match="has none of them"):
        read_captioned([f"{place}|{other}"])


def test_lines_of_one_picture_are_its_captions(pictures: Path) -> None:
    a, b = (pictures / "pictures" / name for name in ("a.png", "dogs/b.png"))
    file = write(pictures, f"{a}\tone\n{b}\ttwo\n{a}\tthree\n")
    found = read_captioned([file, "scenes:en:valid:2"])
    assert [one.captions for one in found.pictures][:2] == [("one", "three"), ("two",)]
    assert len(found.pictures) == 4
    assert found.pictures[0].read() == str(a)


@pytest.mark.parametrize(
    ("text", "fact"),
    [("just words\n", "has no tab"), ("", "no captions"), ("\tno name\n", "has no tab")],
)
def test_what_is_no_file_of_captions_is_refused(tmp_path: Path, text: str, fact: str) -> None:
    with pytest.raises(DataError, match=fact):
        read_captions(write(tmp_path, text))
    with pytest.raises(DataError, match="no such file"):
        read_captions(str(tmp_path / "nowhere.tsv"))
