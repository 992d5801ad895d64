"""Compare: two recorded sentences, two files, two sentences and two models of a service."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import httpx
import numpy as np
import pytest
import torch
from playwright.sync_api import Route, expect

from regard.config import Recipe, TrainingSection, TransformerSection
from regard.config.alone import GptSection
from regard.folder import save
from regard.systems import build
from regard.text import Words
from tests.browser.seeing import cells, eventually, expect_address, percents

BOTH = ".both .half"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two small models with random weights."""
    words = Words(["ein", "eine", "Hund", "Katze", "sieht", "."])
    section = TransformerSection(d_model=12, n_heads=3, d_feedforward=20, n_layers=2, dropout=0.0)
    places = []
    for seed in range(2):
        torch.manual_seed(seed)
        model = build(section, len(words), len(words))
        places.append(tmp_path_factory.mktemp("models") / "model")
        save(places[-1], model, Recipe(model=section), words, words)
    return places


@pytest.fixture(scope="module")
def served_two(folders: list[Path], serving) -> Iterator[str]:
    """Both, named unlike their folders."""
    with serving(f"de-en={folders[0]}", f"other={folders[1]}") as address:
        yield address


@pytest.fixture(scope="module")
def served_unlike(tmp_path_factory: pytest.TempPathFactory, serving) -> Iterator[str]:
    """A translator and a GPT."""
    words = Words(["ein", "eine", "Hund", "Katze", "sieht", "."])
    sizes = {"d_model": 12, "n_heads": 3, "d_feedforward": 20, "n_layers": 2, "dropout": 0.0}
    gpt = GptSection(**{**sizes, "n_heads": 2}, context=32)
    places = []
    for name, section, training in (
        ("de-en", TransformerSection(**sizes), TrainingSection()),
        ("story", gpt, TrainingSection(task="language")),
    ):
        torch.manual_seed(1)
        model = build(section, len(words), len(words))
        place = tmp_path_factory.mktemp("models") / "model"
        save(place, model, Recipe(model=section, training=training), words, words)
        places.append(f"{name}={place}")
    with serving(*places) as address:
        yield address


def mean(trace: dict, kind: str, layer: int) -> np.ndarray:
    sites = trace["sites"]
    one = next(s["weights"] for s in sites if (s["kind"], s["layer"]) == (kind, layer))
    return np.array(one, float).mean(0)


def log_probability(trace: dict) -> str:
    return f"{sum(step['log_probability'] for step in trace['steps']):.2f}".replace("-", "−")


def test_recorded_sentences_are_drawn_side_by_side_with_their_difference(
    alone, visit, recorded
) -> None:
    left, right = (recorded(name)["trace"] for name in ("zh-en", "zh-en-wide"))
    page = visit(f"{alone}#/compare?pair=zh-wide&site=encoder&layer=1&words=0")
    expect(page.locator(f"{BOTH} svg.picture")).to_have_count(2)
    weights = [mean(trace, "encoder", 1) for trace in (left, right)]
    for place, one in enumerate(weights):
        side = f"{BOTH}:nth-child({place + 1})"
        eventually(page, partial(cells, page, side), percents(one))
    said = {
        place: int(text.replace("−", "-")) / 100 for place, text in cells(page, ".unlike").items()
    }
    difference = weights[1] - weights[0]
    assert set(said) == {(i, j) for i, j in np.argwhere(abs(difference) >= 0.01).tolist()}
    for place, value in said.items():
        assert abs(value - difference[place]) <= 0.0051
    expect(page.locator(".word.differs")).to_have_text(["累", "tired", "宽", "wide"])
    expect(page.locator(".tokens .change")).to_contain_text(
        f"{log_probability(left)} on the left, {log_probability(right)} on the right"
    )


@pytest.mark.parametrize(
    ("address", "right"),
    [
        ("", ["qu'il était trop fatigué."] * 2),
        ("?pair=fr-wide", ["qu'il était trop fatigué.", "qu'elle était trop large."]),
    ],
)
def test_a_newcomer_sees_right_translations(alone, visit, address: str, right: list[str]) -> None:
    page = visit(f"{alone}#/compare{address}")
    expect(page.locator(".pair .sentences")).to_have_count(2)
    for place, end in enumerate(right):
        output = page.locator(".pair .sentences").nth(place).locator(".sentence").nth(1)
        words = output.locator(".word:not(.special)")
        said = f"Le cheval n'a pas traversé la rue parce {end}".replace(" ", "")
        eventually(page, lambda words=words: "".join(words.all_text_contents()), said)


def test_a_word_and_a_cell_stand_out_on_both_sides(alone, visit, recorded) -> None:
    page = visit(f"{alone}#/compare?pair=zh-wide&words=0")
    page.hover(".pair .sentences:nth-child(1) .word:has-text('tired')")
    expect(page.locator(".word.pointed")).to_have_text(["tired", "wide"])
    page.focus(f"{BOTH}:nth-child(2) svg.picture")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    weights = [mean(recorded(name)["trace"], "cross", 0)[1, 1] for name in ("zh-en", "zh-en-wide")]
    for place, weight in enumerate(weights):
        expect(page.locator(f"{BOTH}:nth-child({place + 1}) .told")).to_have_text(
            f"Predicting “animal”, it looks at 只: {weight:.3f}"
        )
    expect_address(page, "row=1&column=1")
    again = visit(page.url)
    expect(again.locator(".unlike .told")).to_contain_text(f"{weights[0]:.3f} on the left")


def test_models_of_other_shapes_are_compared(alone, visit, recorded) -> None:
    page = visit(f"{alone}#/compare?form=lines")
    heads = np.array(recorded("en-fr-bahdanau")["trace"]["sites"][0]["weights"])
    right = page.locator(f"{BOTH}:nth-child(2)")
    expect(right.locator("svg.picture")).to_have_count(1)
    page.get_by_role("button", name="Encoder", exact=True).click()
    expect(right).to_contain_text("This model never looks in this way.")
    page.get_by_role("button", name="To the source").click()
    page.get_by_label("Merge tokens into words").uncheck()
    expect(right.locator("svg path")).to_have_count(int((heads >= 0.02).sum()))


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", ["mean of 4 heads", "its only head"]), ("zh", ["4 个头的平均", "唯一的头"])],
)
@pytest.mark.parametrize("form", ["matrix", "lines"])
def test_one_head_is_no_mean(alone, visit, form: str, language: str, said: list[str]) -> None:
    page = visit(f"{alone}#/compare?form={form}&lang={language}")
    many = {"en": "all 4 heads, a colour each", "zh": "4 个头，各用一种颜色"}[language]
    expected = [many, said[1]] if form == "lines" else said
    for place, heads in enumerate(expected):
        expect(page.locator(f"{BOTH}:nth-child({place + 1})")).to_contain_text(heads)


def test_two_files_that_are_dropped_are_compared_and_saved(
    alone, visit, recorded, tmp_path: Path
) -> None:
    page = visit(alone)
    texts = [json.dumps(recorded(name)["trace"]) for name in ("en-fr", "en-fr-wide")]
    dropped = page.evaluate_handle(
        "texts => { const all = new DataTransfer(); texts.forEach((text, i) =>"
        " all.items.add(new File([text], `${'ab'[i]}.json`))); return all; }",
        texts,
    )
    page.dispatch_event(".page", "drop", {"dataTransfer": dropped})
    expect(page.locator("nav [aria-current]")).to_have_text("Compare")
    expect(page.locator(f"{BOTH} h2")).to_have_text(["a.json", "b.json"])
    saved = {}
    for kind in ("SVG", "PNG", "HTML"):
        with page.expect_download() as download:
            page.locator(".both .save").get_by_role("button", name=kind).click()
        saved[kind] = Path(download.value.path()).read_bytes()
    picture = ElementTree.fromstring(saved["SVG"].decode())
    words = [one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"a.json", "b.json", "Right minus left", "tired / wide"} <= set(words)
    assert saved["PNG"].startswith(b"\x89PNG")
    file = tmp_path / "saved.html"
    file.write_bytes(saved["HTML"])
    again = visit(file.as_uri())
    expect(again.locator(f"{BOTH} h2")).to_have_text(["a.json", "b.json"])
    expect(again.locator("nav [aria-current]")).to_have_text("Compare")
    assert cells(again, ".unlike") == cells(page, ".unlike")


def test_a_file_lies_on_the_side_where_it_is_opened(alone, visit, trace_file, tmp_path) -> None:
    page = visit(f"{alone}#/compare", locale="zh-CN")
    page.set_input_files(".opening input >> nth=1", trace_file)
    expect(page.locator(f"{BOTH} h2")).to_have_text(["en-fr", "en-fr.trace"])
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}")
    page.set_input_files(".opening input >> nth=0", wrong)
    expect(page.get_by_role("alert")).to_contain_text("wrong.json 不是记录文件")


def test_two_sentences_and_two_models_of_a_service(served_two, visit) -> None:
    def asked(**body: object) -> dict:
        return httpx.post(f"{served_two}api/v1/trace", json=body, timeout=30).json()

    page = visit(f"{served_two}#/compare")
    page.get_by_label("Source 1").fill("ein Hund sieht")
    page.get_by_label("Source 2").fill("eine Katze sieht")
    page.get_by_role("button", name="Compare").click()
    numbers = page.locator(".pair .sentences .numbers")
    for place, text in enumerate(("ein Hund sieht", "eine Katze sieht")):
        told = asked(source=text)
        expect(numbers.nth(place)).to_contain_text(log_probability(told))
    page.get_by_label("Model 2").select_option("other")
    page.get_by_label("The same sentence on both sides").check()
    page.get_by_role("button", name="Compare").click()
    told = asked(source="ein Hund sieht", model="other")
    expect(numbers.nth(1)).to_contain_text(log_probability(told))
    expect(page.locator(f"{BOTH} h2")).to_have_text(["de-en", "other"])
    expect(page.locator(".pair .sentences > header h2")).to_have_text(["de-en", "other"])
    again = visit(page.url)
    expect(again.locator(".pair .sentences .numbers").nth(1)).to_contain_text(log_probability(told))
    expect_address(page, "model2=other")


def test_an_example_that_arrives_late_leaves_the_box_where_one_types(
    folders, serving, visit
) -> None:
    with serving(f"en-de={folders[0]}") as address:
        page = visit(f"{address}#/blocks")
        held: list[Route] = []
        page.route("**/canned.*.json", lambda route: held.append(route))
        page.evaluate("location.hash = '#/compare?pair=fr-wide'")
        page.get_by_label("Source 1").focus()
        while len(held) < 2:
            page.wait_for_timeout(10)
        for one in held:
            one.continue_()
        expect(page.get_by_label("Source 2")).not_to_have_value("")
        page.keyboard.type("ein Hund")
        expect(page.get_by_label("Source 1")).to_have_value("ein Hund")


def test_examples_go_with_the_models_that_are_asked(folders, serving, visit, recorded) -> None:
    with serving(f"zh-en={folders[0]}", f"en-de={folders[1]}") as address:
        page = visit(f"{address}#/compare")
        boxes = [page.get_by_label(f"Source {place}") for place in (1, 2)]
        for box, name in zip(boxes, ("zh-en", "zh-en-wide"), strict=True):
            expect(box).to_have_value(recorded(name)["trace"]["source"]["text"])
        expect(page.locator(".pair .sentences > header h2")).to_have_text(["zh-en"] * 2)
        expect(page.locator(".pair .sentences").first).not_to_contain_text("recorded")
        page.get_by_label("Model 2").select_option("en-de")
        expect(boxes[1]).to_have_value("")
        expect(boxes[1]).to_have_attribute("placeholder", "A sentence in English")
        page = visit(f"{address}#/look")
        box = page.get_by_role("textbox", name="Source")
        expect(box).to_have_value(recorded("zh-en")["trace"]["source"]["text"])
        page.get_by_label("Model", exact=True).select_option("en-de")
        expect(box).to_have_value(recorded("en-fr")["trace"]["source"]["text"])
        page.get_by_role("button", name="Chinese → English").click()
        expect(page.locator(".sentences")).to_contain_text("tired")
        page.get_by_label("Model", exact=True).select_option("en-de")
        expect(box).to_have_value(recorded("en-fr")["trace"]["source"]["text"])
        expect(page.locator(".sentences .numbers")).to_contain_text("by en-de")


@pytest.mark.parametrize(
    ("language", "source", "wanted"),
    [("en", "Source", "A sentence in German"), ("zh", "原文", "请输入德语句子")],
)
def test_no_example_is_better_than_one_of_another_language(
    served_two, visit, language: str, source: str, wanted: str
) -> None:
    for view, names in (("compare", [f"{source} 1", f"{source} 2"]), ("look", [source])):
        page = visit(f"{served_two}#/{view}?lang={language}")
        expect(page.locator("main .loading")).to_contain_text("de-en")
        expect(page.locator(".sentences")).to_have_count(0)
        for name in names:
            box = page.get_by_role("textbox", name=name)
            expect(box).to_have_value("")
            expect(box).to_have_attribute("placeholder", wanted)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "There is no model “nosuch” here: choose one of de-en, other."),
        ("zh", "没有名为“nosuch”的模型，请从中选择：de-en，other。"),
    ],
)
@pytest.mark.parametrize("view", ["look", "compare"])
def test_an_unknown_model_is_told_in_one_sentence(
    served_two, visit, view: str, language: str, said: str
) -> None:
    page = visit(f"{served_two}#/{view}?model=nosuch&lang={language}")
    expect(page.get_by_role("alert")).to_have_text([said])
    alert, asking = (page.locator(place).bounding_box() for place in (".trouble", ".asking"))
    assert alert["y"] < asking["y"]  # where it is seen, on a small screen too


@pytest.mark.parametrize("language", ["en", "zh"])
def test_large_boxes_stay_within_a_narrow_page(served_two, visit, language: str) -> None:
    narrow = {"width": 400, "height": 900}
    page = visit(f"{served_two}#/compare?large=1&lang={language}", viewport=narrow)
    expect(page.locator(".question textarea")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_refusal_hides_what_was_compared_before(served_two, visit) -> None:
    page = visit(f"{served_two}#/compare?text=ein+Hund", is_refused=True)
    for refused in ("text=ein+Hund&model2=nosuch", f"text={'ein+' * 200}"):
        page.evaluate("location.hash = '#/compare?text=ein+Hund'")
        expect(page.locator(BOTH)).to_have_count(2)
        page.evaluate("hash => { location.hash = hash }", f"#/compare?{refused}")
        expect(page.get_by_role("alert")).to_have_count(1)
        expect(page.locator(BOTH)).to_have_count(0)


def test_what_failed_can_be_asked_for_again(served_two, visit) -> None:
    page = visit(f"{served_two}#/compare", is_refused=True)
    page.route("**/api/v1/trace", lambda route: route.abort("connectionrefused"))
    for place in (1, 2):
        page.get_by_label(f"Source {place}").fill("ein Hund")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("alert")).to_contain_text("The service does not answer")
    page.unroute("**/api/v1/trace")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".pair .sentences .numbers")).to_contain_text(["log P"] * 2)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_another_model_is_asked_where_one_was_unknown(served_two, visit) -> None:
    page = visit(f"{served_two}#/compare?text=ein+Hund&model2=nosuch")
    expect(page.get_by_role("alert")).to_contain_text("no model “nosuch”")
    expect(page.locator(".loading")).to_have_count(0)
    expect(page.get_by_label("Source 2")).to_have_value("ein Hund")
    page.get_by_label("Model 2").select_option("other")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(f"{BOTH} h2")).to_have_text(["de-en", "other"])
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize(("language", "said"), [("en", "over 12 steps"), ("zh", "共 12 步")])
def test_of_a_story_only_what_was_written_counts(
    served_unlike, visit, language: str, said: str
) -> None:
    asked = {"source": "ein Hund sieht eine", "model": "story", "new": 12}
    told = httpx.post(f"{served_unlike}api/v1/trace", json=asked, timeout=30).json()
    n_given = len(told["source"]["tokens"]) - 1
    written = told["steps"][n_given:]
    assert (n_given, len(written)) == (3, 12)
    page = visit(
        f"{served_unlike}#/compare?text=ein+Hund+sieht+eine&model2=story&site=cross&lang={language}"
    )
    logs = [f"{one['log_probability']:.2f}".replace("-", "−") for one in written]
    total = f"{sum(one['log_probability'] for one in written):.2f}".replace("-", "−")
    numbers = page.locator(".pair .sentences .numbers").nth(1)
    expect(numbers).to_contain_text(total)
    expect(numbers).to_contain_text(said)
    bars = page.locator(".tokens svg").nth(1).locator("text")
    expect(bars).to_have_count(2 * 12)
    eventually(page, lambda: bars.all_text_contents()[1::2], logs)
    output = page.locator(".pair .sentences").nth(1).locator(".sentence").nth(1)
    tokens = [one["text"] for one in told["target"]["tokens"][n_given:]]
    expect(output.locator(".word")).to_have_text(tokens)
    right = page.locator(f"{BOTH}:nth-child(2)")
    unlike = {"en": "This model never looks in this way.", "zh": "这个模型没有这种注意力。"}
    expect(right.locator("p")).to_have_text([unlike[language]])
    kind = {"en": "Decoder", "zh": "解码器"}[language]
    page.get_by_role("button", name=kind, exact=True).click()
    expect(right).to_contain_text({"en": "mean of 2 heads", "zh": "2 个头的平均"}[language])
