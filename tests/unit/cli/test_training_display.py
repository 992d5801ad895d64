"""What a run says of itself before its first update, and of texts that are too long."""

import io
from collections import Counter
from pathlib import Path

import pytest
import torch
from rich.console import Console

from regard.cli.training_display import TrainingDisplay
from regard.cli.training_lines import next_command
from regard.config import Recipe, read_recipe
from regard.systems import load_system
from regard.systems.labelled import notes_on
from regard.training.events import (
    Event,
    Finished,
    ModelBuilt,
    Sample,
    Stepped,
    Validated,
    Validating,
)

KNOWN = (
    "model.dropout=0.1",
    *("training.batch_tokens=64", "training.warmup=100", "training.learning_rate=0.1"),
)


def built(recipe: Recipe) -> ModelBuilt:
    return ModelBuilt(recipe, 10, Path("runs/a"), torch.device("cpu"), 1)


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
    values = ("updates=2", "batch_tokens=64", "warmup=1", "learning_rate=0.1")
    recipe = read_recipe(preset, [f"training.{value}" for value in values])
    display = TrainingDisplay()
    with display:
        display.show(built(recipe))
        display.show(Stepped(1, 0, 1.0, 50, 0.1, 1.0, seconds=1.0))
        display.show(Stepped(2, 0, 1.0, 50, 0.1, 1.0, seconds=2.0))
    said = capsys.readouterr().err
    assert "into runs/a" in said
    assert f"Up to 2 updates, 64 {read} each" in said
    assert f"50 {predicted}/s" in said


@pytest.mark.parametrize(("n", "texts"), [(1, "1 text is"), (2_000, "2,000 texts are")])
def test_texts_that_are_cut_are_counted(n: int, texts: str) -> None:
    notes = notes_on(Counter(a=2), n, 64, "runs/bert")
    assert notes == [f"{texts} longer than the 64 tokens the model sees"]


def shown(
    training: list[str], events: list[Event], monkeypatch: pytest.MonkeyPatch
) -> TrainingDisplay:
    """A display that has shown these events, to a stream that is no terminal."""
    monkeypatch.setattr("regard.cli.progress.SECONDS_BETWEEN_LINES", 0.0)
    display = TrainingDisplay()
    changes = [*KNOWN, *(f"training.{one}" for one in training)]
    with display:
        display.show(built(read_recipe("transformer-tiny", changes)))
        for event in events:
            display.show(event)
    return display


def steps(n: int, seconds: float) -> list[Event]:
    return [Stepped(i, 0, 1.0, 50, 0.1, 1.0, seconds=i * seconds) for i in range(1, n + 1)]


def test_the_expected_time_is_said_once_when_it_is_known(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown(["updates=1220"], steps(30, 0.5), monkeypatch)
    (line,) = [one for one in capsys.readouterr().err.splitlines() if one.startswith("Expected")]
    assert "10 minutes for 1,203 more updates at 0.5 s" in line


def test_minutes_that_end_within_the_warm_up_are_told_at_the_beginning(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown(["updates=1000", "minutes=1"], steps(30, 1.0), monkeypatch)
    said = capsys.readouterr().err
    assert "about 60 of 1,000 updates in 1 minute, at 1 s" in said
    assert "warm-up of 100" in said
    assert "training.updates=60" in said


def test_a_validation_is_announced_and_shows_what_the_model_makes_of_two_sentences(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = (Sample("猫睡觉。", "A\ncat.", "The cat sleeps."), Sample("狗。", "", "A dog."))
    validated = Validated(1, 2.0, 7.4, None, True, 3.0, samples=samples)
    shown(["updates=9"], [*steps(1, 1.0), Validating(1), validated], monkeypatch)
    lines = capsys.readouterr().err.splitlines()
    assert "update 1/9  validating" in lines
    assert [one.split(maxsplit=1) for one in lines[-6:]] == [
        ["source", "猫睡觉。"],
        ["reference", "The cat sleeps."],
        ["output", "A ⏎ cat."],
        ["source", "狗。"],
        ["reference", "A dog."],
        ["output", "(nothing)"],
    ]


@pytest.mark.parametrize(
    ("system", "example", "command"),
    [
        ("translation", "it's a cat", """echo 'it'"'"'s a cat' | regard translate 'runs/a b'"""),
        ("translation", None, "regard translate 'runs/a b' FILE"),
        ("summaries", "word " * 60, "regard summarise 'runs/a b' FILE"),
        ("dialogue", "hello", "regard chat 'runs/a b'"),
        ("writing", "Once upon", "regard generate 'runs/a b' 'Once upon'"),
        ("filling", "A [MASK] sleeps", "regard fill 'runs/a b' 'A [MASK] sleeps'"),
        ("labels", None, "regard classify 'runs/a b' TEXT"),
        ("tags", None, "regard tag 'runs/a b' TEXT"),
        ("captions", None, "regard caption 'runs/a b' picture.png"),
    ],
)
def test_the_next_command_uses_what_was_trained(
    system: str, example: str | None, command: str
) -> None:
    assert next_command(load_system(system).words, "runs/a b", example) == command


def test_the_bar_leaves_the_screen_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a terminal shows after the end is the sentence about it, and no bar below."""
    screen = io.StringIO()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("FORCE_COLOR", "1")
    display = TrainingDisplay()
    display.console = Console(file=screen, force_terminal=True, width=60, highlight=False)
    with display:
        display.show(built(read_recipe("transformer-tiny", [*KNOWN, "training.updates=3"])))
        for event in (*steps(3, 1.0), Validating(3)):
            display.show(event)
        assert display._bar is not None
        assert display._bar.tasks[0].fields["facts"] == "validating"
        display.show(Finished(3, "all updates done", "last", 3.0))
    after = screen.getvalue().rpartition("Finished after 3 updates")[2]
    assert after.rstrip().endswith("\x1b[2K")  # the line of the bar is taken away
