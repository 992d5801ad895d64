"""Pictures bring their fonts: no installed one is needed, and matplotlib has nothing to remark."""

import base64
import io
import logging
import os
import re
import subprocess
import sys
import warnings
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from regard.inspection.figures import Canvas, figure
from regard.inspection.figures.drawing import styled
from regard.inspection.fonts import FAMILIES, embedded_fonts

TEXTS = {
    "simplified": "那只动物没有过马路，因为它太累了。",
    "traditional": "機器學習：這隻動物沒有過馬路，因為牠太累了",
    "japanese": "注意機構は「重み」を計算する。カタカナ",
    "korean": "주의 기제는 가중치를 계산한다",
    "greek": "Η προσοχή είναι το μόνο που χρειάζεσαι αβγδ",
    "cyrillic": "Внимание — это всё, что нужно",
    "mathematics": "∑∂√∞≈≤→⇒∈∀ℝ⊤·×÷±",
    "latin": "The animal didn’t cross; l’été, größer, façade, “it”…",
}


def fonts_in(faces: str) -> list[object]:
    from fontTools.ttLib import TTFont

    return [
        TTFont(io.BytesIO(base64.b64decode(data)))
        for data in re.findall(r"base64,([\w+/=]+)\)", faces)
    ]


def drawn(character: str, *, is_bold: bool = False) -> np.ndarray:
    """The pixels of one character."""
    from matplotlib.image import imread

    canvas = Canvas()
    canvas.text(10, 20, character, 26, is_bold=is_bold)
    canvas.reach(60, 40)
    return np.asarray(imread(io.BytesIO(canvas.finished("x").to_bytes("png"))))


def test_only_shipped_fonts_are_asked_for() -> None:
    import matplotlib
    from matplotlib.font_manager import FontProperties, fontManager

    with styled():
        found = [Path(fontManager.findfont(FontProperties(family=[one]))) for one in FAMILIES]
    homes = Path(matplotlib.get_data_path()), Path(str(files("regard.inspection.fonts")))
    for path, home in zip(found, homes, strict=True):
        assert path.is_relative_to(home)


@pytest.mark.parametrize("text", TEXTS.values(), ids=list(TEXTS))
def test_every_character_is_drawn_and_none_as_the_box_of_a_missing_one(text: str) -> None:
    box = drawn("\U000f0000")
    assert not np.array_equal(box, drawn(" "))
    pictures = {one: drawn(one) for one in sorted(set(text) - {" "})}
    for one, pixels in pictures.items():
        assert not np.array_equal(pixels, box), one
        assert not np.array_equal(pixels, drawn(" ")), one


def test_bold_chinese_is_drawn_too() -> None:
    assert not np.array_equal(drawn("它", is_bold=True), drawn("\U000f0000", is_bold=True))


@pytest.mark.parametrize("text", TEXTS.values(), ids=list(TEXTS))
def test_an_svg_holds_the_glyphs_of_its_text(text: str) -> None:
    faces, families = embedded_fonts(text)
    held = [set(font.getBestCmap()) for font in fonts_in(faces)]  # type: ignore[attr-defined]
    assert len(held) == len(families)
    assert set.union(*held) >= {ord(one) for one in text}
    assert sum(len(one) for one in held) < 2 * len(set(text)) + 4  # these and no more


def test_the_same_text_gives_the_same_font_and_no_text_none() -> None:
    assert embedded_fonts("它 it") == embedded_fonts("it 它")
    assert embedded_fonts("") == ("", ())


def test_a_character_that_no_font_has_is_left_to_the_viewer() -> None:
    faces, families = embedded_fonts("\U000f0000")
    assert (faces, families) == ("", ())


@pytest.mark.parametrize("kind", ["png", "pdf", "svg"])
def test_a_figure_in_chinese_draws_without_a_remark(
    make_trace, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    words = ["动物", "機器", "です", "주의", "Ω", "∑", "\U000f0000"]
    with warnings.catch_warnings(), caplog.at_level(logging.WARNING):
        warnings.simplefilter("error")
        written = figure(make_trace(source=words, target=words[::-1])).to_bytes(kind)
    assert not caplog.records
    if kind == "pdf":
        assert b"RegardCJK" in written
        assert b"/Type0" in written  # a font with glyphs of its own, not outlines of pictures


def test_a_picture_with_a_missing_glyph_is_saved_without_a_remark(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with warnings.catch_warnings(), caplog.at_level(logging.WARNING):
        warnings.simplefilter("error")
        canvas = Canvas()
        canvas.text(0, 0, "\U000f0000")
        canvas.finished("x").save(tmp_path / "missing.png")
    assert not caplog.records


def test_a_home_that_cannot_be_written_is_not_remarked_upon(tmp_path: Path) -> None:
    """Matplotlib keeps a list of fonts there, and says so where it cannot."""
    home = tmp_path / "home"
    home.write_text("a file, so that no folder can be made below it", encoding="utf-8")
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("MPLCONFIGDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
    } | {"HOME": str(home), "PYTHONWARNINGS": "always"}
    code = (
        "import sys\n"
        "from regard.inspection.figures import Canvas\n"
        "canvas = Canvas()\n"
        "canvas.text(0, 0, '它')\n"
        "canvas.finished('x').save(sys.argv[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code, str(tmp_path / "x.png")],
        env=environment, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("", "")
    assert (tmp_path / "x.png").exists()


def test_the_licence_of_the_font_ships_with_it() -> None:
    text = (files("regard.inspection.fonts") / "OFL.txt").read_text("utf-8")
    assert "SIL OPEN FONT LICENSE" in text
    assert "Noto Sans CJK" in text
