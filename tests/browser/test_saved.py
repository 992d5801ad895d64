"""Saved pages: the viewer in one file, which shows the numbers of the trace and asks nobody."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from regard.inspection.figures import View
from regard.inspection.trace import (
    Alternative,
    Provenance,
    Sentence,
    Token,
    Trace,
    TracedPicture,
    TracedSite,
    TracedStep,
    Word,
)
from regard.inspection.viewer import ViewedTrace, frame, page
from tests.browser.seeing import cells, eventually, expect_address, percents

EVIL = ["<img src=x onerror=document.title='broken'>", "</script>", "机器", '"&lt;b>', "'quoted'"]
Saved = Callable[..., str]


@pytest.fixture
def saved(tmp_path: Path) -> Saved:
    """The address of a page that is saved."""

    def save(*traces: Trace | ViewedTrace, **wishes: object) -> str:
        file = tmp_path / "saved.html"
        file.write_text(page(*traces, **wishes), encoding="utf-8")
        return file.as_uri()

    return save


@pytest.fixture(scope="session")
def trace(trace_file: Path) -> Trace:
    return Trace.open(trace_file)


def names(words: list[str]) -> Sentence:
    """A sentence of these words, a token each, and its end."""
    text, places, at = " ".join(words), [], 0
    for word in words:
        places.append(Word(word, at, at + len(word)))
        at += len(word) + 1
    tokens = [Token(10 + i, w.text, w.start, w.end, i) for i, w in enumerate(places)]
    return Sentence(text, tuple(places), (*tokens, Token(3, "</s>", len(text), len(text), None)))


def shown(there: Page) -> list[str]:
    return there.locator("nav a").all_inner_texts()


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_the_numbers_drawn_are_those_of_the_trace(
    saved, visit, trace: Trace, kind: str, layer: int
) -> None:
    there = visit(saved(trace, view=View("matrix", kind, layer, heads=(2,), merges=False)))
    weights = trace.site(kind, layer).weights[2]
    eventually(there, lambda: cells(there, ".focus"), percents(weights))
    expect(there.locator(".focus h2")).to_contain_text(f"layer {layer}")
    assert shown(there) == ["Translate and look"]


def test_nothing_but_the_file_is_asked_for(saved, browser: Browser, trace: Trace) -> None:
    asked: list[str] = []
    context = browser.new_context()
    there = context.new_page()
    there.on("request", lambda request: asked.append(request.url))
    address = saved(trace, trace, view=View("matrix"))
    there.goto(address)
    for name in ("Translate and look", "Compare"):
        there.locator("nav a", has_text=name).click()
        expect(there.locator("main .card").first).to_be_visible()
    assert asked == [address]
    context.close()


def test_it_opens_in_the_language_of_the_reader(saved, visit, trace: Trace) -> None:
    there = visit(saved(trace), locale="zh-CN")
    assert shown(there) == ["翻译与观察"]
    expect(there.locator(".focus [aria-pressed=true]").first).to_have_text("连线")
    there.get_by_role("button", name="English").click()
    assert shown(there) == ["Translate and look"]


@pytest.mark.parametrize("form", ["matrix", "lines"])
def test_hostile_text_is_text(saved, visit, trace: Trace, form: str) -> None:
    source, target = names(EVIL), names([*EVIL, "das"])
    n, m = len(source.tokens), len(target.tokens)
    site = trace.site("cross", 1)
    weights = np.full((4, m, n), 1 / n, np.float32)
    made = replace(
        trace,
        source=source,
        target=target,
        sites=(replace(site, weights=weights),),
        steps=trace.steps[:m],
        aligning=1,
        provenance=replace(trace.provenance, model=EVIL[0]),
    )
    there = visit(saved(made, view=View(form)))
    expect(there.locator(".sentences .sentence").first).to_contain_text(EVIL[0])
    drawn = there.locator(".focus svg text").all_text_contents()
    assert set(EVIL[1:]) <= set(drawn)
    assert any(text.startswith(EVIL[0][:8]) for text in drawn)
    assert there.locator("img").count() == 0
    expect(there).to_have_title("Translate and look · Regard")


def test_words_and_heads_and_theme_are_as_they_were_seen(saved, visit, trace: Trace) -> None:
    view = View("matrix", "cross", 1, heads=(0, 3), word="rue", hides_special=True, theme="dark")
    there = visit(saved(trace, view=view))
    expect(there.locator("html")).to_have_attribute("data-theme", "dark")
    found = view.table(trace)
    mean = found.weights.mean(0)
    eventually(there, lambda: cells(there, ".focus"), percents(mean))
    expect(there.locator(".focus header")).to_contain_text("mean of heads 0, 3")
    there.get_by_label("Hide <s> and </s>").uncheck()
    expect_address(there, "heads=0%2C3")


def test_the_arithmetic_is_there_where_the_vectors_are(saved, visit, trace: Trace) -> None:
    site = trace.site("cross", 1)
    generator = np.random.default_rng(4)
    vectors = {
        f"cross.1.{name}": generator.normal(size=(4, n, 6)).astype(np.float32)
        for name, n in zip(
            ("queries", "keys", "values"), (*site.weights.shape[1:], 13), strict=True
        )
    }
    queries, keys, _ = vectors.values()
    sums = queries @ keys.transpose(0, 2, 1)
    vectors |= {
        "cross.1.sums": sums,
        "cross.1.scores": sums / np.float32(np.sqrt(6)),
        "cross.1.divisor": np.array([np.sqrt(6)], np.float32),
        "cross.1.may_see": np.ones(sums.shape[1:], np.uint8),
        "cross.1.contexts": np.zeros_like(queries),
    }
    there = visit(saved(ViewedTrace(trace, vectors)))
    assert shown(there) == ["Translate and look", "Arithmetic"]
    there.goto(f"{there.url.partition('#')[0]}#/arithmetic?layer=1&head=2&row=3&column=4")
    there.reload()
    score = vectors["cross.1.queries"][2, 3] @ vectors["cross.1.keys"][2, 4] / np.sqrt(6)
    expect(there.locator(".cards > .card").nth(3)).to_contain_text(f"{score:.2f}".replace("-", "−"))


def test_the_switchboard_is_there_where_ablations_are(saved, visit, trace: Trace) -> None:
    told = {
        "model": "model",
        "heads": ["cross.1.3", "cross.1.0"],
        "before": trace.output,
        "after": "Le chat dort .",
        "has_changed": True,
        "tokens": ["▁Le", "</s>"],
        "changes": [-1.25, 0.5],
        "change": -0.75,
    }
    there = visit(saved(ViewedTrace(trace, ablations=(told,)), start="#/switchboard"))
    assert shown(there) == ["Translate and look", "Switchboard"]
    expect(there.locator(".switch:enabled")).to_have_count(2)
    there.get_by_role("switch", name="Attention to the source, layer 1, head 0").click()
    expect(there.locator(".switch[aria-checked=false]")).to_have_count(2)
    expect(there.locator(".outputs")).to_contain_text("Le chat dort .")
    expect(there.locator(".intro .notice")).to_contain_text("the heads that can be clicked")
    expect(there.locator(".moved")).to_contain_text("regard serve MODEL")
    # with traces of the same tokens it also shows where the others look then
    sites = [replace(site, weights=site.weights[:, :, ::-1].copy()) for site in trace.sites]
    after = replace(trace, sites=tuple(sites))
    retraces = {"cross.1.3,cross.1.0": (trace, after)}
    viewed = ViewedTrace(trace, ablations=(told,), retraces=retraces)
    there = visit(saved(viewed, start="#/switchboard?off=cross.1.0,cross.1.3&layer=1&words=0"))
    mean = (after.site("cross", 1).weights - trace.site("cross", 1).weights).mean(0)
    bar = there.locator(".three .half").last.locator(".bar")
    expect(bar).to_be_visible()
    assert float(bar.get_attribute("data-high")) == pytest.approx(abs(mean).max(), abs=1e-6)


def _looked(n_rows: int, *, gazes: tuple[tuple[float, ...], ...] = ()) -> Trace:
    """A picture of 4 × 4 cells, of which row k looks at cell k alone; places, or glimpses."""
    cells = [divmod(k, 4) for k in range(n_rows)]
    texts = [str(k) for k in range(n_rows)] if gazes else [f"{i},{j}" for i, j in cells]
    said = names(texts)
    said = Sentence(said.text, said.words, said.tokens[:-1])
    best = [(Alternative(10 + k, text, -0.1),) if gazes else () for k, text in enumerate(texts)]
    return Trace(
        TracedPicture(np.full((8, 8, 3), 200, np.uint8), (4, 4), "a picture", gazes),
        said,
        (TracedSite("cross", 0, np.eye(16, dtype=np.float32)[None, :n_rows], (False,)),),
        tuple(TracedStep(-0.1, one) for one in best),
        Provenance("m", "k", "r", 1, "0", is_forced=False),
    )


def test_a_path_of_glimpses_is_stepped_through_and_played(saved, visit) -> None:
    path = ((1.0, 1.0, 2.0), (4.0, 4.0, 2.0), (7.0, 2.0, 2.0))
    there = visit(saved(_looked(3, gazes=path)))
    assert shown(there) == ["Look"]
    rows = there.locator(".focus svg.picture svg")  # what each glimpse saw
    expect(rows).to_have_count(3)
    there.click(".stepping button:first-child")
    expect(rows).to_have_count(2)
    expect(there.locator(".sureness")).to_contain_text("1")
    there.click(".stepping .main")
    expect(rows).to_have_count(3)


def test_a_place_of_a_drawn_picture_is_chosen_by_click_and_by_key(saved, visit) -> None:
    there = visit(saved(_looked(16)))
    told = there.locator(".focus .told")
    expect(told).to_contain_text("To draw 2,2 (row, column from 0) it looked most at 2,2: 100")
    assert there.locator(".sentence").count() == 1  # places are no words
    drawn = there.locator(".focus svg.pointing")
    box = drawn.bounding_box()
    drawn.click(position={"x": 0.06 * box["width"], "y": 0.2 * box["height"]})
    expect(told).to_contain_text("0,0")
    drawn.press("ArrowRight")
    expect(told).to_contain_text("0,1")


def test_what_a_language_model_wrote_is_a_story(saved, visit) -> None:
    from regard.serving.application import RECORDED

    texts = {}
    for name in ("story-en", "gaps-en"):
        made = _half_precision(RECORDED / f"canned.{name}.trace")
        there = visit(saved(made))
        assert shown(there) == ["Generate"]
        expect(there.locator(".story .word").first).to_be_visible()
        texts[name] = there.locator(".story").inner_text()
    assert "The animal didn't cross the street because" in texts["story-en"]
    assert "[MASK]" in texts["gaps-en"]


def _half_precision(file: Path) -> Trace:
    """A recorded trace, its numbers as many digits as a trace has."""
    import json

    from safetensors import safe_open
    from safetensors.numpy import save_file

    with safe_open(file, framework="numpy") as opened:
        said = json.loads(opened.metadata()["regard.trace"])
        arrays = {name: opened.get_tensor(name).astype(np.float32) for name in opened.keys()}  # noqa: SIM118
    said.pop("crc32", None)
    for name in arrays:
        arrays[name] /= arrays[name].sum(-1, keepdims=True)
    place = file.with_name("whole.trace")
    try:
        save_file(arrays, place, {"regard.trace": json.dumps(said)})
        return Trace.open(place)
    finally:
        place.unlink()


def test_a_saved_page_saves_itself(saved, visit, trace: Trace, tmp_path: Path) -> None:
    there = visit(saved(trace, replace(trace, provenance=replace(trace.provenance, model="b"))))
    there.get_by_role("button", name="Encoder", exact=True).click()
    there.get_by_role("button", name="Matrix").click()
    with there.expect_download() as download:
        there.locator(".focus .save").get_by_role("button", name="HTML").click()
    file = tmp_path / "again.html"
    download.value.save_as(file)
    again = visit(file.as_uri())
    assert shown(again) == ["Translate and look", "Compare"]
    expect(again.locator(".grid [aria-pressed=true]").first).to_have_text("Encoder")
    assert cells(again, ".focus") == cells(there, ".focus") != {}
    empty = re.compile(r'(?<=id="data">).*?(?=</script>)', re.DOTALL)
    first = Path(there.url.removeprefix("file://").partition("#")[0]).read_text("utf-8")
    program = [re.search(r"<script type=\"module\">(.*?)</script>", text, re.DOTALL)[1]
               for text in (first, file.read_text("utf-8"))]  # fmt: skip
    assert program[0] == program[1]
    assert len(empty.sub("", file.read_text("utf-8"), count=1).encode()) < 300_000


def test_a_notebook_shows_the_page_in_a_frame(visit, trace: Trace, tmp_path: Path) -> None:
    file = tmp_path / "notebook.html"
    there = frame(page(trace, trace))
    file.write_text(f"<!doctype html><main><p class=card>1</p>{there}</main>", "utf-8")
    inner = visit(file.as_uri()).frame_locator("iframe")
    expect(inner.locator(".focus h2")).to_be_visible()
    inner.get_by_role("button", name="Matrix").click()
    expect(inner.locator(".focus [aria-pressed=true]").first).to_have_text("Matrix")
    inner.locator("nav a", has_text="Compare").click()
    expect(inner.locator("nav [aria-current]")).to_have_text("Compare")


def test_a_block_is_saved_with_the_numbers_it_shows(alone, visit, tmp_path: Path) -> None:
    there = visit(f"{alone}#/blocks?block=masks")
    there.wait_for_selector(".save")
    with there.expect_download() as download:
        there.locator(".save").get_by_role("button", name="HTML").click()
    file = tmp_path / "masks.html"
    download.value.save_as(file)
    again = visit(file.as_uri())
    assert shown(again) == ["Blocks"]
    again.wait_for_selector("svg.picture")
    texts = [one.locator("svg.picture text").all_text_contents() for one in (there, again)]
    assert texts[0] == texts[1] != []


def picture(trace: Trace) -> Trace:
    """A trace of words about a picture of 3 × 5 cells: word k looks at cell k."""
    pixels = np.random.default_rng(5).integers(90, 256, (12, 20, 3), dtype=np.uint8)
    n = len(trace.target.tokens)
    weights = np.full((4, n, 15), 0.02, np.float32)
    weights[:, range(n), [k % 15 for k in range(n)]] = 0.72
    site = replace(trace.site("cross", 1), weights=weights)
    return replace(
        trace, source=TracedPicture(pixels, (3, 5), "dog.png"), sites=(site,), aligning=1
    )


def test_every_form_of_a_text_is_there(saved, visit, trace: Trace) -> None:
    there = visit(saved(trace, view=View("alignment")))
    forms = there.locator(".focus header .segments button")
    assert forms.all_inner_texts() == [
        *("Matrix", "Lines", "Alignment", "Steps", "Overview", "Positions")
    ]
    found = View("matrix", "cross", hides_special=True).table(trace)
    whole = found.mean / found.mean.sum(-1, keepdims=True)
    eventually(there, lambda: cells(there, ".focus"), percents(whole))
    forms.get_by_text("Steps").click()
    words = there.locator(".focus svg text[data-row]").all_text_contents()
    assert len(words) == len(trace.steps)
    share = round(100 * np.exp(trace.steps[0].log_probability))
    expect(there.locator(".focus svg")).to_contain_text(f"p = {share} %")
    forms.get_by_text("Overview").click()
    mean = View("overview", "cross", hides_special=False).table(trace).mean
    lines = there.locator(".focus svg path[stroke='#0072b2']")
    expect(lines).to_have_count(int((mean >= 0.06).sum()))
    forms.get_by_text("Positions").click()
    expect(there.locator(".focus svg path").first).to_be_visible()


@pytest.mark.parametrize("is_file", [False, True])
def test_a_picture_lies_under_each_word(
    saved, alone, visit, trace: Trace, tmp_path: Path, is_file: bool
) -> None:
    made = picture(trace)
    if is_file:
        there = visit(alone)
        there.set_input_files(".opening input >> nth=0", made.save(tmp_path / "dog.trace"))
    else:
        there = visit(saved(made))
    n_words = len(View("pictures", "cross").table(made).rows)
    images = there.locator(".focus svg image")
    expect(images).to_have_count(2 * n_words + 1)  # once bright, then with a veil over each
    expect(there.locator(".sentences img")).to_have_attribute("alt", "dog.png")
    for kind in ("SVG", "PNG", "HTML"):
        with there.expect_download() as download:
            there.locator(".focus .save").get_by_role("button", name=kind).click()
        download.value.save_as(tmp_path / f"saved-again.{kind.lower()}")
    assert (tmp_path / "saved-again.png").read_bytes().startswith(b"\x89PNG")
    again = visit((tmp_path / "saved-again.html").as_uri())
    expect(again.locator(".focus svg image")).to_have_count(2 * n_words + 1)
    again.get_by_role("button", name="Matrix").click()
    weights = View("matrix", "cross").table(made).mean
    eventually(again, lambda: cells(again, ".focus"), percents(weights))


def test_the_report_of_the_demo(visit, tmp_path: Path) -> None:
    from regard.lessons.report import write_page
    from tests.unit.lessons.test_report import CONTENTS, EVIL

    file = tmp_path / "report.html"
    file.write_text(write_page(CONTENTS), encoding="utf-8")
    there = visit(file.as_uri())
    assert shown(there) == ["Report"]
    expect(there.locator(".report h1")).to_have_text(f"A translator, {EVIL}")
    expect(there.locator(".facts dd").first).to_have_text("12.3")
    matrix = there.locator(".report figure").first
    assert set(matrix.locator("svg text[data-row][data-column]").all_text_contents()) == {
        *("20", "80", "30", "70")
    }
    expect(there.locator(".panels svg path")).to_have_count(2)  # of the word in focus
    assert there.locator(".report script").count() == 0
    there.get_by_role("button", name="中文").click()
    expect(there.locator(".report h1")).to_have_text(f"一个翻译模型：{EVIL}")
    expect(there.locator(".report")).to_contain_text("训练（含标签平滑，所以到不了 0）")


HEADS = {
    "title": ("What heads do", "头在做什么"),
    "lead": "",
    "facts": [],
    "footer": "",
    "sections": [
        {
            "title": "",
            "blocks": [
                {
                    "kind": "heads",
                    "groups": [["syntax", ("follows a relation", "遵循句法关系")]],
                    "heads": [
                        {"name": f"encoder.0.{head}", "group": "syntax", "said": said, "facts": []}
                        for head, said in enumerate(
                            [("looks at its governor", "看向支配词"), ("rests", "停着")]
                        )
                    ],
                }
            ],
        }
    ],
}


def test_heads_say_what_they_do(alone, visit, tmp_path: Path) -> None:
    text = page(start="#/report", report=HEADS)
    file = tmp_path / "heads.html"
    file.write_text(text, encoding="utf-8")
    there = visit(file.as_uri())
    told = there.locator(".head-map .told")
    expect(told).to_contain_text("looks at its governor")
    there.get_by_role("button", name="encoder.0.1: rests").click()
    expect(told).to_contain_text("rests")
    there.get_by_role("button", name="中文").click()
    expect(told).to_contain_text("停着")
    served = visit(alone)  # a page that is served opens a report that is dropped on it
    dropped = served.evaluate_handle(
        "text => { const all = new DataTransfer();"
        " all.items.add(new File([text], 'heads.html')); return all; }",
        text,
    )
    served.dispatch_event(".page", "drop", {"dataTransfer": dropped})
    expect(served.locator(".head-map .told")).to_contain_text("looks at its governor")
    expect(served.locator("nav [aria-current]")).to_have_text("Report")


def test_training_is_saved_with_its_curves(alone, visit, tmp_path: Path) -> None:
    there = visit(f"{alone}#/training")
    there.wait_for_selector(".moments .save")
    with there.expect_download() as download:
        there.locator(".moments .save").get_by_role("button", name="HTML").click()
    file = tmp_path / "training.html"
    download.value.save_as(file)
    again = visit(file.as_uri())
    assert shown(again) == ["Training"]
    expect(again.locator(".moments .save")).to_be_visible()
