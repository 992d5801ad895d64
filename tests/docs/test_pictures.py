"""The pictures show what the library computes today."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"


@pytest.fixture(scope="module")
def make() -> ModuleType:
    specification = importlib.util.spec_from_file_location("make_pictures", PICTURES / "make.py")
    assert specification
    assert specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_terminal_picture_is_what_the_command_prints(make: ModuleType, tmp_path: Path) -> None:
    make.draw_lecture(tmp_path)
    drawn, kept = (folder / "lecture.svg" for folder in (tmp_path, PICTURES))
    assert drawn.read_text("utf-8") == kept.read_text("utf-8"), (
        "docs/pictures/lecture.svg is out of date: python docs/pictures/make.py"
    )


def _touch(arguments: list[str], file: Path, **part: str) -> None:
    file.touch()


def test_every_picture_can_be_drawn_again(
    make: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make, "draw_terminal", _touch)
    make.main(tmp_path)
    kept = {file.name for file in PICTURES.glob("*.svg")}
    assert {file.name for file in tmp_path.iterdir()} == kept
