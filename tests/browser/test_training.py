"""Training: curves of recorded runs and of a folder that grows, heads over moments, and the key."""

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import expect

from regard.config import Recipe, TransformerSection
from regard.folder import begin, keep_moment
from regard.serving import Catalogue, Settings, open_models
from regard.serving.application import RECORDED
from regard.systems import build
from regard.text import Words
from tests.browser.seeing import eventually, expect_address
from tests.unit.serving.conftest import Live, living

TEXT = "ein Hund sieht eine Katze ."


def write(folder: Path, update: int, loss: float) -> None:
    told = {"n_tokens": 90, "learning_rate": 1e-3, "gradient_norm": 1.0, "seconds": update / 4}
    step = {"event": "stepped", "update": update, "epoch": 1, "loss": loss, **told}
    with (folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(step)}\n")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    words = Words(TEXT.split())
    section = TransformerSection(d_model=12, n_heads=3, d_feedforward=20, n_layers=2)
    folder = begin(tmp_path / "mine", Recipe(model=section), words, words)
    for update in (0, 40):
        torch.manual_seed(update)
        keep_moment(folder, update, build(section, len(words), len(words)))
    for update in (10, 20):
        write(folder, update, 6 - update / 10)
    return folder


@pytest.fixture
def live(run: Path) -> Iterator[Live]:
    with living(open_models([str(run)])) as live:
        yield live


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    return dict(json.loads((RECORDED / "canned.training.json").read_text("utf-8")))


def test_recorded_runs_lie_over_each_other_and_are_read_by_keys(alone, visit, recorded) -> None:
    page = visit(f"{alone}#/training")
    expect(page.locator(".chip")).to_have_count(2)
    expect(page.locator(".panels svg.picture")).to_have_count(4)
    rows = page.locator(".reading tbody tr")
    expect(rows).to_have_count(2)
    page.locator(".panels").focus()
    page.keyboard.press("ArrowRight")
    first = recorded["runs"][0]["steps"]
    expect(rows.first.locator("td").first).to_have_text(str(int(first["update"][0])))
    expect(rows.first.locator("td").nth(2)).to_have_text(str(round(first["loss"][0], 3)))
    page.locator(".chip").nth(1).click()
    expect(rows).to_have_count(1)
    expect_address(page, "run=")
    page.get_by_role("button", name="minutes").click()
    expect_address(page, "axis=time")
    with page.expect_download() as download:
        page.locator(".curves .save").get_by_role("button", name="SVG").click()
    saved = Path(download.value.path()).read_text("utf-8")
    assert "Loss per token" in saved
    names = [one["run"]["name"] for one in recorded["runs"]]
    assert [name in saved for name in names] == [True, False]  # those that are drawn


def test_a_slider_goes_from_the_first_weights_to_the_last(alone, visit, recorded) -> None:
    page = visit(f"{alone}#/training?head=1&layer=1")
    told = {one["update"]: one["output"] for one in recorded["moments"]}
    wrote = page.locator(".wrote dd").nth(1)
    expect(wrote).to_contain_text(told[None])
    slider = page.get_by_role("slider", name="After update")
    slider.focus()
    page.keyboard.press("Home")
    expect(wrote).to_contain_text(told[0])
    expect_address(page, "moment=0")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(wrote).to_contain_text(told[20])
    again = visit(page.url, locale="zh-CN", viewport={"width": 400, "height": 900})
    expect(again.locator(".wrote dd").nth(1)).to_contain_text(told[20])
    expect(again.locator("nav [aria-current]")).to_have_text("训练")
    assert again.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_run_is_followed_while_it_trains(live, run, visit) -> None:
    page = visit(f"{live.url}/#/training")
    update = page.locator(".reading tbody td").first
    expect(update).to_have_text("20")
    write(run, 1230, 2.5)
    expect(update).to_have_text("1,230")
    expect(page.locator(".chip")).to_contain_text("training")
    page.get_by_role("textbox", name="Source").fill(TEXT)
    page.get_by_role("button", name="Look back").click()
    slider = page.get_by_role("slider", name="After update")
    expect(slider).to_have_attribute("max", "1")
    expect(page.locator(".moments .heads canvas")).to_be_visible()


@pytest.mark.parametrize(
    ("language", "said"), [("en", "The service does not answer"), ("zh", "服务没有回应")]
)
def test_a_service_that_is_gone_is_told_while_a_run_is_followed(
    live, visit, language: str, said: str
) -> None:
    page = visit(f"{live.url}/#/training?lang={language}", is_refused=True)
    expect(page.locator(".reading tbody td").first).to_have_text("20")
    page.route("**/api/v1/**", lambda route: route.abort("connectionrefused"))
    expect(page.get_by_role("alert")).to_contain_text(said)
    expect(page.locator(".chip")).to_have_count(1)  # what was there stays
    page.unroute("**/api/v1/**")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_the_newest_run_is_the_one_that_is_shown(run, visit) -> None:
    for name, age in (("a", 300), ("b", 200), ("c", 400)):
        folder = run.with_name(name)
        shutil.copytree(run, folder)
        for path in folder.rglob("*"):
            os.utime(path, (time.time() - age,) * 2)
    shutil.rmtree(run)
    with living(open_models([], roots=[run.parent])) as live:
        for asked in ("", "?run=nosuch"):
            page = visit(f"{live.url}/#/training{asked}")
            expect(page.locator(".chip")).to_have_count(3)
            expect(page.locator(".chip[aria-pressed=true] .name .long")).to_have_text("b")
            expect(page.locator(".reading tbody td").first).to_have_text("20")
            page.context.close()  # a page that follows a run would ask on when nobody answers
        write(run.with_name("c"), 30, 2.5)
        page = visit(f"{live.url}/#/training?lang=zh")
        expect(page.locator(".chip[aria-pressed=true] .name .long")).to_have_text("c")
        page.context.close()


def test_a_long_name_is_shortened_and_can_be_read(run, visit) -> None:
    name = "transformer-small-with-a-very-long-name-2026-11-16-learning-rate-0.0005-seed-1"
    with living(open_models([f"{name}={run}"])) as live:
        page = visit(f"{live.url}/#/training", viewport={"width": 360, "height": 800})
        expect(page.locator(".reading tbody td").first).to_have_text("20")
        for place in (".chip .long", ".reading .long"):
            shown = page.locator(place)
            expect(shown).to_have_attribute("title", name)
            assert shown.evaluate("one => one.scrollWidth > one.clientWidth")
        box, chip = (
            page.locator(place).bounding_box() for place in (".chip .state", ".chips .chip")
        )
        assert box["x"] + box["width"] <= chip["x"] + chip["width"]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.context.close()


def test_a_key_is_asked_for_and_a_wrong_one_is_refused(visit) -> None:
    with living(Catalogue(), Settings(port=0, keys=frozenset({"secret"}))) as live:
        page = visit(f"{live.url}/#/look", is_refused=True)
        box = page.get_by_label("API key").locator("visible=true").last
        for key in ("密钥", "wrong"):
            box.fill(key)
            box.press("Enter")
            expect(page.get_by_role("alert")).to_contain_text("does not know this key")
        box.fill("secret")
        box.press("Enter")
        expect(page.locator("dialog")).to_have_count(0)
        eventually(page, lambda: page.evaluate("sessionStorage.getItem('regard-key')"), "secret")
        page.reload()
        page.wait_for_selector("main .card")
        page.wait_for_timeout(200)
        expect(page.locator("dialog")).to_have_count(0)
