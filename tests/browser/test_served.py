"""The page with a real service behind it: what it draws is what the API says."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
import torch
from playwright.sync_api import Route, expect

from regard.attention import layer_normalise
from regard.config import Recipe, TransformerSection
from regard.folder import save
from regard.lessons.explanation import LECTURE_TABLE
from regard.lessons.explanation.blocks import mask_numbers, score_numbers
from regard.systems import build
from regard.text import Words
from tests.browser.seeing import cells, eventually, expect_address

TEXT = "ein Hund sieht eine Katze im Haus ."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model with random weights."""
    words = Words(TEXT.split())
    section = TransformerSection(
        d_model=12, n_heads=3, d_feedforward=20, n_layers=2, n_decoder_layers=3, dropout=0.0
    )
    torch.manual_seed(3)
    model = build(section, len(words), len(words))
    with torch.no_grad():  # far from uniform, so that outputs differ
        for parameter in model.parameters():
            parameter.mul_(1.5)
    place = tmp_path_factory.mktemp("models") / "de-en"
    save(place, model, Recipe(model=section), words, words)
    return place


@pytest.fixture(scope="module")
def served(folder: Path, serving) -> Iterator[str]:
    """The page in front of it."""
    with serving(str(folder)) as address:
        yield address


@pytest.fixture(scope="module")
def served_two(folder: Path, serving) -> Iterator[str]:
    """It is served twice, by two names."""
    with serving(str(folder), f"again={folder}") as address:
        yield address


def asked(address: str, path: str, **body: object) -> dict:
    answer = httpx.post(f"{address}api/v1/{path}", json={"source": TEXT, **body}, timeout=30)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_what_is_typed_is_translated_and_looked_at(served, visit) -> None:
    page = visit(served)
    box = page.get_by_role("textbox", name="Source")
    box.fill(TEXT)
    box.press("Enter")
    trace = asked(served, "trace")
    expect(page.locator(".sentences .numbers")).to_contain_text("by de-en")
    total = sum(step["log_probability"] for step in trace["steps"])
    expect(page.locator(".sentences .numbers")).to_contain_text(f"{total:.2f}".replace("-", "−"))
    site = next(
        s for s in trace["sites"] if (s["kind"], s["layer"]) == ("cross", trace["aligning"])
    )
    mean = np.array(site["weights"]).mean(0)
    page.focus(".focus svg.picture")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".focus .told")).to_contain_text(f"{mean[1, 0]:.3f}")
    expect(page.locator(".beam li")).to_have_count(5)
    with page.expect_download() as download:
        page.locator(".focus .save").get_by_role("button", name="HTML").click()
    assert "<title>" in Path(download.value.path()).read_text("utf-8")
    other = page.locator(".beam li:not(.chosen) button").last
    text = other.inner_text()
    other.click()
    forced = sum(step["log_probability"] for step in asked(served, "trace", target=text)["steps"])
    expect(page.locator(".sentences .numbers")).to_contain_text(f"{forced:.2f}".replace("-", "−"))
    expect(page.locator(".beam li.chosen")).to_contain_text(text)


def test_a_saved_page_opens_at_what_is_seen(served, visit, tmp_path: Path) -> None:
    chosen = "site=encoder&layer=1&head=2&form=matrix&words=0&special=0&theme=dark"
    page = visit(f"{served}#/look?text={TEXT.replace(' ', '+')}&{chosen}", is_refused=True)
    with page.expect_download() as download:
        page.locator(".focus .save").get_by_role("button", name="HTML").click()
    assert download.value.suggested_filename == "encoder-1-2.html"
    file = tmp_path / "saved.html"
    download.value.save_as(file)
    saved = visit(file.as_uri())
    expect(saved.locator("html")).to_have_attribute("data-theme", "dark")
    expect(saved.locator(".focus h2")).to_have_text(page.locator(".focus h2").inner_text())
    eventually(saved, lambda: cells(saved, ".focus"), cells(page, ".focus"))
    expect(saved.locator("nav a")).to_have_text(["Translate and look", "Arithmetic"])
    expect(saved.locator(".beam li")).to_have_count(5)
    # The arithmetic is that of the service.
    cell = {"site": "encoder", "layer": 1, "head": 2, "row": 0, "column": 1}
    told = asked(served, "arithmetic", **cell)
    there = visit(f"{file.as_uri()}#/arithmetic?site=encoder&layer=1&head=2&row=0&column=1")
    expect(there.locator(".cards")).to_contain_text(f"{told['score']:.2f}".replace("-", "−"))
    with page.expect_download() as other:
        body = {"source": TEXT, "format": "html", "view": {"form": "lines", "site": "cross"}}
        page.evaluate(
            """async (body) => {
                const wish = {method: "POST", body: JSON.stringify(body),
                    headers: {"Content-Type": "application/json"}};
                const answer = await fetch("api/v1/export", wish);
                const link = document.createElement("a");
                link.href = URL.createObjectURL(await answer.blob());
                link.download = "export.html";
                link.click();
            }""",
            body,
        )
    exported = tmp_path / "exported.html"
    other.value.save_as(exported)
    opened = visit(exported.as_uri())
    expect(opened.locator(".focus .segments [aria-pressed=true]").first).to_have_text("Lines")
    expect(opened.locator("nav a")).to_have_text(["Translate and look", "Arithmetic"])


def test_what_is_too_long_to_be_looked_into_is_translated(served, visit) -> None:
    text = " ".join(["Hund"] * 129)
    page = visit(f"{served}#/look?text={text.replace(' ', '+')}", is_refused=True)
    expect(page.get_by_role("alert")).to_contain_text("the source has 129 tokens, and 128 are")
    body = {"text": text, "n_best": 5}
    told = httpx.post(f"{served}api/v1/translate", json=body, timeout=60).json()
    best = told["translations"][0]["hypotheses"][0]["text"]
    expect(page.locator(".written p")).to_have_text(best)
    page.get_by_role("textbox", name="Source").fill("ein Hund")
    page.get_by_role("button", name="Translate").click()
    expect(page.locator(".sentences .word").first).to_have_text("ein")
    expect(page.locator(".written")).to_have_count(0)


def test_nothing_cannot_be_translated(served, visit) -> None:
    page = visit(f"{served}#/look?text=Hund")
    expect(page.locator(".sentences .word").first).to_have_text("Hund")
    page.get_by_role("textbox", name="Source").fill("  ")
    expect(page.get_by_role("button", name="Translate")).to_be_disabled()
    page.get_by_role("textbox", name="Source").fill("Katze")
    expect(page.get_by_role("button", name="Translate")).to_be_enabled()


def test_what_is_typed_while_a_sentence_is_translated_stays(served, visit) -> None:
    page = visit(served)
    held: list[Route] = []
    page.route("**/api/v1/trace", lambda route: held.append(route))
    box = page.get_by_role("textbox", name="Source")
    box.fill("ein Hund sieht")
    box.press("Enter")
    while not held:
        page.wait_for_timeout(10)
    box.fill("eine Katze")
    held[0].continue_()
    expect(page.locator(".sentences .word").first).to_have_text("ein")
    expect(box).to_have_value("eine Katze")


def test_the_box_is_there_while_the_first_sentence_is_looked_at(served, visit) -> None:
    page = visit(f"{served}#/blocks")
    held: list[Route] = []
    page.route("**/api/v1/trace", lambda route: held.append(route))
    page.evaluate("location.hash = '#/look?text=ein+Hund'")
    box = page.get_by_role("textbox", name="Source")
    expect(box).to_have_value("ein Hund")
    box.fill("eine Katze")
    while not held:
        page.wait_for_timeout(10)
    held[0].continue_()
    expect(page.locator(".sentences .word").first).to_have_text("ein")
    expect(box).to_have_value("eine Katze")


def test_a_cell_has_the_numbers_of_the_api(served, visit) -> None:
    cell = {"layer": 1, "head": 2, "row": 2, "column": 3}
    query = "&".join(f"{name}={value}" for name, value in cell.items())
    page = visit(f"{served}#/arithmetic?text={TEXT.replace(' ', '+')}&{query}")
    told = asked(served, "arithmetic", site="cross", **cell)
    cards = page.locator(".cards > .card")
    expect(cards.nth(2)).to_contain_text(f"{told['sum']:.2f}".replace("-", "−"))
    said = cards.nth(4).locator("svg text").all_text_contents()
    weights = [float(text.rpartition("→ ")[2]) for text in said if "→" in text]
    np.testing.assert_allclose(weights, told["weights"], atol=0.0006)


def test_heads_are_switched_off_together(served, visit, tmp_path: Path) -> None:
    page = visit(f"{served}#/switchboard?text={TEXT.replace(' ', '+')}")
    for head in (0, 2):
        page.get_by_role("switch", name=f"Attention to the source, layer 2, head {head}").click()
    told = asked(served, "ablate", heads=["cross.2.0", "cross.2.2"])
    expect(page.locator(".change")).to_contain_text(f"{abs(told['change']):.3f}")
    expect(page.locator(".outputs")).to_contain_text(told["after"])
    expect_address(page, "off=cross.2.0%2Ccross.2.2")
    with page.expect_download() as download:
        page.locator(".outcome .save").get_by_role("button", name="HTML").click()
    file = tmp_path / "saved.html"
    download.value.save_as(file)
    saved = visit(file.as_uri())
    expect(saved.locator(".switch[aria-checked=false]")).to_have_count(2)
    expect(saved.locator(".outputs")).to_contain_text(told["after"])


def weights(trace: dict, kind: str, layer: int) -> np.ndarray:
    """Heads, rows, columns."""
    sites = trace["sites"]
    found = next(s["weights"] for s in sites if (s["kind"], s["layer"]) == (kind, layer))
    return np.array(found, float)


def test_after_an_ablation_the_difference_is_after_minus_before(served, visit) -> None:
    off = ["encoder.0.1", "encoder.0.2"]
    before, after = (asked(served, "trace", **more) for more in ({}, {"heads": off}))
    address = f"text={TEXT.replace(' ', '+')}&off={','.join(off)}&words=0"
    page = visit(f"{served}#/switchboard?{address}&site=encoder")
    card = page.locator(".moved")
    # layer 0 of the encoder and of the decoder look at nothing that these heads brought back
    expect(
        card.get_by_role("button", name=re.compile("^(Encoder|Decoder|To the source)$"))
    ).to_have_text(["Encoder", "Decoder", "To the source"])
    expect(card.locator("h3").first).to_contain_text("Encoder self-attention, layer 1, mean of 3")
    change = weights(after, "encoder", 1) - weights(before, "encoder", 1)
    assert abs(change).max() > 0.001
    floor = 0.01  # a scale of next to nothing would show noise
    bars = card.locator(".scale .bar")
    ends = bars.evaluate_all("all => all.map(one => [+one.dataset.low, +one.dataset.high])")
    mean = change.mean(0)
    most = max(floor, abs(mean).max())
    assert ends[0] == pytest.approx(
        [-max(floor, abs(change).max()), max(floor, abs(change).max())], abs=1e-6
    )
    assert ends[3] == pytest.approx([-most, most], abs=1e-6)
    assert ends[1] == ends[2]  # before and after share a scale
    page.locator(".three svg.picture").last.focus()
    told = card.locator(".told").last
    page.keyboard.press("ArrowDown")
    for i in range(len(mean)):
        for j in range(len(mean[0])):
            values = [weights(seen, "encoder", 1).mean(0)[i, j] for seen in (before, after)]
            said = re.compile(rf": {values[0]:.3f} before, {values[1]:.3f} after, ")
            expect(told).to_have_text(said)
            shown = float((told.text_content() or "").rsplit(" ", 1)[-1].replace("−", "-"))
            assert shown == pytest.approx(mean[i, j], abs=0.0006)
            page.keyboard.press("ArrowRight")
        for _ in mean[0]:
            page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowDown")


def test_heads_of_the_last_layer_move_no_attention(served, visit) -> None:
    page = visit(f"{served}#/switchboard?text={TEXT.replace(' ', '+')}&off=cross.2.0")
    expect(page.locator(".moved")).to_contain_text("No attention changed")


def test_a_head_that_the_model_lacks_is_not_asked_for(served, visit) -> None:
    heads = "decoder.9.0,cross.2.0,encoder.0.3"
    page = visit(f"{served}#/switchboard?text={TEXT.replace(' ', '+')}&off={heads}")
    told = asked(served, "ablate", heads=["cross.2.0"])
    expect(page.locator(".change")).to_contain_text(f"{abs(told['change']):.3f}")
    expect(page.get_by_role("alert")).to_contain_text(
        "Encoder self-attention, layer 0, head 3; Decoder self-attention, layer 9, head 0."
    )


@pytest.mark.parametrize(
    ("language", "look", "translate", "source"),
    [("en", "Translate and look", "Translate", "Source"), ("zh", "翻译与观察", "翻译", "原文")],
)
def test_the_switchboard_says_where_a_sentence_is_typed(
    served, visit, language: str, look: str, translate: str, source: str
) -> None:
    page = visit(f"{served}#/switchboard?lang={language}&example=zh-en")
    expect(page.locator(".notice")).not_to_contain_text("regard serve")
    page.locator(".notice").get_by_role("link", name=look).click()
    page.get_by_role("textbox", name=source).fill(TEXT)
    page.get_by_role("button", name=translate, exact=True).click()
    expect(page.locator(".sentences .numbers")).to_contain_text("de-en")
    page.locator("nav a", has_text={"en": "Switchboard", "zh": "开关台"}[language]).click()
    expect(page.locator(".board h2")).to_have_text(TEXT)
    expect(page.locator(".notice")).to_have_count(0)


def test_a_refusal_is_shown_as_the_service_says_it(served, visit) -> None:
    page = visit(f"{served}#/look?text=Hund&model=de-en", is_refused=True)
    expect(page.locator(".sentences .numbers")).to_contain_text("by de-en")
    box = page.get_by_role("textbox", name="Source")
    box.fill("Hund " * 5_000)
    page.get_by_role("button", name="Translate").click()
    expect(page.get_by_role("alert")).to_contain_text("characters are too many")


@pytest.mark.parametrize(
    ("language", "translate", "said"),
    [("en", "Translate", "characters are too many"), ("zh", "翻译", "文字太长")],
)
def test_a_refusal_stands_alone_and_stays_behind(
    served, visit, language: str, translate: str, said: str
) -> None:
    page = visit(f"{served}#/look?text=Hund&lang={language}", is_refused=True)
    expect(page.locator(".sentences .numbers")).to_contain_text("de-en")
    page.get_by_role("textbox").fill("Hund " * 5_000)
    page.get_by_role("button", name=translate, exact=True).click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text(said)
    for part in (".sentences", ".grid", ".beam", ".save"):
        expect(page.locator(part)).to_have_count(0)
    for view in ("blocks", "training", "generate", "compare"):
        page.evaluate("hash => { location.hash = hash }", f"#/{view}?lang={language}")
        expect(page.locator("main .card").first).to_be_visible()
        expect(alert).to_have_count(0)
    page.evaluate("hash => { location.hash = hash }", f"#/look?text=Hund&lang={language}")
    expect(page.locator(".sentences .word").first).to_have_text("Hund")
    expect(alert).to_have_count(0)


@pytest.mark.parametrize(
    ("language", "translate", "said"),
    [
        ("en", "Translate", "The service does not answer: see whether regard serve is still"),
        ("zh", "翻译", "服务没有回应：请确认 regard serve 仍在运行，然后再试。"),
    ],
)
def test_a_service_that_is_gone_is_told_in_the_page_s_language(
    served, visit, language: str, translate: str, said: str
) -> None:
    page = visit(f"{served}#/look?text=Hund&lang={language}", is_refused=True)
    expect(page.locator(".sentences .numbers")).to_contain_text("de-en")
    page.route("**/api/v1/**", lambda route: route.abort("connectionrefused"))
    page.get_by_role("textbox").fill("Katze")
    page.get_by_role("button", name=translate, exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text(said)
    page.unroute("**/api/v1/**")
    page.get_by_role("button", name=translate, exact=True).click()
    expect(page.locator(".sentences .word").first).to_have_text("Katze")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_an_unknown_model_is_refused_and_another_can_be_asked(served_two, visit) -> None:
    page = visit(f"{served_two}#/look?model=nosuch&text=ein+Hund", is_refused=True)
    expect(page.get_by_role("alert")).to_contain_text("no model 'nosuch'")
    expect(page.locator(".loading")).to_have_count(0)
    expect(page.get_by_role("textbox", name="Source")).to_have_value("ein Hund")
    expect(page.get_by_label("Model")).to_have_value("de-en")
    page.get_by_role("button", name="Translate").click()
    expect(page.locator(".sentences .numbers")).to_contain_text("by de-en")
    expect(page.get_by_role("alert")).to_have_count(0)
    page = visit(f"{served_two}#/look?model=nosuch&text=ein+Hund", is_refused=True)
    page.get_by_label("Model").select_option("again")
    expect(page.locator(".sentences .numbers")).to_contain_text("by again")
    page = visit(f"{served_two}#/look?model=nosuch&text=ein+Hund&lang=zh", is_refused=True)
    page.get_by_role("button", name="汉语 → 英语").click()
    expect(page.locator(".sentences .numbers")).to_contain_text("录制的例子")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_blocks_are_computed_by_the_service(served, visit) -> None:
    page = visit(f"{served}#/blocks?block=norms")
    table = torch.tensor(LECTURE_TABLE, dtype=torch.float64)
    table[0, 0] = 9
    page.get_by_label("feature 0, example 0").fill("9")
    expected = layer_normalise(table.T).T.flatten().tolist()
    cells = page.locator("figure", has_text="Layer norm").first.locator(
        "text[data-row][data-column]"
    )
    expect(cells.first).to_have_text(f"{expected[0]:.2f}")
    shown = [float(text.replace("−", "-")) for text in cells.all_text_contents()]
    np.testing.assert_allclose(shown, expected, atol=0.005)
    page.get_by_role("button", name="Positions").click()
    page.get_by_label("width d").fill("128")
    expect(page.locator("svg.picture text", has_text=re.compile("^127$"))).to_have_count(1)
    page.get_by_role("button", name="Eight scores").click()
    for name, value in (("q₁", "-1.3"), ("q₃", "1.9")):
        page.get_by_label(name).fill(value)
    weights = score_numbers(1, [-1.3, 0.3, 1.9, 0.6]).weights
    for row in (0, 7):
        told = page.locator(f"svg text[data-row='{row}'][data-column]")
        expect(told).to_have_text([f"{one:.2f}" for one in weights[row]])
    page.get_by_role("button", name="Masks").click()
    for name in ("padding", "window"):
        page.get_by_label(re.compile(f"^{name}")).check()
    seen = mask_numbers(["causal", "padding", "window"], 1).mask
    expect(page.locator("svg.picture").first.locator("text[data-row][data-column]")).to_have_text(
        [str(int(one)) for row in seen for one in row]
    )
