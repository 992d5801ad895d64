"""`regard train`, as it is typed: from two files to a model folder."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.cli import main
from regard.config import undecided
from regard.decoding import greedy
from regard.systems import load
from regard.training import read_metrics

Done = subprocess.CompletedProcess[str]
Finished = tuple[Done, Path]


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def refused(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> str:
    """What a command that is refused says: one line, exit 2, and nothing on stdout."""
    with pytest.raises(SystemExit) as left:
        main(arguments)
    said = capsys.readouterr()
    assert left.value.code == 2, said.err
    assert said.out == ""
    lines = [line for line in said.err.splitlines() if line.startswith("regard: ")]
    assert len(lines) == 1, said.err
    assert said.err.endswith(f"{lines[0]}\n")
    return lines[0].removeprefix("regard: ")


def test_the_folder_is_a_complete_model(finished: Finished) -> None:
    done, out = finished
    assert done.returncode == 0, done.stderr
    names = {path.name for path in out.iterdir()}
    assert names == {
        "CHECKSUMS",
        "FORMAT",
        "metrics.jsonl",
        "recipe.toml",
        "tokenizer.json",
        "training",
        "weights.safetensors",
    }
    assert not [path for path in out.rglob("*") if "partial" in path.name or ".old" in path.name]
    loaded = load(out)
    assert undecided(loaded.recipe) == ()
    assert loaded.recipe.model.dropout == 0.1  # derived: the data is read a few times
    assert loaded.recipe.text.size == len(loaded.source_tokenizer) == 12
    source = loaded.source_tokenizer.encode("a b c")
    assert len(source) == 3
    (hypothesis,) = greedy(loaded.model, torch.tensor([[*source, 3]]))
    assert set(loaded.target_tokenizer.decode(hypothesis.tokens)) <= set("abcdefgh ⁇")


def test_progress_is_plain_lines_on_stderr(finished: Finished) -> None:
    done, out = finished
    assert done.stdout == ""
    assert "\x1b" not in done.stderr
    assert "\r" not in done.stderr
    lines = done.stderr.splitlines()
    assert lines[0].startswith("Preparing ")
    assert re.fullmatch(r"\d+ pairs read, \d+ kept(; dropped: \d+ duplicate)?.*", lines[1])
    (model,) = [line for line in lines if line.startswith("transformer-tiny: ")]
    assert re.fullmatch(
        r"transformer-tiny: [\d,]+ parameters, 1 \+ 1 layers of width 16, 2 heads, "
        rf"feed-forward 32, dropout 0\.1; into {re.escape(str(out))}",
        model,
    )
    begun = done.stderr.partition("validation loss")[0]
    assert re.search(r"^Vocabulary: 12 tokens .*source [\d.]+ tokens a word, target ", begun, re.M)
    assert re.search(
        r"^Up to 60 updates, 128 target tokens each; learning rate [\d.e-]+ ", begun, re.M
    )
    assert re.search(r"^Device cpu, \d+ threads?, (C\+\+ kernels|plain torch)", begun, re.M)
    validated = [line for line in lines if "validation loss" in line]
    assert len(validated) == 3
    assert re.fullmatch(
        r"update 20: validation loss \d\.\d{3}, perplexity \d+\.\d\d, BLEU \d+\.\d\d, "
        r"chrF \d+\.\d\d  \(best so far\)",
        validated[0],
    )
    samples = [line.split()[0] for line in lines if re.match(" +[a-z]", line)]
    assert samples == ["source", "reference", "output"] * 2 * 3
    (last,) = [line for line in lines if line.startswith("Finished after 60 updates and 0:")]
    assert re.search(
        r"all updates done\. Kept: (best validated|average of the last 3 ch.*)\.$", last
    )
    assert re.fullmatch(
        rf"Next: echo '[a-h ]+' \| regard translate {re.escape(str(out))}", lines[-1]
    )


def test_it_learns(finished: Finished) -> None:
    _, out = finished
    records = read_metrics(out / "metrics.jsonl")
    steps = [record for record in records if record["event"] == "stepped"]
    assert [record["update"] for record in steps] == [10, 20, 30, 40, 50, 60]
    validations = [record["loss"] for record in records if record["event"] == "validated"]
    assert len(validations) == 3
    assert validations[-1] < validations[0] < 2.6  # log of the number of tokens is 2.48
    assert steps[-1]["loss"] < steps[0]["loss"]
    assert [record["event"] for record in records].count("finished") == 1


def test_a_finished_run_says_so_and_changes_nothing(
    finished: Finished, toy: Any, regard: Callable[..., Done], tmp_path: Path
) -> None:
    done, there = finished
    out = tmp_path / "run"
    shutil.copytree(there, out)
    before = contents(out)
    again = regard(toy.arguments(out))
    assert again.returncode == 0
    (last,) = [line for line in done.stderr.splitlines() if line.startswith("Finished ")]
    assert last in again.stderr.splitlines()
    assert contents(out) == before


def test_a_run_can_be_made_longer(
    finished: Finished, toy: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    shutil.copytree(finished[1], out)
    with pytest.raises(SystemExit) as left:
        main(toy.arguments(out, "training.updates=70"))
    assert left.value.code == 0
    assert "Finished after 70 updates" in capsys.readouterr().err
    updates = [r["update"] for r in read_metrics(out / "metrics.jsonl") if r["event"] == "stepped"]
    assert updates == [10, 20, 30, 40, 50, 60, 70]


def test_without_validation_files_some_pairs_are_held_out(
    toy: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = toy.arguments(tmp_path / "run", "training.updates=10")
    at = arguments.index("--valid-source")
    with pytest.raises(SystemExit) as left:
        main([*arguments[:at], *arguments[at + 4 :]])
    said = capsys.readouterr().err
    assert left.value.code == 0
    assert "Note: no validation files were named: 5 training pairs are held out instead" in said
    assert "update 10: validation loss" in said
    load(tmp_path / "run")


def test_time_over_before_the_first_validation_still_gives_a_model(
    toy: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(toy.arguments(tmp_path / "run", "training.minutes=0.0001"))
    said = capsys.readouterr().err
    assert left.value.code == 0, said
    assert "0.0001 minutes are over. Kept: best validated." in said
    load(tmp_path / "run")


def test_validation_pairs_inside_the_training_data_are_told(
    toy: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.tsv").write_text("a b\tb a\nc d e\te d c\na\ta\n" * 2, encoding="utf-8")
    (tmp_path / "valid.tsv").write_text("c d e\te d c\nf g\tg f\n", encoding="utf-8")
    files = ["--data", str(tmp_path / "train.tsv"), "--valid", str(tmp_path / "valid.tsv")]
    rest = toy.arguments(tmp_path / "run", "training.updates=1")
    with pytest.raises(SystemExit):
        main([*rest[:2], *files, *rest[rest.index("--out") :]])
    said = capsys.readouterr().err
    assert (
        "Note: 1 of 2 validation pairs (50.0%) are also in the training data: validation will "
        "look better than it is. Take them out of one."
    ) in said
    assert "       3 duplicate: the same pair was seen before, for example 'a b ||| b a'" in said


def test_what_is_dropped_is_shown_as_it_is(
    toy: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Brackets and colons are no markup."""
    odd = "[/b] [bold] :smile: [link=x]"
    (tmp_path / "train.tsv").write_text(f"{odd}\t\na b\tb a\n", encoding="utf-8")
    rest = toy.arguments(tmp_path / "[/run]", "training.updates=1")
    with pytest.raises(SystemExit) as left:
        main([*rest[:2], "--data", str(tmp_path / "train.tsv"), *rest[rest.index("--out") :]])
    said = capsys.readouterr().err
    assert left.value.code == 0, said
    assert f"1 empty: one side is empty, for example '{odd} ||| '" in said
    assert f"into {tmp_path / '[/run]'}" in said
    assert "there are too few pairs to hold some out: the weights of the end will be kept" in said


def broken(folder: Path, toy: Any) -> dict[str, list[str]]:
    """Commands that cannot work, by name."""
    (folder / "short.b").write_text("b a\n", encoding="utf-8")
    (folder / "empty.a").touch()
    (folder / "empty.b").touch()
    (folder / "latin.a").write_bytes(b"a b\nna\xefve\n")
    (folder / "two.b").write_text("b a\nc\n", encoding="utf-8")
    (folder / "unlike.a").write_text("d e\nf\n", encoding="utf-8")
    (folder / "file").touch()
    (folder / "other").mkdir()
    (folder / "other" / "thesis.txt").touch()
    out = str(folder / "run")
    good = toy.arguments(out)

    def pairs(source: str, target: str) -> list[str]:
        files = ["--source", str(folder / source), "--target", str(folder / target)]
        return [*good[:2], *files, *good[good.index("--out") :]]

    return {
        "unequal": ["train", "transformer-tiny", "--source", str(toy.folder / "train.a"),
                    "--target", str(folder / "short.b"), *good[good.index("--out") :]],
        "missing": pairs("nowhere.a", "short.b"),
        "empty": pairs("empty.a", "empty.b"),
        "encoding": pairs("latin.a", "two.b"),
        "preset": ["train", "transformer-tinny", *good[2:]],
        "key": [*good, "--set", "model.n_layer=2"],
        "value": [*good, "--set", "model.n_heads=3"],
        "alone": ["train", "transformer-tiny", "--source", "x.a", "--out", out],
        "nothing": ["train", "transformer-tiny", "--out", out],
        "is a file": toy.arguments(folder / "file"),
        "below a file": toy.arguments(folder / "file" / "run"),
        "not a run": toy.arguments(folder / "other"),
        "vocabulary": [*good, "--set", "text.kind=sentencepiece", "--set", "text.size=9000"],
        "two tables": [*pairs("unlike.a", "two.b"), "--set", "text.is_joint=false"],
        "device": [*good, "--device", "tpu"],
        "shard": [*good, "--set", "training.shard=true"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("unequal", "{toy}/train.a has 300 lines and {tmp}/short.b has 1: line n of one has to "),
        ("missing", "{tmp}/nowhere.a: no such file. Paths are taken from the current folder"),
        ("empty", "{tmp}/empty.a|{tmp}/empty.b holds no pairs. Is it the right file?"),
        ("encoding", "{tmp}/latin.a, line 2: byte 3 of the line (0xEF) is not UTF-8. Convert the"),
        ("preset", "there is no preset 'transformer-tinny'; did you mean transformer-tiny?"),
        ("key", "there is no model.n_layer; did you mean model.n_layers?"),
        ("value", "model: d_model = 16 cannot be divided among n_heads = 3: choose a width"),
        ("alone", "--source needs --target beside it: two files, line by line"),
        ("nothing", "there is nothing to learn from: name the training files with --source and "),
        ("is a file", "{tmp}/file exists and holds no training run: choose another --out"),
        ("below a file", "{tmp}/file/run cannot be made: Not a directory; choose another --out"),
        ("not a run", "{tmp}/other exists and holds no training run: choose another --out"),
        ("vocabulary", "A vocabulary of 9000 is more than these 600 sentences can carry: the "),
        ("two tables", "model.tie = three-way shares one table between source and target, and "),
        ("device", "--device tpu is not known: choose auto, cpu, cuda or mps"),
        ("shard", "training.shard = true spreads a model over several processes: start them with"),
    ],
)
def test_mistakes_are_one_sentence_and_leave_nothing_behind(
    name: str, sentence: str, toy: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = broken(tmp_path, toy)[name]
    before = sorted(tmp_path.rglob("*"))
    said = refused(capsys, arguments)
    assert said.startswith(sentence.format(toy=toy.folder, tmp=tmp_path))
    assert sorted(tmp_path.rglob("*")) == before


def test_a_mistake_mended_the_same_folder_serves(
    toy: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    refused(capsys, toy.arguments(out, "text.kind=sentencepiece", "text.size=9000"))
    with pytest.raises(SystemExit) as left:
        main(toy.arguments(out, "training.updates=1"))
    assert left.value.code == 0


def test_another_recipe_does_not_take_over_a_run(
    finished: Finished, toy: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    shutil.copytree(finished[1], out)
    before = contents(out)
    assert refused(capsys, toy.arguments(out, "model.d_model=32")) == (
        f"{out} holds a run with model.d_model = 16, not 32: give the same recipe and files to "
        "continue it, or another --out to start anew"
    )
    assert contents(out) == before


def test_a_real_process_exits_with_2(toy: Any, regard: Callable[..., Done], tmp_path: Path) -> None:
    done = regard(toy.arguments(tmp_path / "run", "model.n_layer=2"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("regard: there is no model.n_layer; did you mean model.n_layers?")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_metrics_are_json_lines(finished: Finished) -> None:
    lines = (finished[1] / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    last = json.loads(lines[-1])
    assert last["event"] == "finished"
    assert last["reason"] == "all updates done"
    assert (last["update"], last["chosen"]) == (60, last["chosen"])


def test_curves_for_tensorboard(toy: Any, regard: Callable[..., Done], tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = regard([*toy.arguments(out, "training.updates=10"), "--tensorboard"])
    assert done.returncode == 0, done.stderr
    (written,) = (out / "tensorboard").iterdir()
    events = written.read_bytes()
    for name in (b"train/loss", b"train/learning rate", b"valid/perplexity", b"valid/BLEU"):
        assert name in events


def test_minutes_are_a_budget_and_a_dry_run_leaves_nothing(
    toy: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a number of updates all follows from the time, and the end is within it."""
    out = tmp_path / "run"
    arguments = toy.arguments(out, "training.warmup=auto", "training.validate_every=auto")
    at = arguments.index("training.updates=60")
    arguments = [*arguments[: at - 1], *arguments[at + 1 :], "--minutes", "0.02"]
    with pytest.raises(SystemExit) as left:
        main([*arguments, "--dry-run"])
    said = capsys.readouterr().err
    assert left.value.code == 0, said
    assert "0.02 minutes, about " in said
    assert "s an update" in said
    assert "Nothing was trained, and nothing written." in said
    assert not out.exists()
    with pytest.raises(SystemExit) as left:
        main(arguments)
    said = capsys.readouterr().err
    assert left.value.code == 0, said
    assert "0.02 minutes are over. Kept:" in said
    recipe = load(out).recipe
    assert isinstance(recipe.training.updates, int)
    assert recipe.training.minutes == 0.02
    kept = (out / "weights.safetensors").read_bytes()
    with pytest.raises(SystemExit):
        main(arguments)  # it is over, and stays as it is
    assert (out / "weights.safetensors").read_bytes() == kept


def test_two_limits_of_time_are_refused(
    toy: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(
        capsys, [*toy.arguments(tmp_path / "run", "training.minutes=1.0"), "--minutes", "2"]
    )
    assert said == "--minutes and --set training.minutes both limit the time: leave one out"
