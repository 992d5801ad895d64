"""What a run says of itself before its first update, and of texts that are too long."""

from collections import Counter

import pytest

from regard.cli.training_display import Display
from regard.recipes import read_recipe
from regard.training.events import Stepped
from regard.training.label_account import notes_on


@pytest.mark.parametrize(
    ("preset", "read", "predicted"),
    [
        ("bert-tiny", "tokens of text", "masked tokens"),
        ("bert-classify", "tokens of text", "labels"),
        ("bert-tag", "tokens of text", "labels"),
        ("gpt-tiny", "target tokens", "tokens"),
    ],
)
def test_what_is_read_and_what_is_predicted_are_named(
    preset: str,
    read: str,
    predicted: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("regard.cli.progress.SECONDS_BETWEEN_LINES", 0.0)
    recipe = read_recipe(preset, ["training.updates=2", "training.batch_tokens=64"])
    display = Display()
    display.show_model(recipe, 10, "runs/a")
    with display:
        display.show(Stepped(1, 0, 1.0, 50, 0.1, 1.0, seconds=1.0))
        display.show(Stepped(2, 0, 1.0, 50, 0.1, 1.0, seconds=2.0))
    said = capsys.readouterr().err
    assert f"up to 2 updates of 64 {read}, into runs/a" in said
    assert f"50 {predicted}/s" in said


@pytest.mark.parametrize(("n", "texts"), [(1, "1 text is"), (2_000, "2,000 texts are")])
def test_texts_that_are_cut_are_counted(n: int, texts: str) -> None:
    notes = notes_on(Counter(a=2), n, 64, "runs/bert")
    assert notes == [f"{texts} longer than the 64 tokens the model sees"]
