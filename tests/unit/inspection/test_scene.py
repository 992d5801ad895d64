"""Scenes and what is made of them: the right words, the right weights, safe and the same twice."""

import json
import re
import time
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path as Place

import numpy as np
import pytest

from regard.errors import UsageError
from regard.inspection.scene import (
    FORMATS,
    FORMS,
    Heat,
    Path,
    Rectangle,
    Text,
    View,
    layout,
    render,
    save,
)
from regard.inspection.scene.bitmap import png
from regard.inspection.scene.colours import COLOURS, RAMPS, ramp_table
from regard.inspection.scene.measure import shortened, text_width
from regard.inspection.trace import Trace, table

OF_TEXT = tuple(form for form in FORMS if form != "pictures")
SVG = "{http://www.w3.org/2000/svg}"
EVIL = ["<script>alert(1)</script>", "\"'&amp;", "a\x00b\x1b", "$x^2$", "]]>", "机器"]


def texts(scene, **same) -> list[str]:
    return [
        item.text
        for item in scene.items
        if isinstance(item, Text) and all(getattr(item, k) == v for k, v in same.items())
    ]


def labels(scene, side: str) -> list[str]:
    other = "column" if side == "row" else "row"
    return [
        item.text
        for item in scene.items
        if isinstance(item, Text)
        and getattr(item, side) is not None
        and getattr(item, other) is None
    ]


def test_lines_are_as_thick_as_the_weights(make_trace) -> None:
    made = make_trace()
    scene = layout(made, View(heads=(1,), layer=0))
    weights = made.site("cross", 0).weights[1]
    links = [item for item in scene.items if isinstance(item, Path)]
    assert {(one.row, one.column) for one in links} == {
        (i, j) for i, j in np.argwhere(weights >= 0.02).tolist()
    }
    widths = [one.width for one in links]
    assert widths == sorted(widths)  # strong ones lie on top
    for one in links:
        weight = weights[one.row, one.column]
        assert one.width == pytest.approx(max(0.6, 9 * weight), abs=2e-3)
        assert one.head == 1
        assert f"{weight:.3f}" in one.tip
    assert labels(scene, "row") == ["das", "Tier", "war", "müde", "</s>"]
    assert labels(scene, "column") == ["the", "动物", "was", "tired", ".", "</s>"]


def test_lines_start_and_end_at_their_words(make_trace) -> None:
    scene = layout(make_trace(), View(heads=(0,)))
    row = {i.row: i for i in scene.items if isinstance(i, Text) and i.row is not None}
    column = {i.column: i for i in scene.items if isinstance(i, Text) and i.column is not None}
    links = [item for item in scene.items if isinstance(item, Path)]
    for one in links:
        assert one.points[0][1] == row[one.row].y
        assert one.points[-1][1] == column[one.column].y
        assert row[one.row].x < one.points[0][0] < one.points[-1][0] < column[one.column].x


def test_one_word_and_few_lines(make_trace) -> None:
    made = make_trace()
    one = layout(made, View(word="war"))
    assert {item.row for item in one.items if isinstance(item, Path)} == {2}
    few = layout(made, View(top_k=1))
    links = [item for item in few.items if isinstance(item, Path)]
    assert len(links) == 5 * 2  # a row and head each
    mean = table(made, "cross").weights
    for link in links:
        assert mean[link.head, link.row].argmax() == link.column


def test_heads_have_colours_of_their_own(make_trace) -> None:
    scene = layout(make_trace(n_heads=3), View())
    links = [item for item in scene.items if isinstance(item, Path)]
    assert {(one.head, one.colour) for one in links} == {(h, f"head{h}") for h in range(3)}
    chips = [item for item in scene.items if isinstance(item, Rectangle)]
    assert [chip.fill for chip in chips] == ["head0", "head1", "head2"]


def test_the_reading_of_rows_is_said(make_trace) -> None:
    made = make_trace()
    for form in ("lines", "matrix"):
        predicting, reading = (
            layout(made, View(form, reading=one)) for one in ("predicting", "reading")
        )
        assert labels(predicting, "row") == ["das", "Tier", "war", "müde", "</s>"]
        assert labels(reading, "row") == ["<s>", "das", "Tier", "war", "müde"]
        assert any("when predicting" in text for text in texts(predicting))
        assert any("when reading" in text for text in texts(reading))


def test_a_matrix_holds_the_mean_of_the_chosen_heads(make_trace) -> None:
    made = make_trace(n_heads=3)
    scene = layout(made, View("matrix", layer=2, heads=(0, 2), hides_special=True))
    heat = next(item for item in scene.items if isinstance(item, Heat))
    expected = made.site("cross", 2).weights[[0, 2]].mean(0)[:-1, :-1]
    np.testing.assert_allclose(heat.values, expected, atol=1e-6)
    assert heat.rows == ("das", "Tier", "war", "müde")
    numbers = [i for i in scene.items if isinstance(i, Text) and None not in (i.row, i.column)]
    assert {(n.row, n.column, int(n.text)) for n in numbers} == {
        (i, j, round(100 * float(expected[i, j]))) for i, j in np.argwhere(expected >= 0.05)
    }


def test_chinese_labels_stand_and_others_lie(make_trace) -> None:
    scene = layout(make_trace(source=["动", "物", "。"]), View("matrix"))
    turned = {i.text: i.turned for i in scene.items if isinstance(i, Text) and i.column is not None}
    assert {name: turned[name] for name in ("动", "物", "。")} == {"动": 0, "物": 0, "。": 0}
    assert turned["</s>"] == -55
    english = layout(make_trace(source=["a", "dog"]), View("matrix"))
    assert {
        i.turned
        for i in english.items
        if isinstance(i, Text) and i.column is not None and not i.row
    } >= {-55.0}


def test_the_grid_shows_every_head_and_flags_even_ones(make_trace) -> None:
    made = make_trace(n_layers=3, n_heads=4)
    sites = tuple(
        replace(site, is_uniform=(False, True, False, False)) if site.name == "cross.2" else site
        for site in made.sites
    )
    scene = layout(replace(made, sites=sites), View("grid"))
    heats = [item for item in scene.items if isinstance(item, Heat)]
    assert len(heats) == 12
    np.testing.assert_array_equal(heats[5].values, made.site("cross", 1).weights[1])
    marked = [i for i in scene.items if isinstance(i, Rectangle) and i.stroke == "mark"]
    assert len(marked) == 1
    assert any("almost the same weight everywhere" in text for text in texts(scene))


def test_the_alignment_outlines_the_largest(make_trace) -> None:
    made = make_trace()
    scene = layout(made, View("alignment"))
    heat = next(item for item in scene.items if isinstance(item, Heat))
    expected = made.site("cross", 1).weights.mean(0)[:-1, :-1]
    expected /= expected.sum(-1, keepdims=True)
    np.testing.assert_allclose(heat.values, expected, atol=1e-6)
    outlines = [i for i in scene.items if isinstance(i, Rectangle) and i.stroke == "mark"][:-1]
    cell = heat.width / len(heat.columns)
    found = [(round((o.y - 1 - heat.y) / cell), round((o.x - 1 - heat.x) / cell)) for o in outlines]
    assert found == list(enumerate(expected.argmax(-1).tolist()))


def test_the_strip_shows_choices_and_looks(make_trace) -> None:
    scene = layout(make_trace(), View("strip"))
    assert labels(scene, "row") == ["das", "Tier", "war", "müde", "</s>"]
    said = texts(scene)
    assert said.count("w0") == 5
    assert "61 %" in said  # exp(-0.5)
    assert "p = 90 %" in said  # exp(-0.1)
    assert "looked at" in said
    assert "looked at" not in texts(layout(make_trace(kinds=()), View("strip")))


def test_the_overview_has_three_kinds_of_lines(make_trace) -> None:
    scene = layout(make_trace(), View("overview"))
    colours = {item.colour for item in scene.items if isinstance(item, Path)}
    assert colours == {"head0", "head1", "head2"}
    alone = layout(make_trace(kinds=("cross",)), View("overview"))
    assert {item.colour for item in alone.items if isinstance(item, Path)} == {"head0"}


def test_positions_are_drawn_or_missed(make_trace) -> None:
    made = make_trace()
    heat = next(i for i in layout(made, View("positions")).items if isinstance(i, Heat))
    np.testing.assert_array_equal(heat.values, made.positions)
    assert heat.rows[1] == "place 1 (动物)"
    with pytest.raises(UsageError, match=r"^tiny adds nothing for the place of a word"):
        layout(make_trace(has_positions=False), View("positions"))


@pytest.mark.parametrize("form", OF_TEXT)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_leaves_the_picture(make_trace, form: str, theme: str) -> None:
    words = ["Donaudampfschifffahrt", "ist", "x"] if theme == "dark" else ["机", "器"]
    scene = layout(make_trace(source=words, target=words[::-1]), View(form, theme=theme))
    assert scene.theme == theme
    for item in scene.items:
        if isinstance(item, Text) and not item.turned:
            width = text_width(item.text, item.size)
            left = item.x - {"start": 0, "middle": width / 2, "end": width}[item.anchor]
            assert left >= 0
            assert left + width <= scene.width
            assert 0 <= item.y <= scene.height
        elif isinstance(item, Heat | Rectangle):
            assert item.x >= 0
            assert item.x + item.width <= scene.width
            assert item.y + item.height <= scene.height


@pytest.mark.parametrize("form", OF_TEXT)
def test_words_are_never_markup(make_trace, form: str) -> None:
    made = make_trace(source=EVIL, target=EVIL[::-1])
    svg = render(layout(made, View(form)), "svg").decode()
    root = ET.fromstring(svg)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        *("svg", "title", "style", "rect", "text", "path", "image")
    }
    (style,) = root.iter(f"{SVG}style")
    face = (
        r"@font-face\{font-family:'regard-[0-9a-f]{8}';src:url\(data:font/ttf;base64,[\w+/=]+\)\}"
    )
    assert re.fullmatch(f"({face})+", style.text or "")
    assert not re.search("<script", svg)
    if form in ("lines", "matrix", "overview"):
        written = {element.text or "" for element in root.iter(f"{SVG}text")}
        assert any(EVIL[0] in (element.text or "") for element in root.iter())
        assert EVIL[1] in written
        assert "a\ufffdb\ufffd" in written


@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind != "html"])
def test_the_same_picture_twice_is_the_same_file(make_trace, tmp_path: Place, kind: str) -> None:
    files = [
        save(layout(make_trace(), View("overview")), tmp_path / f"{n}.{kind}") for n in ("a", "b")
    ]
    content = files[0].read_bytes()
    assert content == files[1].read_bytes()
    starts = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "json": b"{"}
    assert content.startswith(starts[kind])
    if kind == "svg":
        assert "动物</text>" in content.decode()
    if kind == "json":
        assert json.loads(content)["title"] == "Encoder and decoder"


@pytest.mark.parametrize("form", ["matrix", "lines"])
def test_png_draws_what_svg_says(make_trace, form: str) -> None:
    """The size is twice the scene's, and signs of formulas are signs."""
    import struct

    scene = layout(
        make_trace(source=["$x$", "机", "\x00\x1b", "ᚠ\U000e0041"]), View(form, theme="dark")
    )
    drawn = render(scene, "png")
    width, height = struct.unpack(">II", drawn[16:24])
    assert width == pytest.approx(2 * scene.width, abs=2)
    assert height == pytest.approx(2 * scene.height, abs=2)


def test_a_heat_map_as_an_image_has_the_ramps_colours() -> None:
    from io import BytesIO

    import matplotlib.image as images

    values = np.array([[0.0, 1.0, 0.5]], np.float32)
    heat = Heat(0, 0, 30, 10, values)
    drawn = images.imread(BytesIO(png(heat, "light")))
    assert drawn.shape[:2] == (4, 12)
    expected = ramp_table("light", "weights")[[0, 255, 128]]
    np.testing.assert_allclose(drawn[1, [1, 5, 9], :3], expected, atol=0.003)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (
            lambda: View("circle"),
            "there is no view 'circle': choose one of lines, matrix, grid, alignment, positions, "
            "strip, overview, pictures",
        ),
        (
            lambda: View(site="middle"),
            "there is no site 'middle': choose one of encoder, decoder, cross",
        ),
        (
            lambda: View(reading="dreaming"),
            "there is no reading 'dreaming': choose one of predicting, reading",
        ),
        (
            lambda: View(theme="pink"),
            "there is no theme 'pink': choose one of light, dark",
        ),
        (lambda: View(top_k=0), "top_k = 0 shows nothing: give 1 or more"),
    ],
)
def test_impossible_views_are_refused(ask, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        ask()
    assert str(refused.value) == sentence


def test_impossible_files_are_refused(make_trace, tmp_path: Place) -> None:
    scene = layout(make_trace())
    with pytest.raises(UsageError, match=r"^a picture cannot be 'gif': choose one of svg, png"):
        render(scene, "gif")
    with pytest.raises(UsageError) as refused:
        save(scene, tmp_path / "x.gif")
    assert str(refused.value) == (
        "a picture cannot be saved as 'x.gif': end its name in .svg, .png, .pdf, .html or .json"
    )
    with pytest.raises(UsageError, match=r"there is no such folder; make it, or choose another$"):
        save(scene, tmp_path / "no" / "x.svg")
    (tmp_path / "d.svg").mkdir()
    with pytest.raises(UsageError, match=r"that is a folder$"):
        save(scene, tmp_path / "d.svg")


def test_wide_characters_take_their_room() -> None:
    assert text_width("动物", 10) == 20
    assert text_width("ab", 10) < 15
    assert text_width("e\u0301", 10) == text_width("e", 10)
    assert shortened("动物园动物园", 35, 10) == "动物…"
    assert shortened("ab", 35, 10) == "ab"


def test_every_role_has_a_colour_in_every_theme() -> None:
    assert set(COLOURS["light"]) == set(COLOURS["dark"])
    assert set(RAMPS["light"]) == set(RAMPS["dark"])
    assert len({COLOURS["light"][f"head{i}"] for i in range(8)}) == 8


def long(make_trace, n: int, n_layers: int, n_heads: int) -> Trace:
    words = [f"word{i}" for i in range(n)]
    return make_trace(words, words, n_layers=n_layers, n_heads=n_heads, has_positions=False)


def test_two_hundred_words_are_drawn_quickly(make_trace) -> None:
    made = long(make_trace, 200, 6, 8)
    started = time.process_time()
    svg = render(layout(made, View("lines")), "svg")
    assert time.process_time() - started < 2
    assert svg.count(b"<path") <= 6_000
    assert b"strongest of each row and head" in svg
    grid = render(layout(made, View("grid")), "svg")
    assert grid.count(b"<image") == 48


def test_two_thousand_words_fit_a_matrix(make_trace) -> None:
    words = [f"w{i}" for i in range(2000)]
    made = make_trace(words, words, n_layers=1, n_heads=1, kinds=("cross",), has_positions=False)
    scene = layout(made, View("matrix"))
    svg = render(scene, "svg")
    assert svg.count(b"<image") == 2  # the matrix and its key
    assert svg.count(b"<rect") == 1  # the ground
    assert len(svg) < 8_000_000
    assert scene.width < 1300
    thumbnail = next(i for i in layout(made, View("grid")).items if isinstance(i, Heat))
    assert max(thumbnail.values.shape) <= 132
    assert thumbnail.values.max() == made.sites[0].weights.max()
