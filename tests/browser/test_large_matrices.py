"""A matrix that is larger than its frame: its names are read, and what is cut off is hinted at."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.seeing import eventually

FOCUS = ".focus svg.picture"
READABLE = 11  # pixels
PHONE = {"width": 390, "height": 844}

SIZES = """svg => {
  const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  const of = text => +text.getAttribute("font-size") * scale;
  const names = svg.querySelectorAll("text[data-row]:not([data-column])");
  return { names: names.length, least: Math.min(...Array.from(names, of)) };
}"""


def sentence(n: int) -> dict[str, Any]:
    words = [{"text": f"word{i}", "start": 7 * i, "end": 7 * i + 6} for i in range(n)]
    tokens = [{"id": 9 + i, **word, "word": i} for i, word in enumerate(words)]
    return {"text": " ".join(f"word{i:<2}" for i in range(n)), "words": words, "tokens": tokens}


@pytest.fixture
def long_trace(recorded, tmp_path: Path) -> Path:
    """A long source and a short output, which as a whole would be a strip."""
    n_source, n_target, n_heads = 90, 6, 2
    weights = np.random.default_rng(0).dirichlet(np.full(n_source, 0.1), (n_heads, n_target))
    site = {"kind": "cross", "layer": 0, "is_uniform": [False] * n_heads, "sums_to_one": True}
    trace = {
        **recorded("zh-en")["trace"],
        "source": sentence(n_source),
        "target": sentence(n_target),
        "sites": [{**site, "weights": weights.round(6).tolist()}],
        "steps": [{"log_probability": -1.0, "alternatives": []}] * n_target,
        "aligning": 0,
    }
    place = tmp_path / "long.json"
    place.write_text(json.dumps(trace))
    return place


def frame_of(page: Page) -> Any:
    return page.locator(".focus .scrolling")


@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 900}, PHONE])
def test_a_long_sentence_scrolls_and_its_names_are_read(
    alone, visit, long_trace: Path, viewport: dict[str, int]
) -> None:
    page = visit(alone, viewport=viewport)
    page.set_input_files("input[type=file]", long_trace)
    expect(page.locator(".sentences .numbers").last).to_contain_text("long.json")
    sizes = page.locator(FOCUS).evaluate(SIZES)
    assert sizes["names"] == 6
    assert sizes["least"] >= READABLE - 0.1
    assert frame_of(page).evaluate("one => one.scrollWidth > 2 * one.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # an arrow key brings the cell that it chooses into sight
    page.focus(FOCUS)
    page.keyboard.press("ArrowDown")
    for _ in range(60):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".focus .told")).to_contain_text("word60")
    eventually(page, lambda: frame_of(page).evaluate("one => one.scrollLeft > 100"), True)


@pytest.mark.parametrize(
    ("language", "said"), [("en", "Scroll within the picture"), ("zh", "在图内滑动")]
)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_phone_a_matrix_that_is_cut_says_so(
    alone, visit, language: str, said: str, theme: str
) -> None:
    page = visit(f"{alone}#/look?lang={language}&theme={theme}", viewport=PHONE)
    expect(page.locator(".focus .scroll-hint")).to_contain_text(said)
    expect(page.locator(".focus .edge.right")).to_be_visible()
    frame = frame_of(page)
    names = page.locator(".focus .pinned.rows")
    before = names.bounding_box()
    frame.evaluate("one => one.scrollTo(one.scrollWidth, 0)")
    expect(page.locator(".focus .edge.right")).to_have_count(0)
    assert names.bounding_box() == before
    assert page.locator(FOCUS).bounding_box()["x"] < 0
    expect(names).to_contain_text("animal")


def test_what_fits_has_neither_hint_nor_edge(alone, visit) -> None:
    page = visit(f"{alone}#/look?site=decoder")
    page.wait_for_selector(FOCUS)
    expect(page.locator(".focus .scroll-hint")).to_have_count(0)
    expect(page.locator(".focus .edge")).to_have_count(0)
    expect(page.locator(".heads .scroll-hint")).to_have_count(0)
