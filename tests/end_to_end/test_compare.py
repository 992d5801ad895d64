"""`regard compare`: the same sentences for each, a table, JSON and a picture."""

import json
from pathlib import Path

import pytest

from regard.cli import main

from .commands import run
from .conftest import Toy


@pytest.fixture(scope="module")
def models(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A Transformer that was hardly trained, and a recurrent model that learned to reverse."""
    folder = tmp_path_factory.mktemp("compared")
    hardly, well = folder / "hardly", folder / "well"
    done = run(toy.arguments(hardly, "training.updates=2", "training.average_last=1"))
    assert done.returncode == 0, done.stderr
    files = [
        part
        for key, name in (
            ("--source", "train.a"),
            ("--target", "train.b"),
            ("--valid-source", "valid.a"),
            ("--valid-target", "valid.b"),
        )
        for part in (key, str(toy.folder / name))
    ]
    changes = (
        *("model.d_embedding=16", "model.d_hidden=32", "model.dropout=0.0", "text.kind=words"),
        *("training.updates=250", "training.batch_tokens=256", "training.learning_rate=0.01"),
        *("training.warmup=15", "training.validate_every=250", "training.average_last=1"),
        *("training.schedule=cosine", "training.label_smoothing=0.0"),
    )
    sets = [part for change in changes for part in ("--set", change)]
    done = run(["train", "bahdanau", *files, "--out", str(well), "--threads", "1", *sets])
    assert done.returncode == 0, done.stderr
    return hardly, well


def asked(toy: Toy, models: tuple[Path, Path], *more: str) -> list[str]:
    sides = ["--source", str(toy.folder / "valid.a"), "--target", str(toy.folder / "valid.b")]
    return ["compare", *map(str, models), *sides, "--parts", "2", "--device", "cpu", *more]


def test_json_says_who_is_better_and_how_sure(toy: Toy, models: tuple[Path, Path]) -> None:
    done = run(asked(toy, models, "--json"))
    assert done.returncode == 0, done.stderr
    compared = json.loads(done.stdout)
    hardly, well = compared["contestants"]
    assert (hardly["name"], well["name"]) == ("hardly", "well")
    assert (hardly["kind"], well["kind"]) == ("transformer", "bahdanau")
    assert well["exact"] > 0.6
    assert hardly["exact"] < 0.1
    assert well["against_best"] is None
    assert hardly["against_best"]["p"] < 0.05
    assert hardly["against_best"]["baseline"] == pytest.approx(well["bleu"])
    assert well["trained"]["updates"] == 250
    assert sum(part["n_sentences"] for part in well["by_length"]) == compared["n_sentences"]
    assert "hardly: translating\nwell: translating\n" in done.stderr


def test_the_table_and_the_picture(
    toy: Toy, models: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "lengths.svg"
    with pytest.raises(SystemExit) as left:
        main(asked(toy, models, "--save", str(picture)))
    assert left.value.code == 0
    said = capsys.readouterr().out
    assert "bahdanau" in said
    assert "BLEU by words of the source" in said
    assert "words of the source" in picture.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["M"], "compare needs two model folders or more: `regard evaluate` measures one"),
        (["M", "M"], "a model folder was named twice: name each once"),
        (["M", "N", "--save", "x.gif"], "a picture cannot be saved as 'x.gif': end its name in "),
        (["M", "N"], "references are missing: --target FILE, a line for each sentence"),
    ],
)
def test_what_is_refused(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["compare", *arguments])
    said = capsys.readouterr()
    assert left.value.code == 2
    assert said.err.startswith(f"regard: {sentence}")
    assert said.out == ""
