"""Pictures as files: the numbers of the trace, real text, the same bytes, and clear refusals."""

import re
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.image import AxesImage, imread
from matplotlib.text import Text
from PIL import Image, ImageSequence

from regard.attention import sinusoids
from regard.errors import UsageError
from regard.inspection.figures import (
    FORMATS,
    FORMS,
    Canvas,
    Curve,
    DrawnFigure,
    Gaze,
    Plot,
    View,
    alignment,
    animation,
    curves,
    document,
    figure,
    gazes,
    panels,
    positions,
    table,
)
from regard.inspection.figures.drawing import colours_of
from regard.inspection.figures.pictures import lit
from regard.inspection.figures.view import usual_form
from regard.inspection.looking import Looking
from regard.inspection.trace import Trace, TracedPicture
from regard.inspection.trace import table as find_table

OF_TEXT = tuple(form for form in FORMS if form not in ("pictures", "gazes"))
SVG = "{http://www.w3.org/2000/svg}"
EVIL = ["<script>alert(1)</script>", "\"'&amp;", "a\x00b\x1b", "$x^2$", "]]>", "机器"]
LOOKING = Looking(
    ("the", "animal"),
    ("这只", "动物", "。"),
    ((0.7, 0.2, 0.1), (0.0, 1.0, 0.0)),
    truth=((0, 0), (1, 1)),
    focus=1,
)
PIXELS = np.random.default_rng(5).integers(90, 256, (12, 20, 3), dtype=np.uint8)
PATH = (Gaze(3, 4, (4, 8), (("cat", 0.4),)), Gaze(15.5, 8, (4, 8), (("狗", 0.9),)))

FLAT = ((1, 1), (2, 1))

PLAIN: dict[str, Callable[[], DrawnFigure]] = {
    "alignment": lambda: alignment(LOOKING, "title"),
    "panels": lambda: panels([("one\ntwo", LOOKING), ("three", LOOKING)], "title"),
    "positions": lambda: positions(sinusoids(9, 4).numpy(), ["the", "动物"]),
    "table": lambda: table(
        np.array([[0.4, -0.2], [np.nan, 0.9]]), ["0.1", "1.0"], ["主语", "object"], "gain",
        marked=[(1, 1)], mark="best head",
    ),
    "gazes": lambda: gazes(PIXELS, PATH),
    "document": lambda: document(
        [f"word{i}" for i in range(3000)], np.eye(4, 3000, 1500) + 1e-4, list("abc猫"), "title"
    ),
    "curves": lambda: curves(
        [Plot((Curve("一", ((1, 2), (2, 4))), Curve("b", FLAT, FLAT)), "n", "ms")], "title"
    ),
}  # fmt: skip


def lines_of_text(drawn: DrawnFigure) -> list[Text]:
    return [one for axes in drawn.figure.axes for one in axes.texts]


def texts(drawn: DrawnFigure) -> list[str]:
    return [one.get_text() for one in lines_of_text(drawn)]


def heats(drawn: DrawnFigure) -> list[np.ndarray]:
    """The numbers of every heat map, the colour scale last."""
    found = drawn.figure.findobj(lambda one: isinstance(one, QuadMesh | AxesImage))
    found = sorted(found, key=lambda one: one.get_zorder())
    return [np.asarray(one.get_array()) for one in found]


def links(drawn: DrawnFigure) -> PathCollection:
    """The lines between words: the largest collection of curves."""
    found = drawn.figure.findobj(PathCollection)
    return max(found, key=lambda one: sum(len(path) == 4 for path in one.get_paths()))


def words_at(drawn: DrawnFigure) -> dict[str, tuple[float, float]]:
    """Where each text stands; the middle of its line."""
    return {
        one.get_text(): (
            one.get_position()[0],
            one.get_position()[1] - 0.35 * one.get_size() / 0.75,
        )
        for one in lines_of_text(drawn)
    }


def written(drawn: DrawnFigure) -> list[str]:
    """The texts that one can select in the SVG."""
    root = ET.fromstring(drawn.to_bytes("svg").decode())
    return ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]


def long(make_trace, n: int, n_layers: int, n_heads: int) -> Trace:
    words = [f"word{i}" for i in range(n)]
    return make_trace(words, words, n_layers=n_layers, n_heads=n_heads, has_positions=False)


def test_lines_are_as_thick_as_the_weights(make_trace) -> None:
    made = make_trace()
    drawn = links(figure(made, View(heads=(1,), layer=0)))
    weights = made.site("cross", 0).weights[1]
    expected = np.sort(weights[weights >= 0.02])
    widths = np.asarray(drawn.get_linewidths()) / 0.75
    np.testing.assert_allclose(widths, np.maximum(0.6, 9 * expected), atol=1e-5)


def test_lines_start_and_end_at_their_words(make_trace) -> None:
    made = make_trace()
    drawn = figure(made, View(heads=(0,), layer=0))
    places, weights = words_at(drawn), made.site("cross", 0).weights[0]
    rows = [places[word][1] for word in ("das", "Tier", "war", "müde")]
    columns = [places[word][1] for word in ("the", "动物", "was", "tired", ".")]
    found = {}
    for path, width in zip(links(drawn).get_paths(), links(drawn).get_linewidths(), strict=True):
        found[round(path.vertices[0][1], 3), round(path.vertices[-1][1], 3)] = width / 0.75
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            if weights[i, j] >= 0.02:
                width = found[round(row, 3), round(column, 3)]
                assert width == pytest.approx(max(0.6, 9 * weights[i, j]), abs=1e-4)


def test_one_word_few_lines_and_colours_of_heads(make_trace) -> None:
    made = make_trace(n_heads=3)
    one = figure(made, View(word="war"))
    weights = find_table(made, "cross").weights
    assert len(links(one).get_paths()) == (weights[:, 2] >= 0.02).sum()
    few = links(figure(made, View(top_k=1)))
    assert len(few.get_paths()) == 5 * 3  # a row and head each
    from matplotlib.colors import to_hex

    used = {to_hex(colour[:3]) for colour in few.get_edgecolors()}
    assert used == {colours_of("light")[f"head{head}"] for head in range(3)}
    assert {"heads", "0", "1", "2"} <= set(texts(one))


def test_the_reading_of_rows_is_said(make_trace) -> None:
    for form in ("lines", "matrix"):
        for reading, word in (("predicting", "</s>"), ("reading", "<s>")):
            said = texts(figure(make_trace(), View(form, reading=reading)))
            assert any(f"when {reading}" in text for text in said)
            assert said.count(word) >= 1


def test_a_matrix_holds_the_mean_of_the_chosen_heads(make_trace) -> None:
    made = make_trace(n_heads=3)
    drawn = figure(made, View("matrix", layer=2, heads=(0, 2), hides_special=True))
    expected = made.site("cross", 2).weights[[0, 2]].mean(0)[:-1, :-1]
    np.testing.assert_allclose(heats(drawn)[0], expected, atol=1e-6)
    said = texts(drawn)
    assert {"das", "Tier", "war", "müde", "the", "动物"} <= set(said)
    for value in expected[expected >= 0.06]:
        assert str(round(100 * float(value))) in said


def test_every_heat_map_has_a_scale_that_ends_at_a_round_number(make_trace) -> None:
    made = long(make_trace, 60, 1, 1)
    for form in ("matrix", "grid"):
        drawn = figure(made, View(form))
        scale = heats(drawn)[-1]
        assert scale.shape == (1, 64)
        assert {"0", f"≥ {scale.max():g}"} <= set(texts(drawn))
        assert scale.max() < 1  # many small weights are told from each other
    whole = figure(make_trace(), View("alignment"))
    assert heats(whole)[-1].max() == 1
    assert {"0", "1"} <= set(texts(whole))


def test_the_future_is_hatched_where_nothing_can_be_seen(make_trace) -> None:
    made = make_trace()
    drawn = figure(made, View("matrix", site="decoder"))
    hatched = [one for one in drawn.figure.findobj() if getattr(one, "get_hatch", lambda: 0)()]
    runs = hatched[0].get_paths()
    assert len(runs) == 4  # the last of five rows sees all
    cell = runs[-1].get_extents().width
    assert [round(run.get_extents().width / cell) for run in runs] == [4, 3, 2, 1]
    assert "comes later: cannot be seen" in texts(drawn)
    assert "comes later: cannot be seen" not in texts(figure(made, View("matrix")))


def test_words_of_several_tokens_hide_what_none_of_them_sees() -> None:
    from regard.inspection.trace import Label, Table

    rows = (Label("ab", (0, 1)), Label("c", (2,)))
    one = Table("decoder", 0, (0,), rows, rows, np.zeros((1, 2, 2), np.float32), "reading")
    assert one.is_hidden.tolist() == [[False, True], [False, False]]
    assert not replace(one, kind="encoder").is_hidden.any()


def test_chinese_labels_stand_and_others_lie(make_trace) -> None:
    def turned(words: list[str]) -> dict[str, float]:
        drawn = figure(make_trace(source=words), View("matrix", hides_special=True))
        return {one.get_text(): one.get_rotation() for one in lines_of_text(drawn)}

    standing = turned(["动", "物", "因为", "太累了", "。"])
    assert {standing[word] for word in ("动", "物", "因为", "太累了", "。")} == {0.0}
    assert {turned(["a", "elephant", "动"])[word] for word in ("a", "elephant", "动")} == {55.0}


def test_the_grid_shows_every_head_and_flags_even_ones(make_trace) -> None:
    made = make_trace(n_layers=3, n_heads=4)
    sites = tuple(
        replace(site, is_uniform=(False, True, False, False)) if site.name == "cross.2" else site
        for site in made.sites
    )
    drawn = figure(replace(made, sites=sites), View("grid"))
    assert len(heats(drawn)) == 12 + 1
    np.testing.assert_array_equal(heats(drawn)[5], made.site("cross", 1).weights[1])
    assert "almost the same weight everywhere" in texts(drawn)
    assert "almost the same weight everywhere" not in texts(figure(made, View("grid")))


def test_the_alignment_outlines_the_largest(make_trace) -> None:
    from matplotlib.collections import PatchCollection

    made = make_trace()
    drawn = figure(made, View("alignment"))
    expected = made.site("cross", 1).weights.mean(0)[:-1, :-1]
    expected /= expected.sum(-1, keepdims=True)
    np.testing.assert_allclose(heats(drawn)[0], expected, atol=1e-6)
    boxes = max(
        drawn.figure.findobj(PatchCollection), key=lambda one: len(one.get_paths())
    ).get_paths()
    mesh = next(iter(drawn.figure.findobj(QuadMesh)))
    left, top = mesh.get_coordinates()[0, 0]
    found = [
        (round((box.get_extents().y0 - top) // 32), round((box.get_extents().x0 - left) // 32))
        for box in boxes
    ]
    assert found == list(enumerate(expected.argmax(-1).tolist()))


def test_the_strip_shows_choices_and_looks(make_trace) -> None:
    said = texts(figure(make_trace(), View("strip")))
    assert {"das", "Tier", "war", "müde", "</s>"} <= set(said)
    assert said.count("w0") == 5
    assert "61 %" in said  # exp(-0.5)
    assert "p = 90 %" in said  # exp(-0.1)
    assert "looked at" in said
    assert "looked at" not in texts(figure(make_trace(kinds=()), View("strip")))


def test_the_overview_has_three_kinds_of_lines(make_trace) -> None:
    def kinds(trace: Trace) -> int:
        drawn = figure(trace, View("overview")).figure.findobj(PathCollection)
        return sum(any(len(path) == 4 for path in one.get_paths()) for one in drawn)

    assert kinds(make_trace()) == 3
    assert kinds(make_trace(kinds=("cross",))) == 1


def test_positions_are_drawn_or_missed(make_trace) -> None:
    made = make_trace()
    drawn = figure(made, View("positions"))
    np.testing.assert_array_equal(heats(drawn)[0], made.positions)
    assert "动物  1" in texts(drawn)
    with pytest.raises(UsageError, match=r"^tiny adds nothing for the place of a word"):
        figure(make_trace(has_positions=False), View("positions"))


def test_pictures_are_bright_where_a_word_looked(make_caption) -> None:
    made = make_caption()
    drawn = figure(made, View("pictures"))
    shown = heats(drawn)
    assert len(shown) == 1 + 4  # the picture, and once for each word
    assert {"the picture", "a", "红色", "dog"} <= set(texts(drawn))
    whole = shown[0].astype(float)
    for k, one in enumerate(shown[1:]):
        share = one.mean(-1) / whole.mean(-1)
        y, x = np.unravel_index(share.argmax(), share.shape)
        assert (y * 3 // share.shape[0], x * 5 // share.shape[1]) == (0, k)
    dark = lit(PIXELS, np.zeros((3, 5), np.float32))
    np.testing.assert_allclose(dark, 0.18 * PIXELS, atol=0.51)
    np.testing.assert_array_equal(lit(PIXELS, np.ones((3, 5), np.float32)), PIXELS)


def test_each_gaze_shows_what_it_saw_as_sharply_as_it_saw_it() -> None:
    pixels = np.zeros((20, 20, 3), np.uint8)
    pixels[:4, :4] = 200
    drawn = gazes(pixels, [Gaze(2, 2, (4, 8), (("a", 0.5),)), Gaze(20, 20, (4, 8), (("b", 1.0),))])
    _, *seen = (np.asarray(one.get_array()) for one in drawn.figure.findobj(AxesImage))
    assert [one.shape for one in seen] == [(4, 4, 3)] * 4
    assert (seen[0] == 200).all()
    assert (seen[1][1:3, 1:3] == 200).all()  # the same at half the size, and black around it
    assert seen[1].sum() == 4 * 3 * 200
    assert not seen[2].any()
    assert not seen[3].any()


def test_a_trace_of_glimpses_is_a_path(
    make_caption: Callable[..., Trace], make_trace: Callable[..., Trace], tmp_path: Path
) -> None:
    caption = make_caption()
    assert isinstance(caption.source, TracedPicture)
    n = len(caption.target.tokens)
    looked = tuple((3.0 + k, 4.0, 4.0) for k in range(n))
    seen = replace(caption, source=replace(caption.source, gazes=looked))
    assert (usual_form(seen), seen.unit) == ("gazes", "glimpse")
    assert {"1", str(n), "dog", "90 %"} <= set(texts(figure(seen)))
    again = Trace.open(seen.save(tmp_path / "a.trace")).picture
    assert again is not None
    assert again.gazes == looked
    for other in (caption, make_trace()):
        with pytest.raises(UsageError, match="moved over a picture"):
            figure(other, View("gazes"))


@pytest.mark.parametrize("has_path", [False, True])
def test_an_animation_has_a_frame_a_step(
    make_caption: Callable[..., Trace], make_trace: Callable[..., Trace], has_path: bool
) -> None:
    caption = make_caption()
    assert caption.picture is not None
    n = len(caption.target.tokens)
    if has_path:
        looked = tuple((3.0 + 4 * k, 4.0, 4.0) for k in range(n))
        caption = replace(caption, source=replace(caption.picture, gazes=looked))
    with Image.open(BytesIO(animation(caption, View(usual_form(caption))))) as moving:
        frames = [np.asarray(one.convert("RGB")) for one in ImageSequence.Iterator(moving)]
    assert len(frames) == n
    assert all((one != other).any() for one, other in pairwise(frames))
    with pytest.raises(UsageError, match="read a text"):
        animation(make_trace(), View("lines"))


def test_a_path_of_gazes_passes_the_gazes() -> None:
    drawn = gazes(PIXELS, PATH)
    (path,) = next(iter(drawn.figure.findobj(PathCollection))).get_paths()
    image = next(iter(drawn.figure.findobj(AxesImage)))
    left, right, bottom, top = image.get_extent()
    scale = (right - left) / 20
    assert scale == pytest.approx((bottom - top) / 12)
    np.testing.assert_allclose(
        (path.vertices - (left, top)) / scale, [(one.x, one.y) for one in PATH]
    )
    np.testing.assert_array_equal(image.get_array(), PIXELS)
    assert {"1", "2", "cat", "狗", "40 %", "90 %"} <= set(texts(drawn))
    with pytest.raises(UsageError, match="give at least one gaze"):
        gazes(PIXELS, [])


def test_a_table_shows_gains_losses_and_gaps() -> None:
    drawn = PLAIN["table"]()
    np.testing.assert_array_equal(heats(drawn)[0], [[0.4, -0.2], [0, 0.9]])
    said = texts(drawn)
    assert {"0.1", "1.0", "主语", "object", "40", "-20", "90", "best head", "not measured"} <= {
        *said
    }
    assert heats(drawn)[-1].min() == -1
    with pytest.raises(UsageError, match=r"give a name for every row and column"):
        table(np.zeros((2, 3)), ["a"], ["b"], "title")


def test_a_documents_strip_quotes_what_was_looked_at() -> None:
    drawn = PLAIN["document"]()
    lanes = heats(drawn)[0]
    assert lanes.shape[0] == 4
    assert lanes.shape[1] <= 900
    assert lanes.max() == pytest.approx(1.0001)
    quoted = [text for text in texts(drawn) if text.startswith("…")]
    assert any("word1501" in text for text in quoted)
    with pytest.raises(UsageError, match=r"4 lanes over 2 words"):
        document(["a", "b"], np.zeros((3, 2)), list("abcd"))


def test_panels_frame_what_belongs_together() -> None:
    drawn = panels([("a caption", LOOKING)], "title")
    assert {"a caption", "the", "animal", "这只", "动物"} <= set(texts(drawn))
    assert len(links(drawn).get_paths()) == 1  # of the word in focus
    with pytest.raises(UsageError) as refused:
        panels([])
    assert str(refused.value) == "there is nothing to draw: give at least one panel of words"


def test_curves_pass_their_points() -> None:
    drawn = PLAIN["curves"]()
    (axes,) = drawn.figure.axes
    assert [line.get_xydata().tolist() for line in axes.lines] == [
        [[1, 2], [2, 4]],
        [[1, 1], [2, 1]],
        [[1, 1], [2, 1]],
    ]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["一", "b"]


@pytest.mark.parametrize("form", OF_TEXT)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_leaves_the_picture_and_no_texts_overlap(make_trace, form: str, theme: str) -> None:
    words = ["Donaudampfschifffahrt", "ist", "x"] if theme == "dark" else ["机", "器", "翻译器"]
    drawn = figure(make_trace(source=words, target=words[::-1]), View(form, theme=theme))
    width, height = drawn.size
    spans = []
    for one in lines_of_text(drawn):
        said, size = one.get_text(), one.get_size() / 0.75
        if not said or one.get_rotation():
            continue
        length = Canvas.text_width(said, size, is_bold=one.get_weight() == "bold")
        x, y = one.get_position()
        x -= {"left": 0, "center": 0.5, "right": 1}[one.get_ha()] * length
        assert x >= 0
        assert x + length <= width
        assert y - size >= 0
        assert y <= height
        spans.append((x, x + length, y - 0.7 * size, y))
    for i, a in enumerate(spans):
        for b in spans[:i]:
            is_apart = a[1] <= b[0] or b[1] <= a[0] or a[3] <= b[2] or b[3] <= a[2]
            assert is_apart, (a, b)


@pytest.mark.parametrize("form", OF_TEXT)
def test_words_are_never_markup(make_trace, form: str) -> None:
    drawn = figure(make_trace(source=EVIL, target=EVIL[::-1]), View(form))
    svg = drawn.to_bytes("svg").decode()
    root = ET.fromstring(svg)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        *("svg", "title", "style", "defs", "g", "path", "use", "text", "image", "clipPath", "rect"),
        "pattern",
    }
    assert not re.search("<script|http-equiv|onload", svg)
    outside = re.findall(r'(?:href|src|url)\s*[=(]\s*"?([^")]{1,12})', svg)
    assert all(one.startswith(("#", "data:")) for one in outside)
    if form in ("lines", "matrix", "overview"):
        said = written(drawn)
        assert EVIL[1] in said
        assert "a\ufffdb\ufffd" in said
        assert "$x^2$" in said
        assert any(text.startswith("<script>") for text in said)


@pytest.mark.parametrize("form", [*OF_TEXT, "pictures"])
def test_svg_has_text_that_can_be_selected(make_trace, make_caption, form: str) -> None:
    made = make_caption() if form == "pictures" else make_trace()
    drawn = figure(made, View(form))
    # A number may be drawn twice: as many texts as artists, none as an outline.
    assert sorted(written(drawn)) == sorted(texts(drawn))
    svg = drawn.to_bytes("svg").decode()
    assert svg.startswith("<svg")
    assert "'Noto Sans CJK SC'" in svg
    assert "sans-serif" in svg
    assert re.search(r"<title>[^<]+</title>", svg)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("kind", FORMATS)
def test_the_same_picture_twice_is_the_same_file(tmp_path: Path, name: str, kind: str) -> None:
    files = [PLAIN[name]().save(tmp_path / f"{n}.{kind.upper()}") for n in ("a", "b")]
    content = files[0].read_bytes()
    assert content == files[1].read_bytes()
    assert content.startswith({"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}[kind])
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("form", OF_TEXT)
@pytest.mark.parametrize("kind", FORMATS)
def test_the_same_trace_twice_is_the_same_file(make_trace, form: str, kind: str) -> None:
    first, second = (figure(make_trace(), View(form)).to_bytes(kind) for _ in range(2))
    assert first == second
    other = figure(make_trace(source=["other", "words", "here"]), View(form)).to_bytes(kind)
    assert other != first


def test_a_png_has_two_dots_a_pixel_and_the_grounds_colour(make_trace) -> None:
    for theme in ("light", "dark"):
        drawn = figure(make_trace(), View("matrix", theme=theme))
        dots = imread(BytesIO(drawn.to_bytes("png")))
        width, height = drawn.size
        assert dots.shape[:2] == pytest.approx((2 * height, 2 * width), abs=2)
        ground = colours_of(theme)["ground"]
        expected = [int(ground[i : i + 2], 16) for i in (1, 3, 5)]
        assert np.rint(255 * dots[0, 0, :3]).tolist() == expected


def test_a_cell_of_a_png_has_the_ramps_colour() -> None:
    drawn = table(np.array([[0.0, 1.0]]), ["a"], ["b", "c"], "title")
    dots = imread(BytesIO(drawn.to_bytes("png")))
    mesh = next(iter(drawn.figure.findobj(QuadMesh)))
    (left, top), cell = mesh.get_coordinates()[0, 0], 32
    for j, stop in enumerate(("#f5f8fc", "#08306b")):
        y, x = int(2 * (top + cell * 0.15)), int(2 * (left + cell * (j + 0.15)))
        expected = [int(stop[i : i + 2], 16) for i in (1, 3, 5)]
        np.testing.assert_allclose(255 * dots[y, x, :3], expected, atol=1.5)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (
            lambda: View("circle"),
            "there is no view 'circle': choose one of lines, matrix, grid, alignment, positions, "
            "strip, overview, pictures, gazes",
        ),
        (
            lambda: View(site="middle"),
            "there is no site 'middle': choose one of encoder, decoder, cross",
        ),
        (
            lambda: View(reading="dreaming"),
            "there is no reading 'dreaming': choose one of predicting, reading",
        ),
        (lambda: View(theme="pink"), "there is no theme 'pink': choose one of light, dark"),
        (lambda: View(top_k=0), "top_k = 0 shows nothing: give 1 or more"),
    ],
)
def test_impossible_views_are_refused(ask: Callable[[], View], sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        ask()
    assert str(refused.value) == sentence


def test_an_impossible_format_is_refused(make_trace) -> None:
    with pytest.raises(UsageError, match=r"^a picture cannot be 'gif': choose one of svg, png"):
        figure(make_trace()).to_bytes("gif")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("x.gif", "a picture cannot be saved as 'x.gif': end its name in .svg, .png or .pdf"),
        ("x", "a picture cannot be saved as 'x': end its name in .svg, .png or .pdf"),
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
    with pytest.raises(UsageError) as refused:
        PLAIN["positions"]().save(tmp_path / name)
    assert str(refused.value) == sentence.format(tmp_path)
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
        positions(torch.zeros(3, 2).numpy()).save(place)
    assert [path.name for path in tmp_path.iterdir()] == ["x.png"]
    assert place.read_bytes() == b"old"


def test_the_smallest_pictures() -> None:
    one = Looking(("a",), ("b",), ((1.0,),))
    assert alignment(one).to_bytes("svg")
    assert panels([("", one)]).to_bytes("svg")
    assert positions(sinusoids(1, 2).numpy()).to_bytes("svg")
    assert document(["a"], np.ones((1, 1)), ["b"]).to_bytes("svg")


def test_text_is_measured_with_the_fonts_that_draw_it() -> None:
    assert Canvas.text_width("动物", 10) == pytest.approx(20, abs=1)
    assert Canvas.text_width("iiii", 10) < Canvas.text_width("mmmm", 10) / 2
    assert Canvas.text_width("bold", 10, is_bold=True) > Canvas.text_width("bold", 10)
    assert Canvas.text_width("") == 0
    assert Canvas.shortened("动物园动物园", 35, 10) == "动物…"
    assert Canvas.shortened("ab", 35, 10) == "ab"
    for most in (12, 30, 77):
        assert Canvas.text_width(Canvas.shortened("a longer text of words", most, 10), 10) <= most


def test_every_role_has_a_colour_in_every_theme() -> None:
    assert set(colours_of("light")) == set(colours_of("dark"))
    assert len({colours_of("light")[f"head{i}"] for i in range(8)}) == 8


@pytest.mark.parametrize("form", ["lines", "matrix", "grid", "strip", "overview", "alignment"])
def test_two_hundred_words_are_drawn_quickly(make_trace, form: str) -> None:
    made = long(make_trace, 200, 6, 8)
    figure(make_trace(), View(form)).to_bytes("svg")  # which imports
    started = time.process_time()
    svg = figure(made, View(form)).to_bytes("svg")
    assert time.process_time() - started < 2
    assert len(svg) < 8_000_000
    if form == "lines":
        assert b"strongest of each row and head" in svg
    if form == "grid":
        assert svg.count(b"<image") == 48 + 1  # and the scale


def test_two_thousand_words_fit_a_matrix(make_trace) -> None:
    words = [f"w{i}" for i in range(2000)]
    made = make_trace(words, words, n_layers=1, n_heads=1, kinds=("cross",), has_positions=False)
    drawn = figure(made, View("matrix"))
    assert drawn.size[0] < 1300
    (matrix, *_) = heats(drawn)
    assert matrix.shape == (1001, 1001)  # the largest of every four
    assert matrix.max() == made.sites[0].weights.max()
    assert len(drawn.to_bytes("svg")) < 8_000_000
    small = heats(figure(made, View("grid")))[0]
    assert max(small.shape) <= 264
    assert small.max() == made.sites[0].weights.max()
