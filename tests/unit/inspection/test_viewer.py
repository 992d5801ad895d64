"""A saved page: the viewer and its data, and nothing that could be mistaken for the page itself."""

import gzip
import json
import re
from base64 import b64decode
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from safetensors.numpy import load

from regard.inspection.figures import View
from regard.inspection.trace import Trace
from regard.inspection.viewer import FOLDER, ViewedTrace, page, view_address

EVIL = ["<b>bold</b>", "</script><script>document.title='broken'</script>", "\"quoted'", "&lt;"]
DATA = '<script type="application/json" id="data">'


def data_of(html: str) -> dict:
    return json.loads(re.search(f"{DATA}(.*?)</script>", html, re.DOTALL)[1])


def file_in(text: str) -> bytes:
    return gzip.decompress(b64decode(text))


def test_the_numbers_are_those_of_the_trace(make_trace) -> None:
    made = make_trace()
    (held,) = data_of(page(made))["traces"]
    assert file_in(held["trace"]) == made.to_bytes()


def test_many_numbers_have_half_the_digits(make_trace, monkeypatch) -> None:
    monkeypatch.setattr("regard.inspection.viewer.html._MANY", 10)
    made = make_trace()
    (held,) = data_of(page(made))["traces"]
    assert file_in(held["trace"]) == made.to_bytes(is_half=True)


def test_vectors_and_ablations_go_with_it_if_they_are_small(make_trace, monkeypatch) -> None:
    vectors = {"cross.1.queries": np.ones((2, 5, 3), np.float32)}
    told = {"heads": ["cross.1.1", "cross.1.0"], "change": 0.5}
    made = make_trace()
    one = ViewedTrace(made, vectors, (told,), {"cross.1.1,cross.1.0": (made, made)})
    (held,) = data_of(page(one))["traces"]
    np.testing.assert_array_equal(
        load(file_in(held["vectors"]))["cross.1.queries"], vectors["cross.1.queries"]
    )
    assert held["ablations"] == {"cross.1.0,cross.1.1": told}
    (again,) = held["retraces"].values()
    assert held["retraces"].keys() == held["ablations"].keys()
    assert [file_in(again[name]) for name in ("before", "after")] == 2 * [made.to_bytes()]
    monkeypatch.setattr("regard.inspection.viewer.html._MOST_BYTES", 100)
    assert data_of(page(one))["traces"][0]["vectors"] is None


def test_no_word_is_markup(make_trace) -> None:
    made = make_trace(source=EVIL, target=EVIL)
    plain = page(make_trace())
    html = page(made, report={"title": EVIL[1]})
    for tag in ("<script", "</script", "<b>", "<style"):
        assert html.count(tag) == plain.count(tag)
    assert data_of(html)["report"]["title"] == EVIL[1]


def test_the_page_fetches_nothing_and_says_so() -> None:
    html = page()
    policy = re.search(r"default-src 'none';[^\"]*", html)
    assert policy is not None
    assert "connect-src" not in policy[0]
    head = html[: html.index("<style>")]
    assert 'href="data:,"' in head
    assert not re.search(r"(src|href)=\"(?!data:)", head)
    script = (FOLDER / "studio.js").read_text("utf-8")
    assert "<!--" not in script  # with which a script in a page would not end where it ends
    assert "</script" not in script


def test_the_program_is_small() -> None:
    assert len(page().encode()) <= 300_000


def test_the_same_trace_is_the_same_page(make_trace) -> None:
    assert page(make_trace()) == page(make_trace())


@pytest.mark.parametrize(
    ("view", "address"),
    [
        (None, "#/look?form=lines&site=cross&layer=1"),
        (View("matrix"), "#/look?site=cross&layer=1"),
        (View("grid", site="encoder", layer=2), "#/look?site=encoder&layer=2"),
        (View("strip"), "#/look?form=steps&site=cross&layer=1"),
        (View(heads=(1,), word="Tier"), "#/look?form=lines&site=cross&layer=1&head=1&row=1"),
        (View("matrix", heads=(0, 1)), "#/look?site=cross&layer=1&heads=0,1"),
        (
            View("matrix", "decoder", 0, merges=False, hides_special=True, reading="predicting"),
            "#/look?site=decoder&layer=0&words=0&special=0&rows=predicting",
        ),
        (View("matrix", theme="dark"), "#/look?site=cross&layer=1&theme=dark"),
    ],
)
def test_it_opens_at_what_was_seen(make_trace, view: View | None, address: str) -> None:
    assert view_address(make_trace(), view) == address
    assert data_of(page(make_trace(), view=view))["start"] == address


def test_a_text_that_goes_on_opens_as_a_story(make_trace) -> None:
    made: Trace = make_trace(kinds=("encoder",))
    one = replace(made, does="fill", target=replace(made.target, tokens=(), words=()), steps=())
    assert view_address(one).startswith("#/generate?form=lines&site=encoder&layer=2")


def test_a_notebook_gets_the_page_a_picture_and_words(make_trace) -> None:
    made = make_trace()
    bundle = made._repr_mimebundle_()
    held = unescape(re.search(r'srcdoc="(.*?)"', bundle["text/html"], re.DOTALL)[1])
    assert held == page(made)
    assert 'sandbox="allow-scripts allow-downloads"' in bundle["text/html"]
    assert bundle["image/svg+xml"].startswith("<svg")
    assert bundle["text/plain"] == str(made)
    assert make_trace(kinds=())._repr_mimebundle_()["image/svg+xml"].startswith("<svg")
