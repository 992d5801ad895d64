"""Pictures are saved whole or not at all, and their bytes repeat."""

from pathlib import Path

import pytest
import torch

from regard.attention import sinusoids
from regard.errors import UsageError
from regard.inspection.pictures import draw_positions

STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.parametrize("suffix", STARTS)
def test_the_same_numbers_give_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    first, second = (
        draw_positions(sinusoids(9, 4), tmp_path / f"{name}{suffix}").read_bytes()
        for name in ("first", "second")
    )
    assert first == second
    assert first.startswith(STARTS[suffix])
    assert len(list(tmp_path.iterdir())) == 2


def test_the_smallest_picture(tmp_path: Path) -> None:
    assert draw_positions(sinusoids(1, 2), tmp_path / "one.PNG").exists()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("x.gif", "a picture cannot be saved as 'x.gif': end its name in .png, .svg or .pdf"),
        ("x", "a picture cannot be saved as 'x': end its name in .png, .svg or .pdf"),
        (".png", "a picture cannot be saved as '.png': give it a name before .png"),
        (
            "x" * 300 + ".png",
            "a picture cannot be saved there: File name too long; give another path",
        ),
        (
            "none/x.png",
            "a picture cannot be saved in {}/none: there is no such folder; make it, or choose "
            "another",
        ),
        ("folder.png", "a picture cannot be saved as {}/folder.png: that is a folder"),
    ],
)
def test_places_where_no_picture_can_be(tmp_path: Path, name: str, sentence: str) -> None:
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(UsageError) as error:
        draw_positions(sinusoids(3, 2), tmp_path / name)
    assert str(error.value) == sentence.format(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.png"]


def test_a_failed_picture_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "x.png"
    place.write_bytes(b"old")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(UsageError, match=r"x\.png: No space left on device"):
        draw_positions(torch.zeros(3, 2), place)
    assert [path.name for path in tmp_path.iterdir()] == ["x.png"]
    assert place.read_bytes() == b"old"
