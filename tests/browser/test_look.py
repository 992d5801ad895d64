"""Translate and look, on recorded sentences and files."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import expect

from regard.inspection.figures.drawing import ramp
from tests.browser.seeing import cells, eventually, expect_address, percents

FOCUS = ".focus svg.picture"


def weights(recorded: dict[str, Any], kind: str, layer: int) -> np.ndarray:
    sites = recorded["trace"]["sites"]
    return np.array(
        next(s["weights"] for s in sites if (s["kind"], s["layer"]) == (kind, layer)), float
    )


def test_the_matrix_has_the_numbers_of_the_trace(alone, visit, recorded) -> None:
    told = recorded("zh-en")
    page = visit(alone)
    layer = told["trace"]["aligning"]
    mean = percents(weights(told, "cross", layer).mean(0))
    eventually(page, lambda: cells(page, FOCUS), mean)
    page = visit(f"{alone}#/look?site=encoder&layer=0&head=3")
    eventually(page, lambda: cells(page, FOCUS), percents(weights(told, "encoder", 0)[3]))


def test_the_grid_has_a_picture_for_every_head_in_the_colours_of_its_weights(
    alone, visit, recorded
) -> None:
    page = visit(alone)
    script = """canvas => {
      const copy = new OffscreenCanvas(canvas.width, canvas.height);
      const context = copy.getContext('2d', { willReadFrequently: true });
      context.drawImage(canvas, 0, 0);
      const { data } = context.getImageData(0, 0, copy.width, copy.height);
      const found = new Set();
      for (let i = 0; i < data.length; i += 4) found.add(`${[...data.slice(i, i + 3)]}`);
      return [...found]; }"""
    page.wait_for_selector(".heads canvas")
    heads = weights(recorded("zh-en"), "cross", 0).max((1, 2))
    strongest = np.rint(255 * ramp("light", "weights")(heads)[:, :3])

    def are_drawn() -> list[bool]:
        told = page.eval_on_selector(".heads canvas", script)
        colours = np.array([[int(channel) for channel in one.split(",")] for one in told])
        unlike = abs(colours[:, None] - strongest).max(-1)
        return list((unlike <= 1).any(0))

    eventually(page, are_drawn, [True] * len(heads))


def test_arrow_keys_walk_through_the_matrix_and_enter_opens_the_arithmetic(
    alone, visit, recorded
) -> None:
    page = visit(alone)
    mean = weights(recorded("zh-en"), "cross", 0).mean(0)
    page.focus(FOCUS)
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    told = f"Predicting “animal”, it looks at 动: {mean[1, 2]:.3f} (mean of 4 heads"
    expect(page.locator(".focus .told")).to_contain_text(told)
    page.keyboard.press("Enter")
    expect(page.locator("nav [aria-current]")).to_have_text("Arithmetic")
    expect_address(page, "row=1&column=2")


def test_a_word_that_is_pointed_at_keeps_only_its_own_lines(alone, visit, recorded) -> None:
    page = visit(f"{alone}#/look?form=lines")
    heads = weights(recorded("zh-en"), "cross", 0)
    lines = page.locator(f"{FOCUS} path")
    expect(lines).to_have_count(int((heads >= 0.02).sum()))
    page.hover(".sentence:nth-child(2) .word:has-text('street')")
    expect(lines).to_have_count(int((heads[:, 5] >= 0.02).sum()))
    page.hover(".sentence:nth-child(1) .word:has-text('它')")
    expect(lines).to_have_count(int((heads[:, :, 12] >= 0.02).sum()))


def test_tokens_are_merged_into_words_or_not_and_rows_are_read_in_two_ways(alone, visit) -> None:
    page = visit(f"{alone}#/look?example=en-fr")
    rows = page.locator(f"{FOCUS} text[data-row]:not([data-column])")
    expect(rows.nth(3)).to_have_text("a")
    page.get_by_label("Merge tokens into words").uncheck()
    expect(rows.nth(3)).to_have_text("·'")
    page.get_by_role("button", name="word read").click()
    expect(rows.nth(0)).to_have_text("<s>")
    page.get_by_label("Hide <s> and </s>").check()
    expect(rows.nth(0)).to_have_text("Le")
    again = visit(page.url)  # everything is in the address
    shown = again.locator(f"{FOCUS} text[data-row]:not([data-column])")
    expect(shown.nth(0)).to_have_text("Le")
    expect(shown).to_have_text(rows.all_text_contents())


def test_other_translations_and_other_tokens_have_their_numbers(alone, visit, recorded) -> None:
    told = recorded("zh-en")
    page = visit(alone)
    scores = [f"{one['log_probability']:.2f}".replace("-", "−") for one in told["hypotheses"]]
    expect(page.locator(".beam .number")).to_have_text(scores)
    ranked = [f"{one['score']:.2f}".replace("-", "−") for one in told["hypotheses"]]
    expect(page.locator(".beam .score")).to_have_text(ranked)
    expect(page.locator(".beam header p")).to_contain_text("Best score first")
    page.hover(".sentence:nth-child(2) .word:has-text('street')")
    expect(page.locator(".sureness header p")).to_contain_text("street")
    likely = told["trace"]["steps"][5]["alternatives"][0]
    expect(page.locator(".sureness svg text").first).to_have_text(likely["text"])


def test_files_open_and_what_is_no_trace_is_refused(alone, visit, trace_file, tmp_path) -> None:
    page = visit(alone)
    page.set_input_files("input[type=file]", trace_file)
    expect(page.locator(".sentences .numbers")).to_contain_text("from the file en-fr.trace")
    expect(page.locator(".sentence").first).to_contain_text("horse")
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"format": 1}')
    page.set_input_files("input[type=file]", wrong)
    expect(page.get_by_role("alert")).to_contain_text("wrong.json is not a trace")


@pytest.mark.parametrize(
    ("language", "said", "recorded_too"),
    [("en", "what the file holds", "recorded"), ("zh", "文件里的内容", "录下来")],
)
@pytest.mark.parametrize("view", ["look", "compare"])
def test_a_file_is_not_called_a_recorded_sentence(
    alone, visit, trace_file, view: str, language: str, said: str, recorded_too: str
) -> None:
    page = visit(f"{alone}#/{view}?lang={language}")
    notice = page.locator(".asking .notice")
    expect(notice).to_contain_text(recorded_too)
    page.locator("input[type=file]").first.set_input_files(trace_file)
    expect(notice).to_contain_text(said)
    expect(notice).not_to_contain_text(recorded_too)
    expect(notice).to_contain_text("regard serve MODEL")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("size", ["", "&large=1"])
def test_a_small_screen_holds_every_view(alone, visit, language: str, size: str) -> None:
    page = visit(f"{alone}#/look?lang={language}{size}", viewport={"width": 360, "height": 800})
    assert page.locator("header.top").bounding_box()["height"] < 145
    for view in (
        *("look?", "arithmetic?", "switchboard?", "generate?", "compare?", "training?"),
        *(f"blocks?block={block}&" for block in ("positions", "masks", "norms", "scores")),
    ):
        page.evaluate("hash => { location.hash = hash }", f"#/{view}lang={language}{size}")
        page.wait_for_selector("main .card")
        page.wait_for_timeout(150)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view


@pytest.mark.parametrize("language", ["en", "zh"])
def test_on_a_projector_the_bar_stays_low(alone, visit, language: str) -> None:
    heights = [
        visit(f"{alone}#/look?lang={language}{size}").locator("header.top").bounding_box()["height"]
        for size in ("", "&large=1")
    ]
    assert heights[1] <= 1.15 * heights[0]


def test_a_file_that_is_dropped_opens(alone, visit, recorded) -> None:
    page = visit(alone)
    text = json.dumps(recorded("en-fr")["trace"], ensure_ascii=False)
    dropped = page.evaluate_handle(
        "text => { const all = new DataTransfer();"
        " all.items.add(new File([text], 'mine.json')); return all; }",
        text,
    )
    page.dispatch_event(".page", "dragover", {"dataTransfer": dropped})
    expect(page.locator(".dropping")).to_be_visible()
    page.dispatch_event(".page", "drop", {"dataTransfer": dropped})
    expect(page.locator(".sentences .numbers")).to_contain_text("mine.json")


def test_pictures_and_traces_are_saved(alone, visit, recorded) -> None:
    page = visit(alone)
    saved = {}
    for kind in ("SVG", "PNG", "JSON"):
        with page.expect_download() as download:
            page.locator(".focus .save").get_by_role("button", name=kind).click()
        saved[kind] = Path(download.value.path()).read_bytes()
    picture = ElementTree.fromstring(saved["SVG"].decode())
    assert "动" in [one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert saved["PNG"].startswith(b"\x89PNG")
    assert json.loads(saved["JSON"]) == recorded("zh-en")["trace"]


def test_chinese_is_spoken_and_drawn(alone, visit) -> None:
    page = visit(alone, locale="zh-CN")
    expect(page.locator("nav [aria-current]")).to_have_text("翻译与观察")
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    # Without a font every character would be the same box.
    script = """word => { const canvas = document.createElement('canvas');
      const context = canvas.getContext('2d');
      context.font = `40px ${getComputedStyle(document.body).fontFamily}`;
      context.fillText(word, 5, 60); return canvas.toDataURL(); }"""
    assert len({page.evaluate(script, word) for word in "动物看"}) == 3
    page.get_by_role("button", name="Switch to English").click()
    expect(page.locator("nav [aria-current]")).to_have_text("Translate and look")
    expect_address(page, "lang=en")


def test_dark_and_large_are_kept_in_the_address(alone, visit) -> None:
    page = visit(alone, color_scheme="dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name=re.compile("^Colours")).click()
    page.get_by_role("button", name="Projector size").click()
    expect_address(page, "large=1")
    again = visit(page.url, color_scheme="dark")
    expect(again.locator("html")).to_have_attribute("data-theme", "light")
    expect(again.locator("html")).to_have_attribute("data-size", "large")


def test_a_long_sentence_of_many_heads_is_drawn(alone, visit, recorded, tmp_path) -> None:
    n, n_layers, n_heads = 60, 6, 8
    tokens = [
        {"id": 9, "text": f"w{i}", "start": 3 * i, "end": 3 * i + 2, "word": i} for i in range(n)
    ]
    words = [{"text": one["text"], "start": one["start"], "end": one["end"]} for one in tokens]
    sentence = {"text": " ".join(one["text"] for one in tokens), "words": words, "tokens": tokens}
    one = np.random.default_rng(0).dirichlet(np.full(n, 0.1), (n_heads, n)).round(6).tolist()
    site = {"kind": "cross", "is_uniform": [False] * n_heads, "sums_to_one": True, "weights": one}
    trace = {
        **recorded("zh-en")["trace"],
        "source": sentence,
        "target": sentence,
        "sites": [{**site, "layer": layer} for layer in range(n_layers)],
        "steps": [{"log_probability": -1.0, "alternatives": []}] * n,
        "aligning": 2,
    }
    place = tmp_path / "long.json"
    place.write_text(json.dumps(trace))
    page = visit(alone)
    page.set_input_files("input[type=file]", place)
    expect(page.locator(".sentences .numbers")).to_contain_text("long.json")
    page.wait_for_selector(f"{FOCUS} path")
    assert page.locator(f"{FOCUS} *").count() < 1_000  # a path for each shade, not for each cell
    page.get_by_role("button", name="Lines").click()
    page.hover(".sentence:nth-child(1) .word:has-text('w7')")
    expected = int((np.array(one)[:, :, 7] >= 0.02).sum())
    expect(page.locator(f"{FOCUS} path")).to_have_count(expected)
