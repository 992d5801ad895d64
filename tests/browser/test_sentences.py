"""What is asked and what is seen belong together: the sentence, its output, its pictures."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import torch
from playwright.sync_api import Page, Route, expect

from regard.config import Recipe, TransformerSection
from regard.folder import save
from regard.systems import build
from regard.text import Words
from tests.browser.seeing import eventually, expect_address

KNOWN = "the cat sees a small dog in our house ."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model with random weights that knows a few words of English."""
    words = Words(KNOWN.split())
    section = TransformerSection(
        d_model=12, n_heads=3, d_feedforward=20, n_layers=2, n_decoder_layers=1, dropout=0.0
    )
    torch.manual_seed(3)
    model = build(section, len(words), len(words))
    place = tmp_path_factory.mktemp("models") / "model"
    save(place, model, Recipe(model=section), words, words)
    return place


@pytest.fixture(scope="module")
def served(folder: Path, serving) -> Iterator[str]:
    with serving(f"en-fr={folder}") as address:
        yield address


def held(page: Page, path: str) -> list[Route]:
    """Answers of the service that wait until they are let through."""
    routes: list[Route] = []
    page.route(f"**/api/v1/{path}", lambda route: routes.append(route))
    return routes


def let(page: Page, routes: list[Route]) -> None:
    while not routes:
        page.wait_for_timeout(10)
    routes.pop().continue_()


@pytest.mark.parametrize(
    ("language", "by", "recorded_too"),
    [("en", "by en-fr", "a recorded sentence"), ("zh", "模型 en-fr", "· 录制的例子")],
)
def test_a_served_model_is_what_the_page_begins_with(
    served, visit, recorded, language: str, by: str, recorded_too: str
) -> None:
    text = recorded("en-fr")["trace"]["source"]["text"]
    page = visit(f"{served}#/look?lang={language}")
    numbers = page.locator(".sentences .numbers").last
    expect(numbers).to_contain_text(by)
    expect(page.get_by_role("textbox")).to_have_value(text)
    page.locator(".asking .choice button").last.click()
    expect(numbers).to_contain_text(recorded_too)
    page.locator("nav a").nth(5).click()
    expect(page.locator(".pair .sentences > header h2")).to_have_text(["en-fr"] * 2)
    expect(page.locator(".pair .sentences").last).not_to_contain_text(recorded_too)


def test_what_is_shown_first_is_the_models_own(served, visit, recorded) -> None:
    text = recorded("en-fr")["trace"]["source"]["text"]
    page = visit(served)
    body = {"source": text}
    told = httpx.post(f"{served}api/v1/trace", json=body, timeout=30).json()
    total = sum(step["log_probability"] for step in told["steps"])
    expect(page.locator(".sentences .numbers").last).to_contain_text(
        f"{total:.2f}".replace("-", "−")
    )


def test_back_brings_the_older_sentence_with_its_picture(served, visit) -> None:
    page = visit(served)
    box = page.get_by_role("textbox")
    first = page.locator(".sentences .word").first
    for text in ("a dog", "our house"):
        box.fill(text)
        box.press("Enter")
        expect(first).to_have_text(text.split()[0])
    routes = held(page, "trace")
    page.go_back()
    expect(box).to_have_value("a dog")
    expect(page.locator(".sentences .partial").first).to_have_text("a dog")
    expect(page.locator(".focus")).not_to_be_visible()
    let(page, routes)
    expect(page.locator(".focus")).to_be_visible()
    expect(first).to_have_text("a")
    expect(box).to_have_value("a dog")


def test_an_example_that_was_chosen_is_a_place_to_come_back_to(alone, visit) -> None:
    page = visit(alone)
    words = page.locator(".sentences")
    expect(words).to_contain_text("动")
    page.get_by_role("button", name="English → French").click()
    expect(words).to_contain_text("cheval")
    page.go_back()
    expect(words).to_contain_text("动")
    expect(words).not_to_contain_text("cheval")


def test_while_it_is_translated_the_output_stands_under_its_own_source(served, visit) -> None:
    page = visit(f"{served}#/look?text=a+dog")
    expect(page.locator(".sentences .word").first).to_have_text("a")
    routes = held(page, "trace")
    box = page.get_by_role("textbox")
    box.fill("our house")
    box.press("Enter")
    said = page.locator(".sentences .sentence p")
    expect(said.first).to_have_text("our house")
    body = {"text": "our house", "n_best": 5}
    told = httpx.post(f"{served}api/v1/translate", json=body, timeout=30).json()
    best = told["translations"][0]["hypotheses"][0]["text"]
    # what has been told so far is a beginning of the output, never of the older one
    eventually(page, lambda: best.startswith(said.last.inner_text().rstrip("…")), True)
    expect(page.locator(".sentences")).not_to_contain_text("dog")
    expect(page.locator(".focus")).not_to_be_visible()
    let(page, routes)
    expect(page.locator(".focus")).to_be_visible()
    expect(page.locator(".sentences .word").first).to_have_text("our")


COPIED = """element => {
  const range = document.createRange();
  range.selectNodeContents(element);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  return getSelection().toString();
}"""


@pytest.mark.parametrize("merges", ["", "&words=0"])
@pytest.mark.parametrize("example", ["zh-en", "en-fr"])
def test_a_sentence_is_copied_as_it_is_written(
    alone, visit, recorded, example: str, merges: str
) -> None:
    trace = recorded(example)["trace"]
    page = visit(f"{alone}#/look?example={example}{merges}")
    page.wait_for_selector(".sentences .word")
    for side, place in (("source", 0), ("target", 1)):
        text = page.locator(".sentence p").nth(place).evaluate(COPIED)
        assert text.strip() == trace[side]["text"]


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "Not in the model's vocabulary"), ("zh", "不在模型的词表中")],
)
def test_words_that_the_model_does_not_know_are_marked(
    served, visit, language: str, said: str
) -> None:
    text = "the zebra sees a quokka"
    answer = httpx.post(f"{served}api/v1/translate", json={"text": text}, timeout=30).json()
    unknown = answer["translations"][0]["unknown"]
    assert unknown == ["zebra", "quokka"]
    page = visit(f"{served}#/look?text={text.replace(' ', '+')}&lang={language}")
    expect(page.locator(".sentences .sentence").first.locator(".unknown")).to_have_text(unknown)
    told = page.locator(".unknown-words")
    expect(told).to_contain_text(said)
    expect(told).to_contain_text("zebra")
    page = visit(f"{served}#/look?text=the+cat&lang={language}")
    expect(page.locator(".sentences .word").first).to_have_text("the")
    expect(page.locator(".unknown-words")).to_have_count(0)
    expect_address(page, "text=the")
