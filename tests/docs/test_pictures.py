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


@pytest.mark.parametrize(
    ("draw", "names"),
    [
        ("draw_lecture", ["lecture.svg"]),
        ("draw_look", ["look-lines.svg", "look.svg"]),
        ("draw_caption", ["caption.svg"]),
        ("draw_positions", ["positions.svg"]),
        ("draw_glimpses", ["glimpses.svg"]),
    ],
)
def test_the_picture_is_what_the_command_shows(
    make: ModuleType, tmp_path: Path, draw: str, names: list[str]
) -> None:
    getattr(make, draw)(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == names
    for name in names:
        assert (tmp_path / name).read_text("utf-8") == (PICTURES / name).read_text("utf-8"), (
            f"docs/pictures/{name} is out of date: python docs/pictures/make.py"
        )


def _touch(arguments: list[str], file: Path, **part: str | None) -> None:
    file.touch()


def test_every_picture_can_be_drawn_again(
    make: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make, "draw_terminal", _touch)
    make.main(tmp_path)
    kept = {file.name for file in PICTURES.glob("*.svg")} | {"lengths.png"}
    assert {file.name for file in tmp_path.iterdir()} == kept
