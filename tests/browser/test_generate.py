"""Generate: recorded stories and gaps, and those of a service."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
import torch
from playwright.sync_api import Page, expect
from safetensors import safe_open

from regard.config import Recipe, TrainingSection
from regard.config.alone import BertSection, GptSection
from regard.folder import save
from regard.serving.application import RECORDED
from regard.systems import build
from regard.text import Words
from tests.browser.seeing import eventually, expect_address

TEXT = ["the", "cat", "sees", "a", "dog", "and", "mouse", "."]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, serving) -> Iterator[str]:
    """A GPT and a BERT with random weights, named unlike their folders."""
    words = Words(TEXT)
    sizes = {"d_model": 12, "n_heads": 3, "d_feedforward": 20, "n_layers": 2, "dropout": 0.0}
    places = []
    for name, section, task in (
        ("story", GptSection(**sizes, context=32), "language"),
        ("gaps", BertSection(**sizes, context=32), "masked"),
    ):
        torch.manual_seed(1)
        model = build(section, len(words), len(words))
        place = tmp_path_factory.mktemp("models") / "model"
        recipe = Recipe(model=section, training=TrainingSection(task=task))
        save(place, model, recipe, words, words)
        places.append(f"{name}={place}")
    with serving(*places) as address:
        yield address


def recorded_story(name: str) -> tuple[dict, dict[str, np.ndarray]]:
    with safe_open(RECORDED / f"canned.{name}.trace", framework="numpy") as opened:
        arrays = {key: opened.get_tensor(key).astype(float) for key in opened.keys()}  # noqa: SIM118
        return json.loads(opened.metadata()["regard.trace"]), arrays


def words_of(page: Page) -> list[str]:
    return page.locator(".story .word").all_text_contents()


def test_a_recorded_story_shows_what_a_word_looked_at(alone, visit) -> None:
    head, arrays = recorded_story("story-en")
    page = visit(f"{alone}#/generate?words=0&layer=1&head=2")
    expect(page.locator(".story .word")).to_have_count(len(head["target"]["tokens"]) + 1)
    page.locator(".story .word", has_text=re.compile("^dangerous$")).first.hover()
    at = next(i for i, one in enumerate(head["target"]["tokens"]) if one["text"] == "▁dangerous")
    row = arrays["decoder.1"][2, at]
    expect(page.locator(".looked h2")).to_contain_text("“dangerous”")
    said = page.locator(".looked svg text").all_text_contents()
    shares = [float(text) for text in said if re.fullmatch(r"\d\.\d{3}", text)]
    np.testing.assert_allclose(shares, np.sort(row)[::-1][:8], atol=6e-4)
    share = np.exp(head["steps"][at]["log_probability"])
    expect(page.locator(".telling-card .told")).to_contain_text(f"P = {round(100 * share)} %")
    best = head["steps"][at]["alternatives"][0]["text"].replace("▁", "")
    expect(page.locator(".odds svg text").first).to_have_text(best)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_odds_of_a_word_are_those_of_all_its_written_tokens(
    alone, visit, language: str
) -> None:
    head, _ = recorded_story("story-en")
    tokens = head["target"]["tokens"]
    at = next(i for i, one in enumerate(tokens) if one["text"] == "▁won")
    assert [one["text"] for one in tokens[at : at + 3]] == ["▁won", "'", "t"]
    page = visit(f"{alone}#/generate?story=story-en&row={at + 1}&lang={language}")
    total = sum(step["log_probability"] for step in head["steps"][at : at + 3])
    expect(page.locator(".story .pointed")).to_have_text("won't")
    expect(page.locator(".odds header p")).to_contain_text(f"{total:.2f}".replace("-", "−"))
    expect(page.locator(".odds svg")).to_have_count(3)
    page.locator(".story .word", has_text="street").first.hover()
    expect(page.locator(".looked h2")).to_contain_text("street")
    expect(page.locator(".odds")).to_have_count(0)


@pytest.mark.parametrize(
    ("language", "said"), [("en", "the stronger another's colour"), ("zh", "颜色越浓")]
)
def test_the_lead_is_true_on_a_dark_ground_too(alone, visit, language: str, said: str) -> None:
    page = visit(f"{alone}#/generate?theme=dark&lang={language}")
    expect(page.locator(".intro")).to_contain_text(said)


def test_a_comma_among_the_words_that_were_looked_at_can_be_read(alone, visit) -> None:
    page = visit(f"{alone}#/generate?story=story-zh&lang=zh")
    expect(page.locator(".telling-card .told")).to_contain_text(
        re.compile("、「，」0\\.[0-9]{3}、「")
    )


def test_what_is_hardly_probable_is_said_to_be_less(alone, visit) -> None:
    head, _ = recorded_story("story-en")
    n_given = len(head["source"]["tokens"]) - 1
    at = next(
        i
        for i, step in enumerate(head["steps"])
        if i >= n_given and step["log_probability"] < np.log(0.009)
    )
    page = visit(f"{alone}#/generate?story=story-en&words=0&row={at + 1}")
    expect(page.locator(".telling-card .told")).to_contain_text("· P < 1 %")


def test_arrow_keys_walk_through_the_story_and_the_address_says_where(alone, visit) -> None:
    page = visit(f"{alone}#/generate?row=6")
    expect(page.locator(".story .pointed")).to_have_text("the")
    page.focus(".story")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".story .pointed")).to_have_text("street")
    expect_address(page, "row=7")
    page.keyboard.press("Home")
    expect(page.locator(".story .pointed")).to_have_text("The")
    expect(page.locator(".telling-card .told")).to_have_text("“The” looked at –")


def test_a_recorded_text_with_gaps_in_chinese(alone, visit) -> None:
    head, arrays = recorded_story("gaps-zh")
    page = visit(f"{alone}#/generate?story=gaps-zh&words=0", locale="zh-CN")
    expect(page.locator(".story .gap")).to_have_count(2)
    bars = page.locator(".fits figure").first.locator("svg text")
    best = [one["text"].replace("▁", "") for one in head["steps"][0]["alternatives"]]
    expect(bars.filter(has_not_text="%")).to_have_text(best)
    expect(page.locator(".looked h2")).to_have_text("“[MASK]”看向哪里")
    place = max(i for i, one in enumerate(head["source"]["tokens"]) if one["text"] == "[MASK]")
    strongest = arrays["encoder.1"].mean(0)[place].max()
    expect(page.locator(".looked svg text").nth(1)).to_have_text(f"{strongest:.3f}")


def test_a_story_is_written_as_it_comes_and_then_looked_at(served, visit) -> None:
    body = {"prompt": "the cat", "max_tokens": 10, "temperature": 0.5}

    def written(seed: int) -> list[dict]:
        asked = {**body, "seed": seed}
        answer = httpx.post(f"{served}api/v1/generate", json=asked, timeout=30)
        return [one for line in answer.text.splitlines() if "id" in (one := json.loads(line))]

    # The chance of random weights may end a text at once.
    seed = next(n for n in range(1, 200) if len(written(n)) > 2 and len(written(n + 1)) > 3)
    page = visit(f"{served}#/generate?seed={seed}")
    page.get_by_label("How the story begins").fill("the cat")
    page.get_by_role("slider", name="tokens").fill("10")
    page.get_by_role("slider", name="temperature").fill("0.5")
    page.get_by_role("button", name="Write").click()
    expect(page.locator(".telling-card .numbers")).to_contain_text("by story")
    tokens = written(seed)
    text = "the cat" + "".join(one["text"] for one in tokens)
    eventually(page, lambda: page.locator(".story").inner_text().split(), text.split())
    total = sum(one["log_probability"] for one in tokens)
    expect(page.locator(".telling-card .numbers")).to_contain_text(f"{total:.2f}".replace("-", "−"))
    expect_address(page, "prompt=the+cat&temperature=0.5&most=10")
    first = words_of(page)
    page.get_by_role("button", name="Another draw").click()
    expect(page.locator(".telling-card .numbers")).not_to_contain_text(
        f"{total:.2f}".replace("-", "−")
    )
    eventually(page, lambda: words_of(page)[:2], first[:2])
    expect_address(page, f"seed={seed + 1}")
    with page.expect_download() as download:
        page.locator(".telling-card .save").get_by_role("button", name="JSON").click()
    saved = Path(download.value.path())
    again = visit(served)
    again.set_input_files("input[type=file]", saved)
    expect(again.locator("nav [aria-current]")).to_have_text("Generate")
    expect(again.locator(".story .word")).to_have_text(words_of(page))


@pytest.mark.parametrize(
    ("locale", "said"), [("en-GB", "story is ready"), ("zh-CN", "story 已就绪")]
)
def test_where_only_language_models_are_served_the_page_begins_with_them(
    served, visit, locale: str, said: str
) -> None:
    page = visit(served, locale=locale)
    expect_address(page, "#/generate")
    expect(page.locator("main .loading")).to_contain_text(said)
    expect(page.locator(".story")).to_have_count(0)


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "after 30 of 60 tokens"), ("zh", "写到第 30 个词元为止（要求 60 个）")],
)
def test_a_story_that_fills_the_context_says_so(served, visit, language: str, said: str) -> None:
    body = {"prompt": "the cat", "max_tokens": 60, "temperature": 0.8}

    def reason(seed: int) -> str:
        answer = httpx.post(f"{served}api/v1/generate", json={**body, "seed": seed}, timeout=30)
        return json.loads(answer.text.splitlines()[-1])["reason"]

    seed = next(n for n in range(1, 500) if reason(n) == "length")
    page = visit(f"{served}#/generate?prompt=the+cat&seed={seed}&lang={language}")
    expect(page.locator(".telling-card .notice")).to_contain_text(said)
    page = visit(f"{served}#/generate?prompt=the+cat&seed={seed}&most=10&lang={language}")
    expect(page.locator(".telling-card .numbers")).to_contain_text("story")
    expect(page.locator(".telling-card .notice")).to_have_count(0)


def test_unknown_words_of_a_beginning_are_marked(served, visit) -> None:
    page = visit(f"{served}#/generate?writer=gaps&prompt=the+zebra+sees+[MASK]")
    expect(page.locator(".story .unknown")).to_have_text(["zebra"])
    expect(page.locator(".unknown-words")).to_contain_text("zebra")


def test_gaps_are_filled_by_a_service(served, visit) -> None:
    text = "the [MASK] sees a [MASK] ."
    page = visit(f"{served}#/generate?writer=gaps&found=3")
    box = page.get_by_label("A text with gaps")
    box.fill(text)
    box.press("Enter")
    expect(page.locator(".fits figure")).to_have_count(2)
    expect(page.locator(".telling-card .numbers")).to_contain_text("by gaps")
    told = httpx.post(f"{served}api/v1/fill", json={"text": text, "k": 3}, timeout=30).json()
    for place, gap in enumerate(told["gaps"]):
        said = [(one["word"], f"{round(100 * one['probability'])} %") for one in gap]
        bars = page.locator(".fits figure").nth(place).locator("svg text")
        expect(bars).to_have_text([text for one in said for text in one])


def test_a_text_without_gaps_has_nothing_to_show_of_them(served, visit) -> None:
    page = visit(f"{served}#/generate?writer=gaps&prompt=the+cat+sees")
    expect(page.locator(".fits")).to_contain_text("There is no [MASK] in this text.")
    expect(page.locator(".telling-card .numbers")).to_have_text("by gaps")
    expect(page.locator(".looked")).to_have_count(0)
    page.locator(".story .word", has_text="cat").hover()
    expect(page.locator(".looked h2")).to_contain_text("“cat”")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_number_of_a_slider_stands_beside_it(served, visit, language: str) -> None:
    narrow = {"width": 400, "height": 900}
    page = visit(f"{served}#/generate?large=1&lang={language}", viewport=narrow)
    for dial in page.locator(".dials .dial").all():
        slider, number = (dial.locator(part).bounding_box() for part in ("input", "output"))
        assert slider["x"] + slider["width"] <= number["x"]
        assert number["y"] < slider["y"] + slider["height"]
        assert slider["y"] < number["y"] + number["height"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_refusal_is_shown_and_no_older_story(served, visit) -> None:
    page = visit(f"{served}#/generate?story=story-en", is_refused=True)
    expect(page.locator(".story")).to_be_visible()
    page.get_by_label("How the story begins").fill("the " * 40)
    page.get_by_role("button", name="Write").click()
    expect(page.get_by_role("alert")).to_contain_text("the prompt has 40 tokens")
    expect(page.locator(".story")).to_have_count(0)


def test_a_story_that_was_cut_off_can_be_asked_for_again(served, visit) -> None:
    page = visit(f"{served}#/generate?lang=zh&story=story-zh", is_refused=True)
    expect(page.locator(".story")).to_be_visible()
    page.route("**/api/v1/generate", lambda route: route.abort("connectionrefused"))
    write = page.get_by_role("button", name="续写")
    write.click()
    expect(page.get_by_role("alert")).to_contain_text("服务没有回应")
    page.unroute("**/api/v1/generate")
    write.click()
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.locator(".telling-card .numbers")).to_contain_text("story")


@pytest.mark.parametrize(
    ("language", "write", "said"),
    [
        ("en", "Write", "There is no model “nosuch” here: choose one of story, gaps."),
        ("zh", "续写", "没有名为“nosuch”的模型，请从中选择：story，gaps。"),
    ],
)
def test_a_writer_that_is_not_there_is_not_replaced(
    served, visit, language: str, write: str, said: str
) -> None:
    page = visit(f"{served}#/generate?writer=nosuch&prompt=the+cat&lang={language}")
    expect(page.get_by_role("alert")).to_have_text(said)
    expect(page.locator(".story")).to_have_count(0)
    with page.expect_request("**/api/v1/generate") as asked:
        page.get_by_role("button", name=write).click()
    assert asked.value.post_data_json["model"] == "story"
    expect(page.get_by_role("alert")).to_have_count(0)
