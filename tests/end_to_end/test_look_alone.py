"""`regard look` as typed for models of one text: what it prints, what it saves, what it refuses."""

import json
from pathlib import Path

import pytest
import torch

from regard.config import read_recipe
from regard.folder import save
from regard.inspection.trace import Trace
from regard.systems import build
from regard.text import Words, learn

from .conftest import called

ENGLISH = ["the", "animal", "didn't", "cross", "street", "because", "it", "was", "too", "tired"]
WORDS = Words([*ENGLISH, *"那只动物没有过马路"])
SIZES = ["model.n_layers=2", "model.d_model=12", "model.n_heads=3", "model.d_feedforward=20"]
PROMPT = "the animal didn't"
Captured = pytest.CaptureFixture[str]


def run(capture: Captured, *arguments: object) -> tuple[int, str, str]:
    return called(capture, "look", *arguments)


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A decoder and an encoder that have learned nothing, but are far from uniform."""
    place = tmp_path_factory.mktemp("models")
    lines = learn("characters", ["ab\n"])
    for name, kind, words in (
        ("gpt", "gpt", WORDS),
        ("bert", "bert", WORDS),
        ("lines", "gpt", lines),
    ):
        recipe = read_recipe(f"{kind}-tiny", [*SIZES, "model.context=12"])
        torch.manual_seed(4)
        model = build(recipe.model, len(words), len(words))
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(2)
            if name == "lines":  # whatever it reads, a line ends
                model.output.weight.copy_(torch.zeros_like(model.output.weight))
                model.output.weight[lines.encode("\n")[0]] = model.decoder.norm.bias + 1
                model.decoder.norm.bias.fill_(9.0)
        save(place / name, model, recipe, words, words)
    return place


def test_a_prompt(capsys: Captured, models: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.trace"
    code, out, err = run(capsys, models / "gpt", PROMPT, "--generate", 3, "--save", kept)
    assert (code, err) == (0, f"saved {kept}\n")
    lines = out.splitlines()
    assert lines[0] == PROMPT
    assert lines[1] == f"→ {Trace.open(kept).output.strip()}"
    assert lines[4] == "Decoder self-attention, layer 1, mean of all 3 heads"
    assert lines[5] == "rows: when reading · columns: looks at · percent"
    assert lines[8].split()[:2] == ["the", "100"]  # the first word sees itself alone
    again = run(capsys, kept, "--reading", "predicting")[1].splitlines()
    assert again[5].startswith("rows: when predicting")
    assert again[8].split()[:2] == ["animal", "100"]


def test_steps_of_a_text(capsys: Captured, models: Path) -> None:
    _, out, _ = run(capsys, models / "gpt", PROMPT, "--target", " cross", "--view", "strip")
    assert "The text, step by step" in out
    steps = [line.split()[:2] for line in out.splitlines() if line[:4].strip().isdecimal()]
    assert steps == [["0", "animal"], ["1", "didn't"], ["2", "cross"]]
    assert "the target was given" in out


def test_a_line_that_ends_is_shown(capsys: Captured, models: Path) -> None:
    _, out, _ = run(capsys, models / "lines", "ab\na", "--generate", 2, "--view", "strip")
    assert out.splitlines()[:2] == ["ab↵a", "→ ↵"]
    assert "�" not in out


def test_gaps(capsys: Captured, models: Path) -> None:
    text = "那只[MASK]物没有过[MASK]路"
    code, out, _ = run(capsys, models / "bert", text, "--word", "[MASK]")
    assert code == 0
    assert out.splitlines()[0] == text
    assert "[MASK]" not in out.splitlines()[1]
    assert "row 2, looking from: “[MASK]”" in out
    assert "<s> and </s>: --special shows it" in out
    said = json.loads(run(capsys, models / "bert", text, "--json")[1])
    assert (said["does"], len(said["steps"])) == ("fill", 2)
    _, out, _ = run(capsys, models / "bert", "the animal")
    assert "→" not in out
    assert "log P" not in out


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("gpt", "switched off decoder.1.2: "),
        ("bert", "switched off encoder.1.2: there is no [MASK] by which to tell what that does"),
    ],
)
def test_a_head_is_switched_off(capsys: Captured, models: Path, model: str, said: str) -> None:
    code, out, _ = run(capsys, models / model, PROMPT, "--ablate", "1.2")
    assert code == 0
    assert said in out
    assert f"{model} without {said.split()[2][:-1]}" in out


@pytest.mark.parametrize("view", ["lines", "matrix", "grid", "strip", "positions"])
def test_pictures(capsys: Captured, models: Path, tmp_path: Path, view: str) -> None:
    for model, text in (("gpt", PROMPT), ("bert", "the [MASK]")):
        place = tmp_path / f"{model}.svg"
        code, _, err = run(capsys, models / model, text, "--view", view, "--save", place)
        assert (code, err) == (0, f"saved {place}\n")
        assert place.read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["gpt", PROMPT, "--view", "alignment"],
            "the alignment view shows a source beside its translation, and gpt (gpt) has one text "
            "alone: choose lines, matrix, grid or strip",
        ),
        (
            ["gpt", PROMPT, "--site", "cross"],
            "this trace has no site cross.0: choose one of decoder.0, decoder.1",
        ),
        (
            ["gpt", PROMPT, "--generate", "13"],
            "13 new tokens cannot be looked at together: the model sees 12 at once",
        ),
        (
            ["gpt", PROMPT, "--generate", "3", "--target", "it"],
            "--target says what is read and --generate lets it be written: choose one",
        ),
        (
            ["bert", PROMPT, "--generate", "3"],
            "--generate is for models that write on from a text: leave it out",
        ),
        (
            ["bert", PROMPT, "--view", "strip"],
            "nothing was to be found in this text: write [MASK] where a word is missing, or choose "
            "lines, matrix or grid",
        ),
        (["bert", " "], "there is nothing to look at: the sentence is empty"),
    ],
    ids=["alignment", "cross", "beyond", "both", "generate", "no-gap", "empty"],
)
def test_refusals(capsys: Captured, models: Path, arguments: list[str], sentence: str) -> None:
    name, *others = arguments
    assert run(capsys, models / name, *others) == (2, "", f"regard: {sentence}\n")


def test_explaining_a_language_model_leads_to_looking(capsys: Captured, models: Path) -> None:
    model = models / "gpt"
    assert called(capsys, "explain", "sentence", PROMPT, "--model", model) == (
        2,
        "",
        f"regard: {model} holds a model of kind gpt, and the steps explained are those of a "
        "Transformer that translates: give the folder of one; `regard look` shows where others "
        "look\n",
    )
