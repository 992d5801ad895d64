"""The page in a real browser: every choice draws, heads can be chosen, and words stay words."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from regard.inspection.scene import View, layout, page
from regard.inspection.scene.items import Path as Line
from regard.inspection.trace import Trace

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
EVIL = ["<img src=x onerror=document.title='broken'>", "</script>", "机器", "&lt;b&gt;"]

# Goes through every picture of the page and says what it found there.
VISIT = """
const seen = [], errors = [];
window.addEventListener("error", event => errors.push(event.message));
const count = tag => document.querySelectorAll("#picture " + tag).length;
const buttons = chosen => [...document.querySelectorAll("#controls " + chosen)];
for (const entry of data.entries) {
  for (const name of order) if (entry[name] !== null) chosen[name] = entry[name];
  draw();
  seen.push({form: entry.form, site: entry.site, layer: entry.layer, reading: entry.reading,
    scene: entry.scene, drawn: current().scene, paths: count("path"),
    texts: [...document.querySelectorAll("#picture text")].map(e => e.textContent)});
}
Object.assign(chosen, {form: "lines", site: "cross", layer: 1, reading: "predicting"});
draw();
const all = count("path");
buttons("button.head")[1].click();
const one = count("path"), said = document.querySelectorAll("#picture text")[1].textContent;
buttons("button").find(one => one.textContent === "dark").click();
const report = {seen, errors, all, one, said, theme: document.documentElement.dataset.theme,
  images: document.querySelectorAll("img").length, title: document.title};
const element = document.createElement("pre");
element.id = "report";
element.textContent = JSON.stringify(report);
document.body.append(element);
"""


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(
    BROWSER is None,
    reason="no Chromium: install it, for example with apt-get install chromium",
)
def test_every_choice_draws_what_python_laid_out(make_trace, tmp_path: Path) -> None:
    made: Trace = make_trace(source=EVIL, target=["das", *EVIL[:2]])
    file = tmp_path / "page.html"
    written = page(made).replace("</body>", f"<script>{VISIT}</script></body>")
    file.write_text(written, encoding="utf-8")
    command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000"]
    done = subprocess.run([*command, file.as_uri()], capture_output=True, check=True, timeout=120)
    found = re.search(r'<pre id="report">(.*?)</pre>', done.stdout.decode(), re.DOTALL)
    assert found, done.stderr.decode()[-2000:]
    report = json.loads(html.unescape(found[1]))
    assert report["errors"] == []
    assert report["images"] == 0
    assert report["title"] == "Attention to the source, layer 1"
    assert {one["form"] for one in report["seen"]} == {
        *("lines", "matrix", "grid", "alignment", "overview", "strip", "positions")
    }
    for one in report["seen"]:
        assert one["drawn"] == one["scene"]
        if one["form"] == "lines":
            view = View("lines", one["site"], one["layer"], reading=one["reading"])
            expected = layout(made, view).items
            assert one["paths"] == sum(isinstance(item, Line) for item in expected)
            assert set(EVIL[:2]) <= set(one["texts"])
    links = [item for item in layout(made, View(layer=1)).items if isinstance(item, Line)]
    assert report["all"] == len(links)
    assert report["one"] == sum(link.head == 1 for link in links) < len(links)
    assert report["said"].startswith("head 1 · ")
    assert report["theme"] == "dark"
