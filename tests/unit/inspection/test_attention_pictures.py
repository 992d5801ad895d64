"""Pictures of attention: bytes that repeat, any shape, Chinese without complaint."""

from collections.abc import Callable
from pathlib import Path

import pytest

from regard.errors import UsageError
from regard.inspection.looking import Looking
from regard.inspection.pictures import draw_alignment, draw_lines

STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
LOOKING = Looking(
    ("the", "animal"),
    ("这只", "动物", "。"),
    ((0.7, 0.2, 0.1), (0.0, 1.0, 0.0)),
    truth=((0, 0), (1, 1)),
    focus=1,
)
ONE = Looking(("a",), ("b",), ((1.0,),))

Draw = Callable[[Looking, Path], Path]
DRAW: dict[str, Draw] = {
    "alignment": lambda looking, path: draw_alignment(looking, path, "title"),
    "lines": lambda looking, path: draw_lines([("one", looking), ("two", ONE)], path, "title"),
}


@pytest.mark.parametrize("suffix", STARTS)
@pytest.mark.parametrize("kind", DRAW)
def test_the_same_numbers_give_the_same_bytes(tmp_path: Path, kind: str, suffix: str) -> None:
    first, second = (
        DRAW[kind](LOOKING, tmp_path / f"{name}{suffix}").read_bytes()
        for name in ("first", "second")
    )
    assert first == second
    assert first.startswith(STARTS[suffix])
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("kind", DRAW)
def test_other_numbers_give_another_picture(tmp_path: Path, kind: str) -> None:
    other = Looking(LOOKING.rows, LOOKING.columns, ((0.7, 0.2, 0.1), (0.5, 0.5, 0.0)), focus=1)
    drawn = {DRAW[kind](one, tmp_path / "x.svg").read_bytes() for one in (LOOKING, other)}
    assert len(drawn) == 2


@pytest.mark.parametrize("kind", DRAW)
def test_the_smallest_picture(tmp_path: Path, kind: str) -> None:
    assert DRAW[kind](ONE, tmp_path / "one.PNG").exists()


@pytest.mark.parametrize("kind", DRAW)
def test_the_place_is_looked_at_before_drawing(tmp_path: Path, kind: str) -> None:
    with pytest.raises(UsageError, match="end its name in"):
        DRAW[kind](LOOKING, tmp_path / "x.gif")


def test_lines_need_a_panel(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        draw_lines([], tmp_path / "x.png")
    assert str(error.value) == "there is nothing to draw: give at least one panel of words"
