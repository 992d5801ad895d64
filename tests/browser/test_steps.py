"""Arithmetic, the switchboard and the blocks, with no model behind the page."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from playwright.sync_api import Locator, expect

from regard.attention import layer_normalise
from regard.lessons.explanation.blocks import score_numbers
from tests.browser.seeing import expect_address

CARDS = ".cards > .card"
SVG = "{http://www.w3.org/2000/svg}"


def test_the_lectures_example_comes_out(alone, visit) -> None:
    page = visit(f"{alone}#/arithmetic?preset=lecture")
    expect(page.locator(CARDS)).to_have_count(6)
    expect(page.locator(CARDS).nth(2)).to_contain_text("112")
    expect(page.locator(CARDS).nth(3)).to_contain_text("112 / 8 =14")
    expect(page.locator(CARDS).nth(4)).to_contain_text("e = 12 → 0.119")
    page.focus(".chooser svg.picture")
    page.keyboard.press("ArrowRight")
    expect(page.locator(CARDS).nth(2)).to_contain_text("96")
    page.keyboard.press("ArrowDown")
    expect(page.locator(CARDS).nth(2)).to_contain_text("120")


def test_a_lecturer_steps_with_the_keys(alone, visit) -> None:
    page = visit(f"{alone}#/arithmetic?preset=lecture&step=1")
    expect(page.locator(CARDS)).to_have_count(1)
    for key, n in (("ArrowRight", 2), ("PageDown", 3), ("ArrowLeft", 2)):
        page.keyboard.press(key)
        expect(page.locator(CARDS)).to_have_count(n)
    expect_address(page, "step=2")


def test_a_recorded_cell_has_the_numbers_of_its_head(alone, visit, recorded) -> None:
    told = recorded("zh-en")
    page = visit(f"{alone}#/arithmetic?site=encoder&layer=1&head=2&row=4&column=3")
    site = next(s for s in told["sites"] if (s["kind"], s["layer"]) == ("encoder", 1))
    query, key = np.array(site["queries"][2][4]), np.array(site["keys"][2])
    product = float(query @ key[3])
    expect(page.locator(CARDS).nth(2)).to_contain_text(f"{product:.2f}".replace("-", "−"))
    traced = next(
        s["weights"] for s in told["trace"]["sites"] if (s["kind"], s["layer"]) == ("encoder", 1)
    )[2][4]
    said = page.locator(CARDS).nth(4).locator("svg text").all_text_contents()
    weights = [float(text.rpartition("→ ")[2]) for text in said if "→" in text]
    np.testing.assert_allclose(weights, traced, atol=1.5e-3)
    shown = page.locator(CARDS).first.locator("svg text").all_text_contents()[1:17]
    assert [float(text.replace("−", "-")) for text in shown] == [
        float(f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}") for value in query[:16]
    ]


def test_a_file_without_vectors_says_so(alone, visit, trace_file) -> None:
    page = visit(alone)
    page.set_input_files("input[type=file]", trace_file)
    expect(page.locator(".sentences .numbers")).to_contain_text("en-fr.trace")
    page.get_by_role("link", name="Arithmetic").click()
    expect(page.locator(".steps .notice")).to_contain_text("serve the model")
    expect(page.locator(".stepping")).to_have_count(0)  # no "step 1 of 0"
    page.keyboard.press("ArrowRight")
    assert "step=" not in page.url
    page.get_by_role("button", name="The lectures' example").click()
    expect(page.locator(".stepping")).to_contain_text("step 6 of 6")
    page.get_by_role("link", name="Switchboard").click()
    expect(page.locator(".intro .notice")).to_contain_text("A file cannot translate again")


def test_a_head_is_switched_off(alone, visit, recorded) -> None:
    told = recorded("en-fr")["ablations"]["decoder.1.1"]
    page = visit(f"{alone}#/switchboard?example=en-fr")
    head = page.get_by_role("switch", name="Decoder self-attention, layer 1, head 1")
    head.click()
    expect(head).to_have_attribute("aria-checked", "false")
    expect(page.locator(".changed")).to_have_text(told["after"])
    expect(page.locator(".change")).to_contain_text(f"{told['change']:.3f}".replace("-", "−"))
    for change in told["changes"]:
        if abs(change) >= 0.01:
            said = re.compile("^" + re.escape(f"{change:+.2f}".replace("-", "−")) + "$")
            expect(page.locator(".outcome svg text", has_text=said).first).to_be_attached()
    # where it looks then was not recorded, and the page says so
    expect(page.locator(".moved .notice")).to_contain_text("regard serve MODEL")
    page.get_by_role("button", name="Switch all on").click()
    expect(page.locator(".changed")).to_have_count(0)
    expect(page.locator(".moved")).to_have_count(0)


@pytest.mark.parametrize(
    ("language", "said", "after"),
    [
        (
            "en",
            "The model has no such head, so it is passed over: "
            "Decoder self-attention, layer 9, head 0.",
            "With 1 off",
        ),
        ("zh", "模型没有这样的头，已略过：解码器自注意力，第 9 层，第 0 头。", "关闭 1 个之后"),
    ],
)
def test_a_head_that_the_model_lacks_is_passed_over(
    alone, visit, recorded, language: str, said: str, after: str
) -> None:
    told = recorded("en-fr")["ablations"]["decoder.1.1"]
    asked = f"{alone}#/switchboard?example=en-fr&lang={language}&off=decoder.9.0"
    page = visit(f"{asked},decoder.1.1")
    expect(page.get_by_role("alert")).to_have_text(said)
    expect(page.locator(".outputs")).to_contain_text(after)
    expect(page.locator(".changed")).to_have_text(told["after"])
    page = visit(asked)
    expect(page.get_by_role("alert")).to_have_text(said)
    expect(page.locator(".outputs h2")).to_have_count(1)
    page.locator(".switch").first.click()
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Switched off: Decoder self-attention, layer 1, head 1"),
        ("zh", "关闭：解码器自注意力，第 1 层，第 1 头"),
    ],
)
def test_what_is_saved_of_the_switchboard_says_which_heads_were_off(
    alone, visit, recorded, language: str, said: str, tmp_path: Path
) -> None:
    told = recorded("en-fr")
    off = told["ablations"]["decoder.1.1"]
    page = visit(f"{alone}#/switchboard?example=en-fr&off=decoder.1.1&lang={language}")
    saved = {}
    for kind in ("SVG", "PNG", "JSON", "HTML"):
        with page.expect_download() as download:
            page.locator(".outcome .save").get_by_role("button", name=kind).click()
        saved[kind] = Path(download.value.path()).read_bytes()
    picture = ElementTree.fromstring(saved["SVG"].decode())
    assert picture.get("aria-label") == said
    assert [one.text for one in picture.iter(f"{SVG}title")] == [said]
    lines = [one.text for one in picture.iter(f"{SVG}text")]
    assert lines[0] == said
    assert off["after"] in " ".join(lines)
    file = tmp_path / "saved.html"
    file.write_bytes(saved["HTML"])
    again = visit(f"{file.as_uri()}", locale="zh-CN" if language == "zh" else "en-GB")
    expect(again.locator(".outputs")).to_contain_text(off["after"])
    expect(again.locator(".switch[aria-checked=false]")).to_have_count(1)
    assert saved["PNG"].startswith(b"\x89PNG")
    width, height = (int.from_bytes(saved["PNG"][at : at + 4], "big") for at in (16, 20))
    assert (width, height) == (2 * int(picture.get("width")), 2 * float(picture.get("height")))
    json_told = json.loads(saved["JSON"])
    assert json_told.pop("ablation") == off
    assert json_told == told["trace"]


def shown_in(figure: Locator) -> list[float]:
    """The numbers of a matrix, row by row."""
    said = figure.locator("text[data-row][data-column]").all_text_contents()
    return [float(text.replace("−", "-")) for text in said]


def test_blocks_show_what_regard_computes(alone, visit) -> None:
    page = visit(f"{alone}#/blocks?block=norms")
    figure = page.locator("figure", has_text="Layer norm").first
    for seed, table in enumerate(([1, 3, 6], [2, 2, 2], [1, 10, 100])):
        expect(page.get_by_label(re.compile("^feature 0, example [0-2]$")).nth(1)).to_have_value(
            str(table[1])
        )
        told = page.get_by_label(re.compile("^feature")).evaluate_all(
            "all => all.map(o => +o.value)"
        )
        rows = torch.tensor(told, dtype=torch.float64).reshape(6, 3)
        expected = layer_normalise(rows.T).T.flatten().tolist()
        np.testing.assert_allclose(shown_in(figure), expected, atol=0.005)
        expect(page.get_by_label("feature 0, example 0")).to_be_disabled()
        page.get_by_role("button", name="Another table").click()
        expect_address(page, f"seed={seed + 2}")


def test_every_block_opens(alone, visit) -> None:
    page = visit(f"{alone}#/blocks")
    page.get_by_role("group", name="width d").get_by_role("button", name="32").click()
    expect(page.locator("svg.picture text", has_text=re.compile("^31$"))).to_have_count(2)
    page.get_by_role("slider", name="places").fill("30")
    named = [*range(0, 28, 5), 31, *range(0, 26, 5), 29]
    found = page.locator("figure svg.picture").first.locator("text")
    expect(found).to_have_text(["dimension", "place", *map(str, named)])
    alike = page.locator("figure svg.picture").nth(1).locator("text").all_text_contents()
    assert alike.count("place") == 2
    page.get_by_role("button", name="Masks").click()
    page.get_by_label(re.compile("^causal")).uncheck()
    expect(page.locator("svg.picture text", has_text=re.compile("^0$"))).to_have_count(0)
    page.get_by_label(re.compile("^padding")).check()
    expect(page.locator("svg.picture text", has_text=re.compile("^0$"))).to_have_count(2 * 7)
    page.get_by_role("button", name="Eight scores").click()
    expect(page.locator("svg text[data-row][data-column]")).to_have_count(8 * 4)
    rows = np.array(shown_in(page.locator("svg.picture").first)).reshape(8, 4)
    np.testing.assert_allclose(rows.sum(-1), 1, atol=0.021)
    np.testing.assert_array_equal(rows[2], rows[5])  # additive and perceptron
    page.get_by_label("q₂").fill("-2")
    first = [f"{one:.2f}" for one in score_numbers(1, [0.7, -2.0, 0.1, 0.6]).weights[0]]
    cells = page.locator("svg text[data-row='0'][data-column]")
    expect(cells).to_have_text(first)
    page.get_by_label("q₄").fill("1.5")  # recorded is one number at a time
    first = [f"{one:.2f}" for one in score_numbers(1, [0.7, 0.3, 0.1, 1.5]).weights[0]]
    expect(cells).to_have_text(first)


@pytest.mark.parametrize(
    ("language", "one", "all_"),
    [
        ("en", "of head {head} alone, whose weight is {value}", "mean of all 4 heads is {mean}"),
        ("zh", "第 {head} 头的计算，它的权重是 {value}", "4 个头的平均是 {mean}"),
    ],
)
def test_a_cell_of_the_mean_opens_one_head_and_says_so(
    alone, visit, recorded, language: str, one: str, all_: str
) -> None:
    sites = recorded("zh-en")["trace"]["sites"]
    site = next(s for s in sites if (s["kind"], s["layer"]) == ("cross", 0))
    weights = np.array(site["weights"])[:, 7, 12]  # it, 它
    head = int(weights.argmax())
    said = {"head": head, "value": f"{weights[head]:.3f}", "mean": f"{weights.mean():.3f}"}
    assert said["value"] != said["mean"]
    page = visit(f"{alone}#/look?row=7&column=12&lang={language}")
    told = page.locator(".focus .told")
    expect(told).to_contain_text(said["mean"])
    expect(told).to_contain_text(said["value"])  # what a click opens
    page.focus(".focus svg.picture")
    page.keyboard.press("Enter")
    notice = page.locator(".head-weights")
    expect(notice).to_contain_text(one.format(**said))
    expect(notice).to_contain_text(all_.format(**said))
    expect(notice.locator("button .number")).to_have_text([f"{value:.3f}" for value in weights])
    other = int(weights.argmin())
    notice.locator("button").nth(other).click()
    expect(notice.locator("[aria-pressed=true]")).to_contain_text(f"{weights[other]:.3f}")
    expect_address(page, f"head={other}&row=7&column=12")
    expect(page.locator(".chooser .told")).to_contain_text(f"{weights[other]:.3f}")


@pytest.mark.parametrize(
    ("language", "first", "rows"),
    [
        ("en", "has read “The” and is about to predict “animal”", "read → predicted"),
        ("zh", "刚读入“The”，将要预测“animal”", "读入 → 预测"),
    ],
)
@pytest.mark.parametrize("named", ["", "&rows=predicting"])
def test_a_query_is_named_by_the_word_that_was_read(
    alone, visit, language: str, first: str, rows: str, named: str
) -> None:
    page = visit(f"{alone}#/arithmetic?row=1&column=2&lang={language}{named}")
    expect(page.locator(CARDS).first).to_contain_text(first)
    expect(page.locator(CARDS).first.locator("svg text").first).to_have_text("q The")
    names = page.locator(".chooser svg.picture text[data-row]:not([data-column])")
    expect(names.nth(1)).to_have_text("The → animal")
    expect(page.locator(".chooser svg.picture")).to_contain_text(rows)


@pytest.mark.parametrize(
    ("language", "predicted", "read"),
    [("en", "word predicted", "word read"), ("zh", "预测的词", "读入的词")],
)
def test_rows_of_a_decoder_say_which_word_they_are_named_by(
    alone, visit, language: str, predicted: str, read: str
) -> None:
    for site, said, words in (("cross", predicted, ["The"]), ("decoder", read, ["<s>"])):
        page = visit(f"{alone}#/look?site={site}&lang={language}&row=0&column=0")
        picture = page.locator(".focus svg.picture")
        expect(picture).to_contain_text(said)
        expect(page.locator(".focus .segments [aria-pressed=true]").last).to_have_text(said)
        names = picture.locator("text[data-row]:not([data-column])")
        expect(names.first).to_have_text(words)
        expect(page.locator(".focus .told")).to_contain_text(f"“{words[0]}”")
