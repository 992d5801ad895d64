"""What every matrix has: a scale with the ends of its data, hatched masks, names, zoom, taps."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.seeing import eventually, expect_address

FOCUS = ".focus svg.picture"
PHONE = {"width": 390, "height": 844}

# (x, y) of the middle of a cell on the screen, from the matrix' first and last names
MIDDLE = """(svg, [row, column]) => {
  const at = one => svg.querySelector(one).getBoundingClientRect();
  const name = at(`text[data-row="${row}"]:not([data-column])`);
  const number = at(`text[data-row="${row}"][data-column="${column}"]`);
  return [number.left + number.width / 2, name.top + name.height / 2];
}"""


def scale_of(place: Locator) -> tuple[float, float]:
    bar = place.locator(".scale .bar").first
    return float(bar.get_attribute("data-low") or "nan"), float(
        bar.get_attribute("data-high") or "nan"
    )


def weights(trace: dict[str, Any], kind: str) -> np.ndarray:
    """Layers, heads, rows, columns."""
    return np.array([site["weights"] for site in trace["sites"] if site["kind"] == kind], float)


@pytest.fixture
def dim_trace(recorded, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """The recorded sentence with weak weights, some of them nothing where all may be seen."""
    trace = recorded("zh-en")["trace"]
    for site in trace["sites"]:
        values = 0.4 * np.array(site["weights"], float)
        values[:, -1, 0] = 0.0
        site["weights"] = values.round(6).tolist()
    place = tmp_path / "dim.json"
    place.write_text(json.dumps(trace))
    return place, trace


@pytest.mark.parametrize(("language", "said"), [("en", "Colours from 0"), ("zh", "颜色从 0 到")])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["encoder", "cross"])
def test_a_scale_ends_at_the_largest_weight_of_its_heads(
    alone, visit, dim_trace, kind: str, theme: str, language: str, said: str
) -> None:
    place, trace = dim_trace
    page = visit(f"{alone}#/look?site={kind}&words=0&theme={theme}&lang={language}")
    page.set_input_files("input[type=file]", place)
    expect(page.locator(".sentences .numbers")).to_contain_text("dim.json")
    largest = weights(trace, kind).max()
    for name in (".focus", ".heads"):
        expect(page.locator(f"{name} .bar text").last).to_have_text(f"{largest:.3f}".rstrip("0"))
        assert scale_of(page.locator(name)) == (0, pytest.approx(largest))
        label = page.locator(f"{name} .scale .bar").get_attribute("aria-label")
        assert label is not None
        assert said in label


@pytest.mark.parametrize(
    ("address", "place", "n"),
    [
        ("look?form=alignment", ".focus", 1),
        ("arithmetic", ".chooser", 1),
        ("compare?pair=zh-wide", ".both", 2),
        ("compare?pair=zh-wide", ".unlike", 1),
        ("training", ".moments .half", 1),
        ("training", ".moments .heads", 1),
        ("generate", ".grid", 1),
        ("generate", ".telling-card", 1),
        ("blocks?block=positions", "main", 2),
        ("blocks?block=masks", "main", 2),
        ("blocks?block=norms", "main", 3),
        ("blocks?block=scores", "main", 1),
    ],
)
def test_every_view_has_a_scale_for_each_matrix(
    alone, visit, address: str, place: str, n: int
) -> None:
    page = visit(f"{alone}#/{address}")
    expect(page.locator(f"{place} .scale .bar")).to_have_count(n)


def test_a_difference_is_drawn_to_both_sides_of_zero(alone, visit, recorded) -> None:
    left, right = (recorded(name)["trace"] for name in ("zh-en", "zh-en-wide"))
    page = visit(f"{alone}#/compare?pair=zh-wide&site=cross&layer=0&words=0")
    scene = page.locator(".unlike svg.picture")
    expect(scene).to_be_visible()
    low, high = scale_of(page.locator(".unlike"))
    one, other = (weights(trace, "cross")[0].mean(0) for trace in (left, right))
    assert low == -high
    # these two sentences differ in one word, and have all rows and columns in common
    assert high == pytest.approx(abs(other - one).max(), abs=1e-6)


@pytest.mark.parametrize(("language", "said"), [("en", "masked"), ("zh", "掩码")])
def test_masked_cells_are_hatched_and_are_no_zeros(
    alone, visit, dim_trace, language: str, said: str
) -> None:
    place, trace = dim_trace
    page = visit(f"{alone}#/look?site=decoder&words=0&lang={language}")
    page.set_input_files("input[type=file]", place)
    expect(page.locator(".sentences .numbers")).to_contain_text("dim.json")
    seen = weights(trace, "decoder")[1].mean(0)
    n = len(seen)
    hatch = page.locator(f"{FOCUS} path.masked")
    expect(hatch).to_have_attribute("data-cells", str(n * (n - 1) // 2))
    expect(page.locator(".focus .scale .hatched")).to_contain_text(said)
    # what may be seen and gets nothing has the first shade of the ramp, and no hatch
    top = weights(trace, "decoder").max()
    zeros = int((np.rint(255 * seen / top) == 0)[np.tril_indices(n)].sum())
    assert zeros > 0
    lowest = page.locator(f"{FOCUS} g > path").first
    assert lowest.evaluate("e => e.getAttribute('d').split('M').length - 1") == zeros
    drawn = page.locator(f"{FOCUS} g[shape-rendering] > path:not(.masked)")
    counts = drawn.evaluate_all("all => all.map(e => e.getAttribute('d').split('M').length - 1)")
    assert sum(counts) == n * (n + 1) // 2
    page.evaluate("() => { location.hash = '#/look?site=encoder' }")
    expect(hatch).to_have_count(0)
    expect(page.locator(".focus .scale .hatched")).to_have_count(0)


def test_a_masked_cell_is_read_as_one(alone, visit) -> None:
    page = visit(f"{alone}#/look?site=decoder&layer=1")
    page.locator(FOCUS).focus()
    for key in ("ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.locator(".focus .told")).to_have_text(
        "<s> may not look at The: the cell is masked."
    )


def test_names_stay_in_view_at_the_far_corner(alone, visit) -> None:
    page = visit(f"{alone}#/blocks?block=positions&length=64", viewport=PHONE)
    figure = page.locator("figure").first
    frame = figure.locator(".scrolling")
    expect(figure.locator(".pinned.rows")).to_be_visible()
    frame.evaluate("one => one.scrollTo(one.scrollWidth, one.scrollHeight)")
    box = frame.bounding_box()
    assert box is not None
    for name, axis in (("rows", "x"), ("columns", "y")):
        pinned = figure.locator(f".pinned.{name}").bounding_box()
        assert pinned is not None
        assert pinned[axis] == pytest.approx(box[axis], abs=1.5)
    expect(figure.locator(".pinned.columns")).to_contain_text("63")


def middle(page: Page, cell: tuple[int, int]) -> list[float]:
    found: list[float] = page.eval_on_selector(FOCUS, MIDDLE, list(cell))
    return found


@pytest.mark.parametrize("way", ["wheel", "keys", "buttons"])
def test_zoom_keeps_the_cell_that_is_pointed_at(alone, visit, way: str) -> None:
    cell = (5, 6)  # street looks at 过, and its number is drawn
    page = visit(f"{alone}#/look?row=5&column=6", viewport={"width": 1280, "height": 1400})
    page.wait_for_selector(f"{FOCUS} text[data-row='5'][data-column='6']")
    x, y = middle(page, cell)
    width = page.locator(FOCUS).bounding_box()["width"]
    reset = page.locator(".focus .zooming .number")
    if way == "buttons":
        page.mouse.move(1, 1)
        for _ in range(4):
            page.get_by_role("button", name="Zoom in").last.click()
    else:
        page.mouse.move(x, y)
        if way == "wheel":
            page.keyboard.down("Control")
            for _ in range(4):
                page.mouse.wheel(0, -90)
            page.keyboard.up("Control")
        else:
            page.locator(FOCUS).focus()
            for _ in range(4):
                page.keyboard.press("+")
    expect(reset).to_have_text(re.compile("2[0-9][0-9] %"))
    eventually(page, lambda: page.locator(FOCUS).bounding_box()["width"] > 1.8 * width, True)
    assert middle(page, cell) == pytest.approx([x, y], abs=3)
    expect(page.locator(".focus .pinned.rows")).to_be_visible()
    # cells grow, names do not: they would only take room
    name = page.locator(f"{FOCUS} text[data-row='5']:not([data-column])")
    assert name.bounding_box()["height"] < 25
    if way == "keys":
        page.keyboard.press("0")
    else:
        reset.click()
    expect(reset).to_have_text("100 %")
    eventually(page, lambda: abs(page.locator(FOCUS).bounding_box()["width"] - width) < 1, True)
    assert "zoom" not in page.url


def test_heads_are_zoomed_and_their_numbers_stay(alone, visit) -> None:
    page = visit(alone)
    canvas = page.locator(".heads canvas")
    width = canvas.bounding_box()["width"]
    canvas.focus()
    for _ in range(4):
        page.keyboard.press("+")
    eventually(page, lambda: canvas.bounding_box()["width"] > 2 * width, True)
    frame = page.locator(".heads .scrolling")
    frame.evaluate("one => one.scrollTo(one.scrollWidth, one.scrollHeight)")
    for name, axis in (("rows", "x"), ("columns", "y")):
        pinned = page.locator(f".heads .pinned.{name}").bounding_box()
        assert pinned[axis] == pytest.approx(frame.bounding_box()[axis], abs=1.5)
    assert canvas.evaluate("one => one.width") == pytest.approx(
        canvas.bounding_box()["width"], abs=2
    )  # drawn anew, not stretched


@pytest.fixture
def tapping(visit) -> Callable[[str], Page]:
    return lambda address: visit(address, viewport=PHONE, has_touch=True, is_mobile=True)


def test_two_fingers_zoom(alone, tapping) -> None:
    page = tapping(f"{alone}#/look?site=decoder")
    page.locator(FOCUS).scroll_into_view_if_needed()
    box = page.locator(FOCUS).bounding_box()
    width = box["width"]
    x, y = box["x"] + 150, box["y"] + 150
    client = page.context.new_cdp_session(page)

    def touch(kind: str, apart: float) -> None:
        points = [] if kind == "touchEnd" else [{"x": x - apart, "y": y}, {"x": x + apart, "y": y}]
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 20)
    for apart in (25, 30, 35, 40):
        touch("touchMove", apart)
    touch("touchEnd", 0)
    eventually(page, lambda: page.locator(FOCUS).bounding_box()["width"] > 1.5 * width, True)
    assert page.evaluate("visualViewport.scale") == 1


def test_a_tap_reads_a_cell_and_a_second_opens_it(alone, tapping) -> None:
    page = tapping(f"{alone}#/look?site=decoder&layer=1&head=0")
    told = page.locator(".focus .told")
    expect(told).to_contain_text("Tap a cell to read it")
    page.locator(FOCUS).scroll_into_view_if_needed()
    x, y = middle(page, (1, 1))
    page.touchscreen.tap(x, y)
    expect(told).to_contain_text("Having read “The”, it looks at The: 0.")
    expect(page.locator("nav [aria-current]")).to_have_text("Translate and look")
    assert page.locator(".sentence .pointed").count() > 0  # the word is marked in its sentence
    first = middle(page, (0, 0))
    page.touchscreen.tap(*first)
    expect(told).to_contain_text("Having read “<s>”")
    page.touchscreen.tap(*first)
    expect(page.locator("nav [aria-current]")).to_have_text("Arithmetic")
    expect_address(page, "row=0&column=0")


def test_a_tap_reads_a_head_and_a_second_chooses_it(alone, tapping, recorded) -> None:
    trace = recorded("zh-en")["trace"]
    page = tapping(alone)
    canvas = page.locator(".heads canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    at = box["x"] + 26 + (box["width"] - 26) * 0.3, box["y"] + box["height"] * 0.35
    page.touchscreen.tap(*at)
    largest = weights(trace, "cross")[0, 1].max()
    expect(page.locator(".heads .told")).to_contain_text("layer 0, head 1: most from")
    expect(page.locator(".heads .told")).to_contain_text(f"{largest:.3f}")
    expect(page.locator(".focus header p")).to_have_text("mean of 4 heads")
    page.touchscreen.tap(*at)
    expect(page.locator(".focus header p")).to_have_text("head 1")


def test_a_tap_reads_a_word_of_the_sentence(alone, tapping, recorded) -> None:
    page = tapping(f"{alone}#/look?form=lines")
    heads = weights(recorded("zh-en")["trace"], "cross")[0]
    lines = page.locator(f"{FOCUS} path")
    expect(lines).to_have_count(int((heads >= 0.02).sum()))
    page.locator(".sentence:nth-child(2) .word:has-text('street')").tap()
    expect(lines).to_have_count(int((heads[:, 5] >= 0.02).sum()))
    page.wait_for_timeout(200)  # the finger has left
    expect(lines).to_have_count(int((heads[:, 5] >= 0.02).sum()))


def test_a_click_opens_at_once(alone, visit) -> None:
    page = visit(f"{alone}#/look?site=decoder&layer=1&head=0")
    page.wait_for_selector(f"{FOCUS} text[data-row='1'][data-column='1']")
    page.mouse.click(*middle(page, (1, 1)))
    expect(page.locator("nav [aria-current]")).to_have_text("Arithmetic")
