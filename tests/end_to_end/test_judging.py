"""`regard score`, `evaluate`, `average` and `info` on a model that was really trained."""

import json
import math
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from safetensors.torch import load_file

from regard.cli import main

CPU = ("--device", "cpu", "--threads", "1")


@pytest.fixture(scope="session")
def model(finished) -> Path:
    done, folder = finished
    assert done.returncode == 0, done.stderr
    return folder


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str]) -> Callable[[Sequence[str]], Done]:
    """The same command in this process, which is faster."""

    def run(arguments: Sequence[str]) -> Done:
        with pytest.raises(SystemExit) as left:
            main(list(arguments))
        written = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return Done(left.value.code, written.out, written.err)

    return run


@pytest.fixture
def files(toy) -> list[str]:
    return ["--source", str(toy.folder / "valid.a"), "--target", str(toy.folder / "valid.b")]


class TestScore:
    def test_one_number_a_line_and_totals_beside(self, regard, model, files) -> None:
        done = regard(["score", str(model), *files, *CPU])
        assert done.returncode == 0, done.stderr
        numbers = [float(line) for line in done.stdout.splitlines()]
        assert len(numbers) == 30
        assert all(number < 0 for number in numbers)
        assert done.stderr.startswith("30 lines, ")
        total = float(done.stderr.partition("log-probability ")[2].partition(",")[0])
        assert total == pytest.approx(sum(numbers), abs=1e-2)

    def test_tokens_and_json_say_the_same(self, here, model, files) -> None:
        plain = here(["score", str(model), *files, *CPU, "--tokens"]).stdout.splitlines()
        record = json.loads(
            here(["score", str(model), *files, *CPU, "--json"]).stdout.splitlines()[0]
        )
        total, tokens = plain[0].split("\t")
        assert float(total) == pytest.approx(record["log_probability"], abs=1e-3)
        assert tokens.split()[::2] == record["pieces"]
        assert record["pieces"][-1] == "</s>"
        assert sum(map(float, tokens.split()[1::2])) == pytest.approx(float(total), abs=1e-2)

    def test_unequal_files_are_refused(self, here, model, files, tmp_path) -> None:
        (tmp_path / "short").write_text("a b\n")
        done = here(["score", str(model), *files[:3], str(tmp_path / "short"), *CPU])
        assert done.returncode == 2
        assert "has 30 lines and" in done.stderr


class TestEvaluate:
    @pytest.fixture(scope="class")
    @classmethod
    def saved(cls, regard, model, toy, tmp_path_factory):
        out = tmp_path_factory.mktemp("outputs") / "out"
        files = ["--source", str(toy.folder / "valid.a"), "--target", str(toy.folder / "valid.b")]
        done = regard(
            [
                "evaluate",
                str(model),
                *files,
                *CPU,
                "--samples",
                "50",
                "--json",
                "--save-outputs",
                str(out),
            ]
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout), out

    def test_a_model_and_its_output_measure_the_same(self, here, saved, files) -> None:
        record, out = saved
        arguments = ["evaluate", "--outputs", str(out), *files[2:], "--samples", "50", "--json"]
        again = json.loads(here(arguments).stdout)
        assert again["measured"] == record["measured"]
        assert again["exact"] == record["exact"]
        assert [one["measure"] for one in record["measured"]] == ["bleu", "chrf", "ter"]
        assert again["perplexity"] is None

    def test_perplexity_is_that_of_score(self, here, model, saved, files) -> None:
        record, _ = saved
        lines = here(["score", str(model), *files, *CPU]).stdout.splitlines()
        expected = math.exp(-sum(map(float, lines)) / record["n_tokens"])
        assert record["perplexity"] == pytest.approx(expected, rel=1e-4)

    def test_the_table_compares(self, here, saved, toy, tmp_path) -> None:
        _, out = saved
        reference = toy.folder / "valid.b"
        done = here(
            [
                "evaluate",
                "--outputs",
                str(reference),
                "--target",
                str(reference),
                "--against",
                str(out),
                "--samples",
                "100",
                "--measure",
                "chrf",
            ]
        )
        assert done.returncode == 0, done.stderr
        (row,) = [line.split() for line in done.stdout.splitlines() if line.startswith("chrF  ")][
            :1
        ]
        assert row[1] == "100.00"
        assert row[-1] == "better"
        assert "exact match   100.0 %" in done.stdout
        assert "BLEU" not in done.stdout
        assert "chrF  nrefs:1|bs:100|seed:12345" in done.stdout

    def test_a_corpus_of_our_own(self, here, model) -> None:
        done = here(
            ["evaluate", str(model), "--corpus", "dates:test:7", "--samples", "5", "--json", *CPU]
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["n_sentences"] == 7

    def test_chinese_is_cut_into_characters(self, here, tmp_path) -> None:
        (tmp_path / "reference").write_text("今天天气很好。\n我喜欢机器学习。\n", encoding="utf-8")
        (tmp_path / "outputs").write_text("今天天气好。\n我喜欢机器学习。\n", encoding="utf-8")
        done = here(
            [
                "evaluate",
                "--outputs",
                str(tmp_path / "outputs"),
                "--target",
                str(tmp_path / "reference"),
                "--samples",
                "10",
            ]
        )
        assert "tok:zh" in done.stdout
        assert "asian:yes" in done.stdout

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            ([], "evaluate needs a model folder or --outputs FILE, one of them"),
            (["M"], "references are missing: --target FILE, a line for each sentence"),
            (
                ["M", "--target", "T"],
                "a model needs something to translate: --source FILE beside --target",
            ),
            (
                ["M", "--target", "T", "--corpus", "C"],
                "--corpus stands in place of --source and --target: give one of them",
            ),
            (
                ["--outputs", "T", "--target", "T", "--measure", "rouge"],
                "there is no measure 'rouge': choose among bleu, chrf, ter",
            ),
        ],
    )
    def test_what_is_refused(self, here, model, files, arguments, sentence) -> None:
        real = {"M": str(model), "T": files[3]}
        done = here(["evaluate", *(real.get(word, word) for word in arguments)])
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"regard: {sentence}\n"

    def test_outputs_that_are_too_few(self, here, files, tmp_path) -> None:
        (tmp_path / "few").write_text("a\n")
        done = here(["evaluate", "--outputs", str(tmp_path / "few"), *files[2:]])
        assert done.returncode == 2
        assert "few has 1 line and there are 30 references" in done.stderr


class TestAverage:
    def test_of_models_is_a_model(self, here, model, files, tmp_path) -> None:
        done = here(["average", str(model), str(model), "--out", str(tmp_path / "mean")])
        assert done.returncode == 0, done.stderr
        before = load_file(model / "weights.safetensors")
        after = load_file(tmp_path / "mean" / "weights.safetensors")
        assert before.keys() == after.keys()
        assert all(before[name].equal(after[name]) for name in before)
        scores = [here(["score", str(m), *files, *CPU]) for m in (model, tmp_path / "mean")]
        assert scores[0].stdout == scores[1].stdout != ""

    def test_of_the_last_checkpoints(self, regard, model, tmp_path) -> None:
        done = regard(["average", str(model), "--last", "2", "--out", str(tmp_path / "mean")])
        assert done.returncode == 0, done.stderr
        last = sorted((model / "training" / "checkpoints").glob("0*"))[-2:]
        one, two = (load_file(path / "weights.safetensors") for path in last)
        mean = load_file(tmp_path / "mean" / "weights.safetensors")
        for name, tensor in mean.items():
            expected = (one[name].double() + two[name].double()) / 2
            assert tensor.equal(expected.to(tensor.dtype)), name

    def test_what_is_refused(self, here, model, tmp_path) -> None:
        mean = str(tmp_path / "mean")
        fixture = Path(__file__).parents[1] / "fixtures" / "model-format-1"
        cases = {
            ("average", str(model), "--out", mean): "there is only one model to average",
            ("average", str(model), "--last", "99", "--out", mean): "of 99 checkpoints: ask for",
            ("average", str(fixture), "--last", "2", "--out", mean): "has no checkpoints",
            ("average", str(model), str(fixture), "--out", mean): "have different vocabularies",
            ("average", str(model), str(model), "--out", str(model)): "is there already",
            ("average", str(model), str(model), "--last", "2", "--out", mean): "and 2 are named",
        }
        for arguments, said in cases.items():
            done = here(list(arguments))
            assert (done.returncode, done.stdout) == (2, "")
            assert said in done.stderr
            assert not Path(mean).exists()


class TestInfo:
    def test_says_what_is_there(self, regard, model) -> None:
        done = regard(["info", str(model)])
        assert done.returncode == 0, done.stderr
        rows = dict(line.split("  ", 1) for line in done.stdout.splitlines())
        assert f"in {model} (format 1)" in rows["model"]
        assert "1 + 1 layers of width 16, 2 heads" in rows["network"]
        assert rows["vocabulary"].strip() == "12 tokens (whole words) for both sides"
        assert "60 updates" in rows["training"]
        assert "BLEU" in rows["best"]
        assert "▁" in rows["valid loss"]
        assert "weights.safetensors" in rows["files"]

    def test_json(self, here, model) -> None:
        facts = json.loads(here(["info", str(model), "--json"]).stdout)
        weights = load_file(model / "weights.safetensors")
        assert facts["parameters"] == sum(one.numel() for one in weights.values())
        assert [update for update, _ in facts["training"]["losses"]] == [10, 20, 30, 40, 50, 60]
        assert [one["update"] for one in facts["training"]["validations"]][:3] == [20, 40, 60]
        assert facts["files"]["weights.safetensors"] > 0

    def test_a_folder_without_metrics(self, here, model, tmp_path) -> None:
        copy = Path(shutil.copytree(model, tmp_path / "copy"))
        (copy / "metrics.jsonl").unlink()
        done = here(["info", str(copy)])
        assert done.returncode == 0
        assert "nothing is known: there is no metrics.jsonl" in done.stdout
