"""How soon the page is seen, and how it follows the pointer: in a real Chromium, over loopback.

    $ python benchmarks/studio.py
    $ python benchmarks/studio.py --rounds 9 --seconds 5

The page is served as `regard serve` serves it, without a model. Seen: the browser's own paint
entries, and the moment when the first picture of attention is there; each visit has an empty cache.
Followed: a trace of 60 words, 6 layers and 8 heads is opened, and the pointer goes from word to
word; frames a second are those in which the browser painted, and the longest is the longest wait
between two of them. Chromium paints without a graphics card here.
"""

import argparse
import json
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from machine import facts, print_facts, print_table
from playwright.sync_api import Browser, Page, sync_playwright

from regard.serving import Catalogue, Server, Settings, create_app

N_WORDS, N_LAYERS, N_HEADS = 60, 6, 8
PAINT = """() => new Promise((done) => {
  const tell = () => done({
    picture: performance.now(),
    ...Object.fromEntries(performance.getEntriesByType('paint').map((e) => [e.name, e.startTime])),
  });
  const look = () => document.querySelector('.focus svg text') ? requestAnimationFrame(tell)
    : requestAnimationFrame(look);
  look(); })"""
FRAMES = """() => { window.frames_ = []; window.isWatched = true;
  const step = (now) => {
    window.frames_.push(now);
    if (window.isWatched) requestAnimationFrame(step); };
  requestAnimationFrame(step); }"""


@contextmanager
def serving() -> Iterator[str]:
    settings = Settings(port=0)
    server = Server(create_app(Catalogue(), settings), settings)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [server.socket]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"{server.address}/"
    finally:
        server.should_exit = True
        thread.join()


def long_trace(page: Path) -> dict[str, Any]:
    """A sentence of many words, each of which looks at a few."""
    tokens = [
        {"id": 9, "text": f"w{i}", "start": 4 * i, "end": 4 * i + 3, "word": i}
        for i in range(N_WORDS)
    ]
    words = [{"text": one["text"], "start": one["start"], "end": one["end"]} for one in tokens]
    sentence = {"text": " ".join(f"w{i}" for i in range(N_WORDS)), "words": words, "tokens": tokens}
    chance = np.random.default_rng(0)
    sites = [
        {
            "kind": "cross",
            "layer": layer,
            "is_uniform": [False] * N_HEADS,
            "sums_to_one": True,
            "weights": chance.dirichlet(np.full(N_WORDS, 0.1), (N_HEADS, N_WORDS))
            .round(6)
            .tolist(),
        }
        for layer in range(N_LAYERS)
    ]
    known = json.loads((page / "canned.zh-en.json").read_text("utf-8"))["trace"]
    steps = [{"log_probability": -1.0, "alternatives": []}] * N_WORDS
    told = {"source": sentence, "target": sentence, "sites": sites, "steps": steps}
    return {**known, **told, "aligning": 2}


def seen(browser: Browser, address: str) -> dict[str, float]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(address, wait_until="commit")
    page.wait_for_selector("#studio", state="attached")
    found: dict[str, float] = page.evaluate(PAINT)
    context.close()
    return found


def followed(page: Page, seconds: float) -> tuple[float, float]:
    """Frames a second while the pointer moves, and the longest wait in milliseconds."""
    boxes = [one.bounding_box() for one in page.locator(".sentence:nth-child(2) .word").all()]
    places = [(b["x"] + b["width"] / 2, b["y"] + b["height"] / 2) for b in boxes if b]
    page.mouse.move(*places[0])
    page.evaluate(FRAMES)
    until, i = time.perf_counter() + seconds, 0
    while time.perf_counter() < until:
        i += 1
        page.mouse.move(*places[i % len(places)])
    times = page.evaluate("() => { window.isWatched = false; return window.frames_; }")
    waits = np.diff(times)
    return 1000 * len(waits) / float(times[-1] - times[0]), float(waits.max())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0, help="of pointing")
    choice = parser.parse_args()
    from regard.serving.application import RECORDED

    path = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    print_facts(facts())
    with serving() as address, sync_playwright() as playwright, tempfile.TemporaryDirectory() as d:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        print_facts({"chromium": browser.version})
        seen(browser, address)  # to be warm
        visits = [seen(browser, address) for _ in range(choice.rounds)]
        rows = []
        for name, what in (
            ("first-paint", "first paint, ms"),
            ("first-contentful-paint", "first content, ms"),
            ("picture", "first picture of attention, ms"),
        ):
            values = sorted(visit[name] for visit in visits)
            rows.append([what, f"{statistics.median(values):,.0f}", f"{values[-1]:,.0f}"])
        print_table(["", "median", "longest, ms"], rows)
        rows = []
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(address)
        page.wait_for_selector(".focus svg")
        file = Path(d) / "long.json"
        file.write_text(json.dumps(long_trace(RECORDED)), "utf-8")
        page.set_input_files("input[type=file]", file)
        page.wait_for_selector(".sentences .numbers:has-text('long.json')")
        for form in ("matrix", "lines"):
            if form == "lines":
                page.get_by_role("button", name="Lines").click()
            found = [followed(page, choice.seconds) for _ in range(2)]
            rate = statistics.median(one for one, _ in found)
            rows.append(
                [f"frames a second, {form}", f"{rate:,.0f}", f"{max(w for _, w in found):,.0f}"]
            )
        browser.close()
    print_table(["", "median", "longest, ms"], rows)


if __name__ == "__main__":
    main()
