"""`regard look` as typed: what it prints, what it saves, what it refuses."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import torch
from rich.cells import cell_len

from regard.cli import main
from regard.config import Recipe
from regard.config.networks import (
    BahdanauSection,
    Network,
    SutskeverSection,
    TransformerSection,
)
from regard.folder import save
from regard.inspection.trace import Trace
from regard.systems import build, open_model
from regard.text import Words

from .conftest import called

SOURCE = Words(["这", "只", "动", "物", "没", "有", "过", "马", "路", "，", "它", "太", "累", "了"])
TARGET = Words(["the", "animal", "didn't", "cross", "it", "was", "too", "tired", "."])
CHINESE = "这只动物没有过马路，它太累了"
ENGLISH = "the animal didn't cross . it was too tired ."
WIDTHS = {"d_embedding": 10, "d_hidden": 14, "dropout": 0.0, "tie": "none"}
SECTIONS: dict[str, Network] = {
    "transformer": TransformerSection(
        d_model=12, n_heads=3, n_layers=2, d_feedforward=20, dropout=0.0, tie="none"
    ),
    "bahdanau": BahdanauSection(**WIDTHS),
    "sutskever": SutskeverSection(n_layers=1, **WIDTHS),
}
EMPTY_TARGET = "--target is empty: give a translation, or leave it out"
Captured = pytest.CaptureFixture[str]


def run(capture: Captured, *arguments: object) -> tuple[int, str, str]:
    return called(capture, "look", *arguments)


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models that have learned nothing, but are far from uniform."""
    place = tmp_path_factory.mktemp("models")
    for kind, section in SECTIONS.items():
        torch.manual_seed(4)
        model = build(section, len(SOURCE), len(TARGET))
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(1.6)
        save(place / kind, model, Recipe(name=f"tiny-{kind}", model=section), SOURCE, TARGET)
    return place


@pytest.fixture(scope="module")
def kept(models: Path) -> Path:
    """A saved trace."""
    place = models / "kept.trace"
    with pytest.raises(SystemExit):
        main(["look", str(models / "transformer"), CHINESE, "--target", ENGLISH, "--save", str(place)])  # fmt: skip # noqa: E501
    return place


def test_a_sentence(capsys: Captured, models: Path) -> None:
    code, out, err = run(capsys, models / "transformer", CHINESE)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == CHINESE
    assert lines[1].startswith("→ ")
    assert "transformer (tiny-transformer)" in lines[2]
    assert "Attention to the source, layer 0, mean of all 3 heads" in lines
    assert "\x1b" not in out
    assert max(map(cell_len, lines)) <= 80
    assert [line for line in lines if line != line.rstrip()] == []
    (header,) = [line.split() for line in lines if line.split() == list(CHINESE)]
    assert len(header) == len(CHINESE)


def test_the_numbers_are_those_of_the_trace(capsys: Captured, kept: Path) -> None:
    _, out, _ = run(capsys, kept, "--site", "encoder", "--layer", 1, "--head", "2,0", "--special")
    assert "Encoder self-attention, layer 1, mean of heads 0, 2" in out
    weights = Trace.open(kept).site("encoder", 1).weights[[0, 2]].mean(0)
    rows = [line.split() for line in out.splitlines()[-15:]]
    assert [row[0] for row in rows] == [*CHINESE, "</s>"]
    for row, expected in zip(rows, weights, strict=True):
        assert row[1:] == ["·" if w < 0.005 else f"{100 * w:.0f}" for w in expected]


def test_colours_in_a_terminal(
    capsys: Captured, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("TERM", "xterm-256color")
    _, out, _ = run(capsys, kept)
    assert out.count("\x1b[") > 100
    assert ";48;2;" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--view", "lines", "--top", "2"), "rows: when predicting · then: looks at"),
        (("--view", "strip"), "The translation, step by step"),
        (("--view", "alignment"), "columns: source · percent"),
        (("--word", "IT"), "row 5, when predicting: “it”"),
        (("--site", "encoder", "--word", "它"), "row 10, looking from: “它”"),
        (("--reading", "reading"), "rows: when reading"),
        (("--site", "decoder"), "rows: when reading"),
        (("--tokens", "--special"), "</s>"),
    ],
)
def test_views_of_the_terminal(
    capsys: Captured, kept: Path, arguments: tuple[str, ...], said: str
) -> None:
    code, out, err = run(capsys, kept, *arguments)
    assert (code, err) == (0, "")
    assert said in out
    assert "the target was given" in out
    assert max(map(cell_len, out.splitlines())) <= 80


def test_hidden_weight_is_named(capsys: Captured, kept: Path) -> None:
    weights = Trace.open(kept).site("cross", 0).weights.mean(0)[:-1, -1].mean()
    _, out, _ = run(capsys, kept)
    assert f"on average {100 * weights:.0f} % lies on </s>: --special shows it" in out
    _, out, _ = run(capsys, kept, "--special")
    assert "--special" not in out


def test_files_of_every_kind(capsys: Captured, kept: Path, tmp_path: Path) -> None:
    places = [tmp_path / f"x.{ending}" for ending in ("svg", "png", "pdf", "html", "json", "trace")]
    options = [part for place in places for part in ("--save", place)]
    code, out, err = run(capsys, kept, *options, "--dark")
    assert code == 0
    assert err.splitlines() == [f"saved {place}" for place in places]
    assert "Attention to the source" in out
    svg, png, pdf, html, numbers, trace = places
    drawn = "".join(ET.parse(svg).getroot().itertext())
    assert "Attention to the source" in drawn
    assert "#14161a" in svg.read_text("utf-8")
    assert "thicker = more attention" in drawn  # the lectures' picture
    assert "</s>" not in drawn
    assert png.read_bytes().startswith(b"\x89PNG")
    assert pdf.read_bytes().startswith(b"%PDF")
    assert "<script" in html.read_text("utf-8")
    assert json.loads(numbers.read_text("utf-8"))["source"]["text"] == CHINESE
    assert trace.read_bytes() == kept.read_bytes()


@pytest.mark.parametrize("form", ["grid", "overview", "positions"])
def test_pictures_that_are_for_files_alone(
    capsys: Captured, kept: Path, tmp_path: Path, form: str
) -> None:
    place = tmp_path / "x.svg"
    assert run(capsys, kept, "--view", form, "--save", place) == (0, "", f"saved {place}\n")
    ET.parse(place)


def test_json_is_all_that_is_printed(capsys: Captured, models: Path, kept: Path) -> None:
    code, out, err = run(capsys, models / "transformer", f"{CHINESE} X", "--json")
    assert code == 0
    assert err == "regard: the model does not know X: read as unknown\n"
    read = json.loads(out)
    assert read["source"]["text"] == f"{CHINESE} X"
    assert len(read["sites"]) == 6
    assert run(capsys, kept, "--json")[1] == f"{Trace.open(kept).to_json()}\n"


def test_a_recurrent_model(capsys: Captured, models: Path) -> None:
    code, out, _ = run(capsys, models / "bahdanau", CHINESE, "--target", ENGLISH)
    assert code == 0
    assert "Attention to the source, layer 0, head 0" in out


def test_a_model_without_attention_still_has_steps(capsys: Captured, models: Path) -> None:
    code, out, _ = run(capsys, models / "sutskever", CHINESE, "--view", "strip")
    assert code == 0
    assert "looked at" not in out


def test_heads_are_switched_off(capsys: Captured, models: Path, tmp_path: Path) -> None:
    place = tmp_path / "x.json"
    given = (models / "transformer", CHINESE, "--target", ENGLISH)
    code, out, _ = run(capsys, *given, "--ablate", "0.1,1", "--save", place)
    assert code == 0
    said = " ".join(out.split())
    assert "switched off cross.1, cross.0.1: the given target stays, its log P changes by" in said
    assert "(where they look is still shown; it has no effect)" in said
    without, whole = json.loads(place.read_text("utf-8")), json.loads(run(capsys, *given, "--json")[1])  # fmt: skip # noqa: E501
    assert without["provenance"]["model"] == "transformer without cross.1, cross.0.1"
    lost = sum(a["log_probability"] - b["log_probability"]
               for a, b in zip(without["steps"], whole["steps"], strict=True))  # fmt: skip
    assert f"changes by {lost:+.2f}" in said
    assert without["sites"][4]["weights"] == whole["sites"][4]["weights"]  # cross.0 looks as before
    assert without["sites"][5]["weights"] != whole["sites"][5]["weights"]
    code, out, _ = run(capsys, *given[:2], "--ablate", "decoder.0.2")
    assert code == 0
    assert "switched off decoder.0.2: " in out


def test_a_page_of_heads_switched_off_opens_at_the_switchboard(
    capsys: Captured, models: Path, tmp_path: Path
) -> None:
    place = tmp_path / "x.html"
    given = (models / "transformer", CHINESE, "--target", ENGLISH, "--ablate", "0.1", "--dark")
    code, *_ = run(capsys, *given, "--save", place)
    assert code == 0
    _, _, data = place.read_text("utf-8").partition('id="data">')
    held = json.loads(data.partition("</script>")[0])
    assert held["start"] == "#/switchboard?off=cross.0.1&theme=dark"
    (one,) = held["traces"]
    assert one["vectors"] is not None
    (both,) = one["retraces"].values()
    assert one["trace"] == both["before"] != both["after"]  # all heads are on in what is shown


def test_the_layer_that_changed_is_shown_before_and_after(
    capsys: Captured, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = open_model(models / "transformer")
    before = opened.trace(CHINESE, ENGLISH)
    after = opened.retrace(before, "encoder.0")
    moved = before.moved(after)
    most = max(moved, key=moved.__getitem__)
    assert "encoder.0" not in moved  # what is off looks where it looked
    given = (models / "transformer", CHINESE, "--target", ENGLISH, "--ablate", "encoder.0")
    _, out, _ = run(capsys, *given, "--special", "--tokens")
    assert f"attention that moved: {most} {100 * moved[most]:.1f} %" in " ".join(out.split())
    kind, _, layer = most.partition(".")
    assert f", layer {layer}, mean of all 3 heads" in out
    parts = out.partition("\nbefore")[2].split("\nafter")
    assert len(parts) == 3
    weights = [one.site(kind, int(layer)).weights.mean(0) for one in (before, after)]
    for part, values in zip(parts[:2], weights, strict=True):
        row = part.strip().splitlines()[1].split()[1:]
        assert row == ["·" if w < 0.005 else f"{100 * w:.0f}" for w in values[0][: len(row)]]
    assert parts[2].startswith(" - before, in percentage points")
    row = parts[2].strip().splitlines()[2].split()[1:]
    points = (weights[1] - weights[0])[0]
    assert row == ["·" if abs(p) < 0.005 else f"{100 * p:+.0f}" for p in points[: len(row)]]
    _, out, _ = run(capsys, *given, "--site", "cross", "--layer", "1")
    assert "Attention to the source, layer 1" in out
    assert "after - before" in out
    monkeypatch.setenv("COLUMNS", "200")
    _, out, _ = run(capsys, *given)
    assert re.search("^before  +after$", out, re.MULTILINE)


@pytest.mark.parametrize(("ablated", "view"), [("cross.1", ()), ("encoder.0", ("--view", "lines"))])
def test_what_moves_nothing_or_is_seen_otherwise_has_no_before(
    capsys: Captured, models: Path, ablated: str, view: tuple[str, ...]
) -> None:
    given = (models / "transformer", CHINESE, "--target", ENGLISH, "--ablate", ablated, *view)
    code, out, _ = run(capsys, *given)
    assert code == 0
    assert ("attention that moved: none" in " ".join(out.split())) == (not view)
    assert "before," not in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("nowhere", "x"),
            "there is no nowhere: give a model folder, or a saved trace",
        ),
        (
            ("transformer",),
            'there is no sentence to look at: regard look transformer "a sentence"',
        ),
        (("transformer", CHINESE, "--target", " "), EMPTY_TARGET),
        (("transformer", " "), "there is nothing to translate: the source sentence is empty"),
        (
            ("sutskever", CHINESE),
            "sutskever (sutskever) looks back at no words, so there is no attention between words "
            "to show: choose the strip view, which tells its steps, or a model with attention",
        ),
        (
            ("bahdanau", CHINESE, "--site", "encoder"),
            "this trace has no site encoder.0: choose one of cross.0",
        ),
        (
            ("kept.trace", CHINESE),
            "kept.trace is a saved trace, in which nothing can be changed: leave out a sentence, "
            "or give a model folder",
        ),
        (
            ("kept.trace", "--ablate", "1.0"),
            "kept.trace is a saved trace, in which nothing can be changed: leave out --ablate, or "
            "give a model folder",
        ),
        (
            ("transformer/recipe.toml",),
            "transformer/recipe.toml is not a trace, or was cut short: make it again with "
            "Trace.save",
        ),
        (
            ("kept.trace", "--layer", "2", "--json"),
            "this trace has no site cross.2: choose one of encoder.0, encoder.1, decoder.0, "
            "decoder.1, cross.0, cross.1",
        ),
        (("kept.trace", "--head", "3"), "cross.0 cannot show head 3: choose among 0 to 2"),
        (
            ("kept.trace", "--site", "middle"),
            "there is no site 'middle': choose one of encoder, decoder, cross",
        ),
        (
            ("kept.trace", "--word", "它"),
            "the word '它' is not among the rows of cross: choose one of the animal didn't cross . "
            "it was too tired ., or a row from 0 to 9 (--site encoder has such a row)",
        ),
        (("kept.trace", "--word", "10"), "there is no word 10: choose 0 to 9"),
        (
            ("kept.trace", "--view", "strip", "--word", "it"),
            "--word chooses a row of matrix or lines, and --view strip shows all: leave out one of "
            "them",
        ),
        (
            ("kept.trace", "--view", "grid"),
            "--view grid is drawn into a file: add --save grid.svg, or choose matrix, lines, "
            "strip, alignment, pictures or gazes for the terminal",
        ),
        (
            ("kept.trace", "--save", "x.bmp"),
            "the file of --save cannot be saved as 'x.bmp': end its name in .svg, .png, .pdf, "
            ".gif, .html, .json or .trace",
        ),
        (
            ("transformer", "\udcff"),
            "the argument '\\xff': byte 1 (0xFF) is not UTF-8. Convert it, for example: iconv -f "
            "ISO-8859-1 -t UTF-8",
        ),
    ],
)
def test_refused_in_one_sentence(
    capsys: Captured,
    models: Path,
    kept: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    sentence: str,
) -> None:
    monkeypatch.chdir(models)
    capsys.readouterr()
    assert run(capsys, *arguments) == (2, "", f"regard: {sentence}\n")
    assert not list(models.glob("x.*"))


def test_device_and_threads_are_chosen(capsys: Captured, models: Path) -> None:
    before = torch.get_num_threads()
    try:
        asked = (models / "transformer", CHINESE, "--json", "--device", "cpu")
        code, out, _ = run(capsys, *asked, "--threads", 2)
        assert (code, torch.get_num_threads()) == (0, 2)
        assert run(capsys, *asked)[1] == out
    finally:
        torch.set_num_threads(before)
    code, _, err = run(capsys, *asked[:-1], "tpu")
    assert code == 2
    assert "--device tpu is not known" in err
