"""Characters drawn by fonts: a folder a class, all told by the seed."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from typer.testing import CliRunner

from regard.cli.main import app
from regard.data import PictureSet, read_picture_set
from regard.data.glyphs import CHARACTERS, SIDE, write_glyphs
from regard.errors import DataError

FONTS = Path(mpl.get_data_path()) / "fonts" / "ttf"  # without Chinese
SANS = FONTS / "DejaVuSans.ttf"


def written(out: Path, seed: int, fonts: Path = SANS) -> PictureSet:
    assert write_glyphs(fonts, out, 9, seed, "abc") == 1
    return read_picture_set(out)


def test_each_character_is_a_class_and_no_two_pictures_are_alike(tmp_path: Path) -> None:
    found = written(tmp_path / "one", 1)
    assert found.classes == ("a", "b", "c")
    assert found.labels is not None
    assert sorted(found.labels.tolist()) == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert found.pixels.shape == (9, SIDE, SIDE, 1)
    assert len({one.tobytes() for one in found.pixels}) == 9
    middle = found.pixels[:, 4:-4, 4:-4].sum((1, 2, 3), dtype=int)
    assert (middle > 0.8 * found.pixels.sum((1, 2, 3), dtype=int)).all()


def test_the_seed_tells_all_of_them(tmp_path: Path) -> None:
    one, same, other = (written(tmp_path / str(n), seed) for n, seed in enumerate((1, 1, 2)))
    assert np.array_equal(one.pixels, same.pixels)
    assert not np.array_equal(one.pixels, other.pixels)


def test_faces_without_the_characters_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "broken.ttf").write_bytes(b"no font")
    (tmp_path / "sans.ttf").symlink_to(SANS)
    written(tmp_path / "out", 1, tmp_path)
    with pytest.raises(DataError, match="has all of 山"):
        write_glyphs(SANS, tmp_path / "none", 1, 1, "山")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--out", "OUT", "--from", str(SANS)], f"has all of {CHARACTERS}"),
        (["--out", "OUT", "--from", "nowhere"], "nowhere does not exist"),
        (["--from", str(SANS)], "--out DIR"),
        (["--out", "OUT", "--pieces", "3"], "--pieces of the first"),
    ],
)
def test_what_cannot_be_drawn_is_refused(tmp_path: Path, asked: list[str], said: str) -> None:
    asked = [one.replace("OUT", str(tmp_path / "out")) for one in asked]
    done = CliRunner().invoke(app, ["data", "glyphs", *asked])
    assert done.exit_code != 0
    told = str(done.exception) if done.exception else done.output
    assert said in " ".join(told.split())
