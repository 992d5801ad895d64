"""Emoji are cut from their sheet and named, in the shape that captions are read in."""

from pathlib import Path

import pytest
from PIL import Image

from regard.data.captions import read_captioned
from regard.data.emoji import write_emoji
from regard.errors import DataError

COLOURS = ["red", "lime", "blue", "black", "yellow", "cyan"]


def sheet(folder: Path, head: str = "code\tx\ty\tcategory\ten\tzh_Hant") -> Path:
    """Two columns and three rows of 4 × 4 pixels with a border."""
    picture = Image.new("RGBA", (12, 18), (0, 0, 0, 0))
    rows = [head]
    for number, colour in enumerate(COLOURS):
        x, y = divmod(number, 3)
        picture.paste(Image.new("RGBA", (4, 3), colour), (x * 6 + 1, y * 6 + 2))
        rows.append(f"E{number}\t{x}\t{y}\tSigns\t{colour} sign\t字{number}")
    picture.save(folder / "sheet4.png")
    (folder / "names.tsv").write_text("\n".join(rows), encoding="utf-8")
    return folder


def test_pictures_and_captions_are_written_once_each(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert write_emoji(sheet(tmp_path), out, seed=1) == {"train": 6, "test": 0, "valid": 0}
    found = read_captioned([f"{out / 'pictures'}|{out / 'train.tsv'}:en"]).pictures
    assert sorted(one.captions[0] for one in found) == sorted(f"{one} sign" for one in COLOURS)
    with Image.open(out / "pictures" / "E1.png") as one:
        assert one.size == (4, 4)
        # What is transparent is white.
        assert [one.getpixel((0, y)) for y in (0, 1)] == [(255, 255, 255), (0, 255, 0)]
    chinese = read_captioned([f"{out / 'pictures'}|{out / 'train.tsv'}:zh-Hant"]).pictures
    assert {one.captions[0] for one in chinese} == {f"字{n}" for n in range(6)}


def test_what_is_no_folder_of_emoji_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"sheet\*\.png"):
        write_emoji(tmp_path, tmp_path / "out", seed=1)
    with pytest.raises(DataError, match="columns code, x, y"):
        write_emoji(sheet(tmp_path, head="name\tx\ty\ten"), tmp_path / "out", seed=1)
    sheet(tmp_path)
    with (tmp_path / "names.tsv").open("a", encoding="utf-8") as file:
        file.write("\nE9\tone\t0\tSigns\ta\tb")
    with pytest.raises(DataError, match="line 8"):
        write_emoji(tmp_path, tmp_path / "out", seed=1)
    assert not (tmp_path / "out").exists()
