"""A language model and an encoder through real commands: train, write on, fill, embed, continue."""

import contextlib
import io
import json
import random
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from regard.cli import main
from regard.inspection.trace import Trace

from .commands import run

SIZES = (
    "model.d_model=32",
    "model.n_heads=2",
    "model.d_feedforward=32",
    "model.n_layers=1",
    "model.context=16",
    "training.batch_tokens=256",
    "training.learning_rate=0.02",
    "training.warmup=5",
    "training.validate_every=30",
    "training.save_every=15",
)


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def regard(arguments: list[str]) -> Done:
    """The command as it is, in this process: starting others would take most of the time."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as left,
    ):
        main(arguments)
    return Done(int(left.value.code or 0), out.getvalue(), err.getvalue())


def arguments(recipe: str, text: Path, out: Path, *changes: str) -> list[str]:
    sets = [part for one in (*SIZES, *changes) for part in ("--set", one)]
    files = ["--text", str(text), "--out", str(out)]
    return ["train", recipe, *files, "--device", "cpu", "--threads", "1", *sets]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("story") / "story.txt"
    draw = random.Random(1)
    animals, verbs = ["cat", "dog", "fox"], {"cat": "naps", "dog": "barks", "fox": "runs"}
    chosen = draw.choices(animals, k=150)
    path.write_text("".join(f"the {one} {verbs[one]} now .\n" for one in chosen), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def gpt(story: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("gpt") / "run"
    done = regard(arguments("gpt-tiny", story, out, "training.updates=90"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "bits per character" in done.stderr
    return out


@pytest.fixture(scope="module")
def bert(story: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("bert") / "run"
    changes = ("text.kind=words", "data.unit=line", "training.updates=120")
    done = regard(arguments("bert-tiny", story, out, *changes))
    assert done.returncode == 0, done.stderr
    return out


def test_it_writes_on_what_it_learned(gpt: Path) -> None:
    done = regard(["generate", str(gpt), "the do", "--greedy", "--max-tokens", "10"])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "the dog barks no\n"
    told = regard(["generate", str(gpt), "the ca", "--greedy", "--only-new", "--stop", " now"])
    assert told.stdout == "t naps\n"


def test_it_says_what_each_word_looked_at(gpt: Path, tmp_path: Path) -> None:
    asked = ["generate", str(gpt), "the fox", "--max-tokens", "25", "--show-attention"]
    kept, drawn = tmp_path / "story.trace", tmp_path / "story.svg"
    files = ["--save-attention", str(kept), "--save-attention", str(drawn)]
    done = regard([*asked, "--layer", "0", "--head", "1", *files])
    assert done.returncode == 0
    assert done.stdout.startswith("the fox")
    assert "it goes on from the last 8, and so whenever they are full" in done.stderr
    assert "layer 0, head 1, percent:" in done.stderr
    rows = [line for line in done.stderr.splitlines() if "→" in line]
    assert len(rows) > 2
    trace = Trace.open(kept)
    assert trace.source.text == "the fox"
    assert len(trace.target.read) == 16  # what the model sees at once
    assert done.stdout.startswith(trace.target.text)
    assert "when predicting" in drawn.read_text()
    again = regard(asked[:-1])
    assert again.stdout == done.stdout  # the same seed


def test_words_taken_out_are_found(bert: Path) -> None:
    done = regard(["fill", str(bert), "the dog [MASK] now .", "--k", "2", "--json"])
    assert done.returncode == 0, done.stderr
    (best, second), *_ = json.loads(done.stdout)["found"]
    assert best["word"] == "barks"
    assert best["probability"] > second["probability"]
    shown = regard(["fill", str(bert), "[MASK] cat naps now"]).stdout.splitlines()
    assert shown[0].split("\t")[1:] == ["the", "the cat naps now"]
    assert len(shown) == 5


def test_sentences_become_vectors(bert: Path, tmp_path: Path) -> None:
    text = tmp_path / "two.txt"
    text.write_text("the cat naps\nthe dog barks\n")
    done = regard(["embed", str(bert), str(text)])
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["text"] for row in rows] == ["the cat naps", "the dog barks"]
    assert regard(["embed", str(bert), str(text), "--out", str(tmp_path / "v.npy")]).stdout == ""
    table = np.load(tmp_path / "v.npy")
    assert table.shape == (2, 32)
    np.testing.assert_allclose(table[1], rows[1]["embedding"], atol=1e-5)
    alike = regard(["embed", str(bert), "--similarity", "the cat", "the cat"])
    assert float(alike.stdout) == pytest.approx(1.0)


@pytest.mark.parametrize("verb", ["generate", "fill", "embed"])
def test_standard_input_that_is_no_utf_8_is_refused(verb: str, gpt: Path, bert: Path) -> None:
    model = gpt if verb == "generate" else bert
    done = run([verb, str(model)], b"ab\xff\xfe")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "regard: standard input, line 1: byte 3 of the line (0xFF) is not UTF-8. Convert the text, "
        "for example: iconv -f ISO-8859-1 -t UTF-8\n"
    )


def test_an_opening_may_have_lines_of_its_own(gpt: Path) -> None:
    asked = ["generate", str(gpt), "--greedy", "--max-tokens", "4"]
    given = run(asked, b"the dog\r\n\nthe ca\n")
    assert given.returncode == 0, given.stderr
    assert given.stdout == regard([*asked, "the dog\n\nthe ca"]).stdout


def test_sentences_are_the_same_lines_wherever_they_come_from(bert: Path, tmp_path: Path) -> None:
    text = "the cat\u2028naps\nthe\x0cdog\x85barks\r\nnow"
    (tmp_path / "text").write_bytes(text.encode())
    done = run(["embed", str(bert)], text.encode())
    assert done.stdout == regard(["embed", str(bert), str(tmp_path / "text")]).stdout
    rows = [json.loads(line)["text"] for line in done.stdout.split("\n")[:-1]]
    assert rows == ["the cat\u2028naps", "the\x0cdog\x85barks", "now"]


def test_a_run_that_was_cut_off_ends_the_same(gpt: Path, story: Path) -> None:
    out = gpt.parent / "again"
    first = regard(arguments("gpt-tiny", story, out, "training.updates=30"))
    assert first.returncode == 0, first.stderr
    # The schedule is another for 30 updates, so the run is cut by going back to update 15.
    for later in (out / "training" / "checkpoints").glob("00003*"):
        for file in later.iterdir():
            file.unlink()
        later.rmdir()
    before = (out / "weights.safetensors").read_bytes()
    done = regard(arguments("gpt-tiny", story, out, "training.updates=30"))
    assert done.returncode == 0, done.stderr
    assert (out / "weights.safetensors").read_bytes() == before


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (["gpt-tiny", "--source", "a", "--target", "b"], "reads one text, not pairs: name it"),
        (["transformer-tiny", "--text", "a.txt"], "learns to translate, and plain text has no"),
        (["gpt-tiny", "--corpus", "pydoc", "--text", "a"], "--corpus does not go with --text"),
        (["gpt-tiny", "--text", "no.txt"], "no.txt: no such file, nor a text that needs none"),
    ],
)
def test_what_does_not_fit_is_refused(asked: list[str], sentence: str, tmp_path: Path) -> None:
    done = regard(["train", *asked, "--out", str(tmp_path / "run")])
    assert done.returncode == 2
    assert sentence in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("verb", "options", "sentence"),
    [
        ("translate", [], "`regard generate` writes with it"),
        ("fill", ["a [MASK]"], "kind gpt, which does not fill or embed: `regard generate`"),
        ("embed", ["--similarity", "a", "b"], "kind gpt, which does not fill or embed"),
        (
            "embed",
            ["--similarity", "a", "b", "--out", "v.npy"],
            "regard: --similarity compares the two sentences it is given: leave --out out\n",
        ),
        (
            "embed",
            ["a.txt", "--similarity", "a", "b"],
            "regard: --similarity compares the two sentences it is given: leave a.txt out\n",
        ),
        ("generate", ["a", "--threads", "100000"], "'--threads': choose 1024 or less (see regard"),
        ("generate", ["a", "--head", "1"], "add --show-attention"),
        ("generate", ["a", "--stop", ""], "give some characters"),
        ("generate", ["a", "--show-attention", "--layer", "7"], "there is no layer 7: choose one"),
        ("generate", ["a", "--show-attention", "--head", "7"], "there is no head 7: choose one"),
        (
            "generate",
            ["a", "--save-attention", "a.b"],
            "the file of --save-attention cannot be saved as 'a.b': end its name in",
        ),
        (
            "generate",
            ["a", "--temperature", "0"],
            "--temperature 0 is not possible: choose a number above 0, or --greedy for the most",
        ),
        *(
            (
                "generate",
                ["a", "--greedy", *drawn],
                "regard: --greedy takes the most probable token each time, and --temperature, "
                "--top-k and --top-p draw by chance: give one or the other\n",
            )
            for drawn in (["--temperature", "0.5"], ["--top-k", "0"], ["--top-p", "0.9"])
        ),
        ("generate", ["a", "--temperature", "nan"], "--temperature nan is not possible: choose a"),
        (
            "generate",
            ["a", "--top-p", "1.5"],
            "regard: --top-p 1.5 is not possible: choose a number above 0 and up to 1, which is "
            "all\n",
        ),
        (
            "generate",
            ["a", "--max-tokens", "0"],
            "regard: Invalid value for '--max-tokens': choose 1 or more (see regard generate",
        ),
        ("embed", ["--out", "v.txt"], "vectors are written as .npy"),
    ],
)
def test_a_wrong_word_says_the_right_one(
    verb: str, options: list[str], sentence: str, gpt: Path
) -> None:
    done = regard([verb, str(gpt), *options])
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stdout == ""
