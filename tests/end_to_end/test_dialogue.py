"""A dialogue model through real commands: it learns to answer, remembers, and is measured."""

import contextlib
import io
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from regard.cli import main

NAMES = ["Tom", "Anna", "小明", "Leo", "Rose", "王芳"]
SIZES = (
    "model.d_model=48",
    "model.n_heads=2",
    "model.d_feedforward=64",
    "model.n_layers=1",
    "text.kind=words",
    "training.batch_tokens=256",
    "training.learning_rate=0.01",
    "training.warmup=10",
    "training.updates=150",
    "training.validate_every=75",
    "training.save_every=75",
)


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@contextlib.contextmanager
def typed(text: str) -> Iterator[None]:
    """Within, this comes by standard input."""
    reading, writing = os.pipe()
    os.write(writing, text.encode())
    os.close(writing)
    before = os.dup(0)
    os.dup2(reading, 0)
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)
        os.close(reading)


def regard(arguments: list[str], given: str = "") -> Done:
    """The command as it is, in this process: starting others would take most of the time."""
    out, err = io.StringIO(), io.StringIO()
    with (
        typed(given),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as left,
    ):
        main(arguments)
    return Done(int(left.value.code or 0), out.getvalue(), err.getvalue())


def talks(n: int, seed: int) -> str:
    """Greetings, and names that have to be remembered."""
    draw = random.Random(seed)
    found = []
    for _ in range(n):
        name = draw.choice(NAMES)
        first = [f"I am {name}", f"Hello {name}", "Who am I ?", f"You are {name}"]
        second = ["Hi how are you", "I am fine", "你好吗", "我很好"]
        found.append("\n".join([*first, *second] if draw.random() < 0.5 else [*second, *first]))
    return "\n\n".join(found)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dialogue")
    (folder / "train.txt").write_text(talks(300, 1), encoding="utf-8")
    sets = [part for one in SIZES for part in ("--set", one)]
    files = ["--dialogue", str(folder / "train.txt"), "--out", str(folder / "run")]
    done = regard(["train", "dialogue", *files, "--device", "cpu", "--threads", "1", *sets])
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "2,100 pairs read" in done.stderr
    return folder / "run"


def test_it_answers_and_remembers(model: Path) -> None:
    given = "Hi how are you\n你好吗\nI am Rose\nWho am I ?\n"
    done = regard(["chat", str(model), "--threads", "1"], given)
    assert done == Done(0, "I am fine\n我很好\nHello Rose\nYou are Rose\n", "")


def test_every_line_has_a_line(model: Path) -> None:
    given = (
        "I am Tom\n/reset\nI am 王芳\n\nI am Leo\n/undo\n/what\nI am Anna\nWho am I ?\n/quit\nHi\n"
    )
    done = regard(["chat", str(model), "--threads", "1"], given)
    lines = [
        "Hello Tom",
        "",
        "Hello王芳",
        "",
        "Hello Leo",
        "",
        "",
        "Hello Anna",
        "You are Anna",
        "",
    ]
    assert done.returncode == 0
    assert done.stdout == "".join(f"{line}\n" for line in lines)
    assert done.stderr.splitlines() == [
        "regard: all that was said is forgotten",
        "regard: the last turn is taken back",
        "regard: there is no /what: /reset begins anew, /undo takes the last turn back, /quit "
        "leaves",
    ]


@pytest.mark.parametrize(
    "options",
    [
        ["--beam", "3"],
        ["--temperature", "0.3", "--seed", "7"],
        ["--no-repeat", "3"],
        ["--candidates", "5", "--information", "0.5"],
    ],
)
def test_other_searches_answer_too(model: Path, options: list[str]) -> None:
    done = regard(["chat", str(model), "--threads", "1", "--show", *options], "Hi how are you\n")
    assert done.stdout == "I am fine\n"
    assert done.stderr.startswith("regard: log-probability -0.")
    assert done.stderr.endswith("it read Hi how are you\n")


def test_it_is_a_model_of_pairs_as_any_other(model: Path) -> None:
    done = regard(
        ["translate", str(model), "--threads", "1"], "I am Leo <turn> Hello Leo <turn> Who am I ?\n"
    )
    assert done.stdout == "You are Leo\n"
    facts = json.loads(regard(["info", str(model), "--json"]).stdout)
    assert facts["task"] == "dialogue"


def test_it_is_measured_on_conversations(model: Path, tmp_path: Path) -> None:
    (tmp_path / "test.txt").write_text(talks(12, 2), encoding="utf-8")
    measured = ["evaluate", str(model), "--dialogue", str(tmp_path / "test.txt"), "--threads", "1"]
    report = json.loads(regard([*measured, "--json", "--beam", "1", "--samples", "10"]).stdout)
    assert report["n_sentences"] == 12 * 7
    assert report["perplexity"] < 3
    diversity = report["diversity"]
    assert 0 < diversity["distinct_1"] < diversity["distinct_2"] < 1
    assert 0 < diversity["most_frequent_share"] < 0.5
    table = regard([*measured, "--beam", "1", "--samples", "10"]).stdout
    assert "distinct-2" in table
    assert "The most frequent answer, " in table


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["train", "transformer-tiny", "--dialogue", "FILE"],
            "the recipe transformer-tiny does not learn to answer, and --dialogue names "
            "conversations: choose the recipe dialogue, or dialogue-small for files of your own",
        ),
        (
            ["train", "dialogue", "--text", "FILE"],
            "the recipe dialogue learns who answers what, and plain text does not say it: name "
            "conversations with --dialogue",
        ),
        (
            ["train", "dialogue", "--corpus", "smalltalk", "--dialogue", "FILE"],
            "--corpus does not go with --dialogue: to learn from files and a corpus together, name "
            "both with --dialogue",
        ),
        (
            ["train", "dialogue", "--dialogue", "none.txt"],
            "none.txt: no such file. Paths are taken from the current folder",
        ),
        (
            ["evaluate", "FOLDER", "--dialogue", "FILE", "--corpus", "dates:test"],
            "--dialogue stands in place of --source, --target and --corpus",
        ),
        (
            ["chat", "FOLDER", "--beam", "2", "--top-k", "3"],
            "--beam and --no-repeat search for the best, and --temperature, --top-k and --top-p "
            "draw by chance: give one or the other",
        ),
        (
            ["chat", "FOLDER", "--information", "0.5"],
            "--information chooses among answers: add --candidates 20",
        ),
        (
            ["chat", "FOLDER", "--candidates", "5", "--beam", "2"],
            "--candidates are drawn by chance: leave --beam and --no-repeat out",
        ),
        (
            ["chat", "FOLDER", "--temperature", "0"],
            "--temperature 0 is not possible: choose a number above 0, or none of --temperature, "
            "--top-k and --top-p for the most probable answer",
        ),
    ],
)
def test_what_does_not_fit_is_said(
    model: Path, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    named = {"FILE": str(model.parent / "train.txt"), "FOLDER": str(model)}
    given = [named.get(one, one) for one in arguments]
    if arguments[0] == "train":
        given += ["--out", str(tmp_path / "out")]
    done = regard(given)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == f"regard: {sentence}"
    assert not (tmp_path / "out").exists()
