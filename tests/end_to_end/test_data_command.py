"""`regard data` and `regard train --corpus`, as they are typed: no file is needed to begin."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from regard.cli import main
from regard.corpora import CORPORA, SEED, TEXTS, open_corpus, split_of
from regard.systems import load
from regard.training import read_metrics

Done = subprocess.CompletedProcess[str]

SPLITS = ("train", "valid", "test", "combinations")
SMALL = ["--size", "60", "--valid-size", "7", "--test-size", "9"]
MICROSCOPIC = (
    *("model.d_model=8", "model.n_heads=2", "model.d_feedforward=16", "model.n_layers=1"),
    *("model.dropout=0.0", "text.kind=characters", "training.batch_tokens=256"),
    *("training.learning_rate=0.02", "training.warmup=5", "training.validate_every=20"),
    *("training.save_every=10", "training.average_last=1", "training.decodes_at_validation=false"),
)


def leave(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the command here and give its exit code and what it wrote."""
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    written = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, written.out, written.err


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def drawn(split: str, n: int, seed: int = SEED) -> list[tuple[str, str]]:
    examples = open_corpus("dates").examples(split, seed)
    return [(example.source, example.target) for example in islice(examples, n)]


def settings(*changes: str) -> list[str]:
    sets = [part for change in (*MICROSCOPIC, *changes) for part in ("--set", change)]
    return ["--device", "cpu", "--threads", "1", *sets]


def test_the_list(regard: Callable[..., Done]) -> None:
    done = regard(["data"])
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.rstrip() for line in done.stdout.splitlines()]
    assert rows[0].split() == ["corpus", "pairs", "what", "it", "is"]
    assert [row.split()[0] for row in rows[1 : 1 + len(CORPORA)]] == list(CORPORA)
    for embedded in (*CORPORA.values(), *TEXTS.values()):
        assert embedded.sentence in done.stdout


def test_some_are_shown_with_tabs_for_programs(regard: Callable[..., Done]) -> None:
    done = regard(["data", "dates", "--show", "4"])
    assert (done.returncode, done.stderr) == (0, "")
    pairs = [tuple(line.split("\t")) for line in done.stdout.splitlines()]
    assert pairs == drawn("train", 4)


def test_a_text_is_shown_or_written_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = leave(capsys, "data", "pydoc", "--show", "3")
    assert (code, len(out.splitlines())) == (0, 3)
    assert leave(capsys, "data", "pydoc", "--out", str(tmp_path / "new")) == (0, "", "")
    written = (tmp_path / "new" / "pydoc.txt").read_text(encoding="utf-8")
    assert written == "\n".join(TEXTS["pydoc"].texts())
    assert written.startswith(out)
    code, _, err = leave(capsys, "data", "pydoc", "--out", str(tmp_path / "new"))
    assert code == 2
    assert "already holds pydoc.txt: choose another --out, or replace what is there" in err


def test_another_split_and_another_seed_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["data", "dates", "--show", "3", "--split", "test", "--seed", "5"]
    code, out, _ = leave(capsys, *arguments)
    assert code == 0
    assert out == "".join(f"{source}\t{target}\n" for source, target in drawn("test", 3, 5))


def test_plain_parallel_files(regard: Callable[..., Done], tmp_path: Path) -> None:
    out = tmp_path / "new" / "dates"
    done = regard(["data", "dates", "--out", str(out), *SMALL])
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines() == [
        "train: 60 pairs",
        "valid: 7 pairs",
        "test: 9 pairs",
        "combinations: 9 pairs",
    ]
    assert sorted(files(out)) == sorted(
        f"{split}.{side}" for split in SPLITS for side in ("text", "iso")
    )
    for split, n in zip(SPLITS, (60, 7, 9, 9), strict=True):
        pairs = zip(lines(out / f"{split}.text"), lines(out / f"{split}.iso"), strict=True)
        assert list(pairs) == drawn(split, n)
    assert {split_of(text) for text in lines(out / "valid.text")} == {"valid"}
    assert [path.name for path in out.parent.iterdir()] == ["dates"]


def test_annotations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, _ = leave(capsys, "data", "dates", "--out", str(tmp_path), "--annotations", *SMALL)
    assert code == 0
    for split in SPLITS:
        records = [json.loads(line) for line in lines(tmp_path / f"{split}.jsonl")]
        assert [record["source"] for record in records] == lines(tmp_path / f"{split}.text")
        assert [record["target"] for record in records] == lines(tmp_path / f"{split}.iso")
        for record in records:
            words = record["target_side"]["words"]
            assert "".join(words) == record["target"]
            assert {words[target] for _, target in record["alignment"]} == set(words) - {"-"}
            assert record["tags"]


def test_files_that_are_there_are_replaced_only_when_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test.iso").write_text("mine\n", encoding="utf-8")
    (tmp_path / "thesis.txt").write_text("mine\n", encoding="utf-8")
    before = files(tmp_path)
    code, out, err = leave(capsys, "data", "dates", "--out", str(tmp_path), *SMALL)
    assert (code, out) == (2, "")
    assert err == (
        f"regard: {tmp_path} already holds test.iso: choose another --out, or replace what is "
        "there with --force\n"
    )
    assert files(tmp_path) == before
    code, _, _ = leave(capsys, "data", "dates", "--out", str(tmp_path), "--force", *SMALL)
    assert code == 0
    assert len(lines(tmp_path / "test.iso")) == 9
    assert lines(tmp_path / "thesis.txt") == ["mine"]
    code, _, err = leave(capsys, "data", "dates", "--out", str(tmp_path), *SMALL)
    assert code == 2
    assert "already holds train.text and 7 more: " in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_what_is_stopped_leaves_nothing_half_written(number: int, tmp_path: Path) -> None:
    out, partial = tmp_path / "dates", tmp_path / ".dates.partial"
    command = [sys.executable, "-m", "regard", "data", "dates", "--out", str(out)]
    # Tests that a shell runs in the background would hand on that Ctrl-C is ignored.
    command = ["env", "--default-signal=INT", *command, "--size", "9000000"]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as running:
        deadline = time.monotonic() + 60
        while not (partial / "train.iso").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert (partial / "train.iso").exists()
        os.kill(running.pid, number)
        assert running.stderr is not None
        said = running.stderr.read().decode()
    assert not out.exists()
    if number == signal.SIGINT:
        assert (running.returncode, said) == (130, "regard: interrupted\n")
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(SystemExit) as left:
        main(["data", "dates", "--out", str(out), *SMALL])
    assert left.value.code == 0
    assert list(tmp_path.iterdir()) == [out]
    assert len(files(out)) == 8


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["data", "datse", "--show", "3"], "there is no corpus 'datse'; did you mean dates?"),
        (
            ["data", "dates"],
            "say where to write with --out DIR, or print some pairs with --show 10",
        ),
        (
            ["data", "dates", "--out", "x", "--show", "3"],
            "--show prints and --out writes: choose one of them",
        ),
        (["data", "--show", "3"], f"say which corpus: {', '.join([*CORPORA, *TEXTS])}"),
        (
            ["data", "dates", "--pair", "en-fr", "--show", "3"],
            "the corpus dates is not of two languages: leave out 'en-fr'",
        ),
        (
            ["data", "dates", "--show", "3", "--split", "tests"],
            "dates:tests:3: there is no split 'tests'; did you mean test?",
        ),
        (["data", "dates", "--out", "file"], "file is a file: name a folder with --out"),
        (
            ["train", "transformer-tiny", "--corpus", "dates", "--data", "a.tsv"],
            "--corpus does not go with --source, --target or --data: to learn from files and a "
            "corpus together, name both with --data",
        ),
        (
            ["train", "transformer-tiny", "--corpus", "dates", "--source", "a", "--target", "b"],
            "--corpus does not go with --source, --target or --data: to learn from files and a "
            "corpus together, name both with --data",
        ),
        (
            ["train", "transformer-tiny", "--corpus", "dates:test"],
            "--corpus dates:test names a split: training takes train and valid by itself; leave "
            "it out, or use --data and --valid",
        ),
        (
            ["train", "transformer-tiny", "--corpus", "dates:train:50"],
            "--corpus dates:train:50 names a split: training takes train and valid by itself; "
            "leave it out, or use --data and --valid",
        ),
        (
            ["train", "transformer-tiny", "--corpus", "dtes"],
            "there is no corpus 'dtes'; did you mean dates?",
        ),
    ],
)
def test_mistakes_are_one_sentence_and_leave_nothing_behind(
    arguments: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    assert leave(capsys, *arguments) == (2, "", f"regard: {sentence}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_training_needs_no_file_and_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["train", "transformer-tiny", "--corpus", "dates:600", "--out", "run"]
    code, out, err = leave(capsys, *command, *settings("training.updates=40"))
    assert (code, out) == (0, ""), err
    assert err.splitlines()[:2] == ["Preparing dates:train:600", "600 pairs read, 600 kept"]
    recipe = load("run").recipe
    assert list(recipe.data.train) == ["dates:train:600"]
    assert list(recipe.data.valid) == ["dates:valid"]
    losses = [
        record["loss"]
        for record in read_metrics(Path("run/metrics.jsonl"))
        if record["event"] == "validated"
    ]
    assert len(losses) == 2
    assert losses[1] < losses[0]
    prepared = Path("run/training/data/train/header.json")
    written_at = prepared.stat().st_mtime_ns
    code, _, err = leave(capsys, *command, *settings("training.updates=50"))
    assert code == 0, err
    assert "Finished after 50 updates" in err
    assert prepared.stat().st_mtime_ns == written_at
    code, _, err = leave(
        capsys, *command[:3], "dates:500", *command[4:], *settings("training.updates=50")
    )
    assert code == 2
    assert "data.train" in err


def test_validation_files_take_the_place_of_the_corpus_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["train", "transformer-tiny", "--corpus", "dates:300", "--out", "run"]
    changes = settings("training.updates=1")
    code, _, err = leave(capsys, *command, "--valid", "dates:combinations:20", *changes)
    assert code == 0, err
    assert list(load("run").recipe.data.valid) == ["dates:combinations:20"]
