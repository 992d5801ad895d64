"""A trace whose source is a picture: its cells, its file, and the picture under each word."""

import io
import json
import xml.etree.ElementTree as ET
from base64 import b64decode
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import AxesImage
from PIL import Image as Pillow
from safetensors import safe_open
from safetensors.numpy import load, save_file

from regard.cli.look.choosing import Choices
from regard.cli.look.showing import TerminalView
from regard.errors import TraceError, UsageError
from regard.inspection.figures import DrawnFigure, View, figure
from regard.inspection.figures.pictures import lit
from regard.inspection.rollout import rollout
from regard.inspection.trace import Trace, TracedPicture, looks_of_steps, table
from regard.inspection.trace.file import FORMAT, KEY

SVG = "{http://www.w3.org/2000/svg}"


def images(drawn: DrawnFigure) -> list[AxesImage]:
    return sorted(drawn.figure.findobj(AxesImage), key=lambda one: one.get_zorder())


def test_columns_are_cells(make_caption) -> None:
    made: Trace = make_caption()
    found = table(made, "cross")
    assert [label.text for label in found.columns][4:7] == ["0,4", "1,0", "1,1"]
    assert [label.text for label in found.rows] == ["a", "红色", "dog", "</s>"]
    assert len(found.without_special().columns) == 15
    assert len(found.without_special().rows) == 3
    looks = looks_of_steps(made)
    assert looks is not None
    assert looks.columns[2].text == "0,2"
    assert str(made).startswith("dog.png → a 红色 dog\n")
    assert "15 cells and 4 target tokens" in str(made)


def test_boxes_cover_the_picture() -> None:
    picture = TracedPicture(np.zeros((10, 7, 3), np.uint8), (3, 2))
    assert picture.boxes[0] == (0, 0, 4, 3)
    assert picture.boxes[-1] == (4, 7, 7, 10)
    covered = np.zeros((10, 7), int)
    for left, top, right, bottom in picture.boxes:
        covered[top:bottom, left:right] += 1
    assert (covered == 1).all()


@pytest.mark.parametrize(
    ("pixels", "grid", "said"),
    [
        (np.zeros((4, 4), np.uint8), (2, 2), r"shape \(4, 4\) is not a picture"),
        (np.zeros((4, 4, 3), np.float32), (2, 2), "an array of float32"),
        (np.zeros((4, 0, 3), np.uint8), (2, 2), "is not a picture"),
        (np.zeros((4, 6, 3), np.uint8), (5, 2), "4 × 6 pixels has no grid of 5 × 2 cells"),
        (np.zeros((4, 6, 3), np.uint8), (0, 2), "no grid of 0 × 2 cells"),
    ],
)
def test_what_is_no_picture_is_refused(pixels: np.ndarray, grid: tuple[int, int], said: str):
    with pytest.raises(UsageError, match=said):
        TracedPicture(pixels, grid)


def test_saved_and_opened_it_is_the_same(make_caption, tmp_path: Path) -> None:
    made: Trace = make_caption()
    path = made.save(tmp_path / "one.trace")
    opened = Trace.open(path)
    assert opened.picture is not None
    np.testing.assert_array_equal(opened.picture.pixels, made.source.pixels)
    assert (opened.picture.grid, opened.source.text) == ((3, 5), "dog.png")
    assert opened.to_bytes() == path.read_bytes()
    half = load(made.to_bytes(is_half=True))
    assert (half["picture"].dtype, half["cross.0"].dtype) == (np.uint8, np.float16)


def test_an_older_version_is_told_to_update(make_caption, make_trace, tmp_path: Path) -> None:
    formats = []
    for made in (make_caption(), make_trace()):
        with safe_open(made.save(tmp_path / "x.trace"), framework="numpy") as opened:
            formats.append(json.loads(opened.metadata()[KEY])["format"])
    assert formats == [FORMAT, 1]


@pytest.mark.parametrize(
    "change",
    [
        lambda said, arrays: said["picture"].update(grid=[5, 3]),
        lambda said, arrays: said["picture"].update(grid=[10**9, 10**9]),
        lambda said, arrays: arrays.pop("picture"),
        lambda said, arrays: arrays.update(picture=arrays["picture"][:2]),
        lambda said, arrays: arrays.update(picture=arrays["picture"].astype(np.float32)),
    ],
)
def test_a_damaged_picture_is_refused(make_caption, tmp_path: Path, change) -> None:
    path = make_caption().save(tmp_path / "x.trace")
    with safe_open(path, framework="numpy") as opened:
        said = json.loads(opened.metadata()[KEY])
    arrays = load(path.read_bytes())
    change(said, arrays)
    save_file(arrays, path, {KEY: json.dumps(said)})
    with pytest.raises(TraceError, match="is damaged: its picture does not fit its cells"):
        Trace.open(path)


def test_other_pixels_are_noticed(make_caption, tmp_path: Path) -> None:
    path = make_caption().save(tmp_path / "x.trace")
    content = bytearray(path.read_bytes())
    content[content.rindex(make_caption().source.pixels.tobytes())] ^= 1
    path.write_bytes(content)
    with pytest.raises(TraceError, match="checksum"):
        Trace.open(path)


def test_json_has_the_picture_and_its_cells(make_caption) -> None:
    made = make_caption()
    said = json.loads(made.to_json())
    assert said["source"]["text"] == "dog.png"
    assert [token["text"] for token in said["source"]["tokens"]][:2] == ["0,0", "0,1"]
    assert said["picture"]["grid"] == [3, 5]
    assert said["picture"]["boxes"][1] == [4, 0, 8, 4]
    pixels = np.asarray(Pillow.open(io.BytesIO(b64decode(said["picture"]["png"]))))
    np.testing.assert_array_equal(pixels, made.source.pixels)


def test_the_picture_stands_under_each_word(make_caption) -> None:
    made = make_caption()
    drawn = figure(made)  # the usual form of such a trace
    shown = images(drawn)
    places = {one.get_text(): one.get_position() for one in drawn.figure.axes[0].texts}
    for word, image in zip(("the picture", "a", "红色", "dog", "</s>"), shown, strict=True):
        left, right, bottom, top = image.get_extent()
        assert places[word][0] == pytest.approx((left + right) / 2)
        assert places[word][1] < top
        assert right <= drawn.size[0]
        assert bottom <= drawn.size[1]
        assert (bottom - top) / (right - left) == pytest.approx(12 / 20)
    assert len(images(figure(made, View("pictures", hides_special=True)))) == 4
    one = figure(made, View("pictures", word="dog"))
    assert len(images(one)) == 2
    np.testing.assert_array_equal(images(one)[1].get_array(), shown[3].get_array())


def test_it_is_bright_where_the_word_looks(make_caption) -> None:
    whole, *shown = (np.asarray(one.get_array(), float) for one in images(figure(make_caption())))
    for k, one in enumerate(shown):
        share = (one / whole).mean(-1)
        rows, columns = share.shape[0] // 3, share.shape[1] // 5
        assert share[rows // 2, columns * k + columns // 2] > 0.93
        away = share[-rows // 2, -columns // 2]
        assert away == pytest.approx(1 - 0.82 * (1 - 0.02 / 0.72), abs=0.03)
    light = np.zeros((3, 5), np.float32)
    light[1, 2] = 1
    dark = lit(np.full((60, 100, 3), 255, np.uint8), light)[..., 0].astype(int)
    assert abs(np.diff(dark[30])).max() < 20  # cells blend, no edges


@pytest.mark.parametrize("words", [None, ["<script>", "&lt;", "一只狗"]])
def test_svg_has_real_text_and_a_picture_for_each_word(make_caption, words) -> None:
    root = ET.fromstring(figure(make_caption(words)).to_bytes("svg").decode())
    assert len(list(root.iter(f"{SVG}image"))) == 5
    assert set(words or ["红色"]) <= {element.text for element in root.iter(f"{SVG}text")}


@pytest.mark.parametrize("kind", ["png", "pdf", "svg"])
def test_the_same_trace_gives_the_same_bytes(make_caption, kind: str) -> None:
    first, second = (figure(make_caption()).to_bytes(kind) for _ in range(2))
    assert first == second
    if kind == "png":
        with Pillow.open(io.BytesIO(first)) as image:
            assert len(image.convert("RGB").getcolors(10**7)) > 100


def test_a_large_picture_is_made_smaller_in_files(make_caption) -> None:
    large = TracedPicture(np.zeros((900, 600, 3), np.uint8), (3, 5))
    (first, *_) = images(figure(replace(make_caption(), source=large)))
    assert first.get_array().shape == (280, 187, 3)


def test_what_makes_sense_is_drawn_and_the_rest_refused(make_caption, make_trace) -> None:
    made = make_caption()
    for form in ("pictures", "lines", "matrix", "grid", "strip"):
        assert figure(made, View(form)).texts
    for form in ("alignment", "overview"):
        with pytest.raises(UsageError, match=f"^the {form} view .* read a picture: choose pictur"):
            figure(made, View(form))
    with pytest.raises(UsageError, match=r"^the pictures view .* tiny .* read a text: choose lin"):
        figure(make_trace(), View("pictures"))
    with pytest.raises(UsageError, match="choose a Transformer"):
        rollout(made)


def lines(trace: Trace, monkeypatch: pytest.MonkeyPatch, word: str | None = None, width: int = 70):
    monkeypatch.setenv("COLUMNS", str(width))
    choices = Choices(None, None, None, None, word, False, False, None, None, False)
    return [
        line.plain.rstrip() for line in TerminalView.of(trace, choices.view(trace, "matrix")).lines
    ]


def test_a_terminal_lists_cells_and_maps_them(make_caption, monkeypatch) -> None:
    said = lines(make_caption(), monkeypatch)
    assert "dog.png" in said
    assert any(line.startswith(" dog →  0,2 72") for line in said)
    header = next(i for i, line in enumerate(said) if line.split() == ["a", "红色", "dog"])
    assert said[header + 1] == "██········  ··██······  ····██····"
    assert said[header + 2] == "··········  ··········  ··········"
    one = lines(make_caption(), monkeypatch, word="dog")
    assert "····██····" in one
    assert not any("红色 →" in line for line in one)
    wide = replace(
        make_caption(), source=TracedPicture(np.zeros((3, 50, 3), np.uint8), (1, 15), "wide")
    )
    assert not any("██" in line for line in lines(wide, monkeypatch, width=28))
