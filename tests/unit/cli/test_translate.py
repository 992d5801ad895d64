"""The options of `regard translate`, and the sentences with which it refuses."""

import importlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from regard.cli.searching import WIDEST, why_left_out
from regard.decoding import WIDEST as widest_of_a_search

# `regard.cli.main` is also the function that its package exports.
command_line = importlib.import_module("regard.cli.main")

MODEL = Path(__file__).parents[2] / "fixtures" / "model-format-1"


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


Translate = Callable[..., Done]


@pytest.fixture
def translate(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Translate:
    """Run the command on a file that holds what is given."""

    def run(*arguments: object, given: str | bytes = "a dog\n", model: Path = MODEL) -> Done:
        file = tmp_path / "given"
        file.write_bytes(given.encode() if isinstance(given, str) else given)
        words = ["translate", model, file, *arguments, "--device", "cpu"]
        with pytest.raises(SystemExit) as left:
            command_line.main([str(word) for word in words])
        written = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return Done(left.value.code, written.out, written.err)

    return run


def test_what_stands_before_invalid_bytes_is_translated(translate: Translate) -> None:
    good = translate(given="the dog sleeps\na cat runs\n").stdout
    done = translate(given=b"the dog sleeps\na cat runs\nth\xffe\n")
    assert (done.returncode, done.stdout) == (2, good)
    assert "line 3: byte 3 of the line (0xFF) is not UTF-8" in done.stderr


class TestModelFolders:
    def test_missing(self, translate: Translate, tmp_path: Path) -> None:
        done = translate(model=tmp_path / "nothing")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f"regard: there is no model folder {tmp_path / 'nothing'}: give the folder that "
            "`regard train --out` made\n"
        )

    @pytest.fixture
    def copy(self, tmp_path: Path) -> Path:
        return Path(shutil.copytree(MODEL, tmp_path / "model"))

    def test_cut_short(self, translate: Translate, copy: Path) -> None:
        weights = copy / "weights.safetensors"
        weights.write_bytes(weights.read_bytes()[:5000])
        done = translate(model=copy)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{weights} is damaged or was cut short" in done.stderr
        assert done.stderr.count("\n") == 1

    def test_without_weights(self, translate: Translate, copy: Path) -> None:
        (copy / "weights.safetensors").unlink()
        done = translate(model=copy)
        assert done.returncode == 2
        assert "has no weights.safetensors yet" in done.stderr

    def test_of_a_newer_format(self, translate: Translate, copy: Path) -> None:
        (copy / "FORMAT").write_text("99\n")
        done = translate(model=copy)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{copy} was made by a newer Regard (format 99" in done.stderr


class TestUnknownWords:
    def test_are_counted_and_said_once_at_the_end(self, translate: Translate) -> None:
        given = "the dog sleeps\na zebra runs\n\nthe yak, a zebra\n"
        done = translate(given=given)
        assert done.returncode == 0
        assert done.stdout.count("\n") == 4
        assert done.stderr == (
            "regard: 4 words in 2 lines are not in the vocabulary (first: 'zebra', line 2): they "
            "were read as unknown\n"
        )
        records = [
            json.loads(line) for line in translate("--json", given=given).stdout.split("\n")[:-1]
        ]
        unknown = [record.get("source_words_unknown") for record in records]
        assert unknown == [None, ["zebra"], None, ["yak", ",", "zebra"]]

    def test_one_is_one(self, translate: Translate) -> None:
        assert translate(given="the dog\n\na zebra\n").stderr == (
            "regard: 1 word is not in the vocabulary ('zebra', line 3): it was read as unknown\n"
        )

    def test_that_are_cut_off_were_not_read(self, translate: Translate) -> None:
        done = translate("--max-tokens", 2, given="the dog zebra\nyak yak\n")
        assert done.stderr == (
            "regard: line 1 is too long: its last 1 token was left out (--max-tokens allows "
            "more)\n"
            "regard: 2 words in 1 line are not in the vocabulary (first: 'yak', line 2): they were "
            "read as unknown\n"
        )

    def test_are_told_before_a_fault(self, translate: Translate) -> None:
        done = translate(given=b"a zebra\n\xff\n")
        assert done.returncode == 2
        first, second = done.stderr.splitlines()
        assert "'zebra', line 1" in first
        assert "line 2: byte 1 of the line (0xFF) is not UTF-8" in second


class TestOptions:
    def test_n_best_lines_of_an_input_come_together(self, translate: Translate) -> None:
        done = translate("--n-best", 3, given="the dog sleeps\n\na cat runs\n")
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        assert [row[0] for row in rows] == ["1"] * 3 + ["2"] + ["3"] * 3
        scores = [float(row[1]) for row in rows]
        assert scores[:3] == sorted(scores[:3], reverse=True)
        assert rows[0][2] == translate(given="the dog sleeps\n").stdout.strip()

    def test_alignments_and_scores_follow_the_text(self, translate: Translate) -> None:
        done = translate("--alignments", "--scores", given="the dog sleeps\n")
        text, links, scores = done.stdout.rstrip("\n").split(" ||| ")
        assert len(links.split()) == len(text.split())
        assert {int(link.split("-")[0]) for link in links.split()} <= {0, 1, 2}
        assert len(scores.split()) == len(text.split()) + 1
        assert all(float(score) <= 0 for score in scores.split())

    def test_json_tells_all(self, translate: Translate) -> None:
        done = translate(
            "--json", "--attention", "--alignments", "--n-best", 2, given="the dog sleeps\n\n"
        )
        first, second, empty = map(json.loads, done.stdout.splitlines())
        assert (first["line"], first["rank"], second["rank"], empty["line"]) == (1, 1, 2, 2)
        assert (empty["text"], empty["pieces"], empty["alignment"]) == ("", [], [])
        assert first["source"] == "the dog sleeps"
        assert first["pieces"][-1] == "</s>"
        assert len(first["pieces"]) == len(first["text"].split()) + 1
        assert sum(first["piece_log_probabilities"]) == pytest.approx(
            first["log_probability"], abs=1e-4
        )
        attention = first["attention"]
        assert attention["source_words"] == ["the", "dog", "sleeps"]
        assert [sum(row) for row in attention["weights"]] == pytest.approx(
            [1.0] * len(attention["target_words"]), abs=1e-4
        )
        assert len(first["alignment"]) == len(attention["target_words"])

    def test_attention_needs_json(self, translate: Translate) -> None:
        done = translate("--attention", given="the dog\n")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "regard: --attention gives the weights as JSON: add --json\n"

    def test_files_follow_each_other_into_a_file(
        self, translate: Translate, tmp_path: Path
    ) -> None:
        (tmp_path / "a").write_text("the dog sleeps\n")
        (tmp_path / "b").write_text("a cat runs")
        done = translate(tmp_path / "a", tmp_path / "b", "--out", tmp_path / "out", given="")
        assert (done.returncode, done.stdout) == (0, "")
        assert (tmp_path / "out").read_text() == translate(
            given="the dog sleeps\na cat runs\n"
        ).stdout

    def test_prefixes_and_words_for_all_lines(self, translate: Translate) -> None:
        done = translate(
            "--prefix", "hund", "--must", "katze", "--max-length", 9, given="the dog\na cat\n"
        )
        for line in done.stdout.splitlines():
            assert line.startswith("hund")
            assert "katze" in line
        assert done.stdout.count("\n") == 2

    def test_prefixes_and_words_for_each_line(self, translate: Translate, tmp_path: Path) -> None:
        (tmp_path / "prefixes").write_text("die\n\n")
        (tmp_path / "must").write_text('["hund", "katze"]\n\n')
        arguments = ("--prefixes", tmp_path / "prefixes", "--must-file", tmp_path / "must")
        first, second = translate(*arguments, given="the dog\na cat\n").stdout.splitlines()
        assert first.startswith("die")
        assert {"hund", "katze"} <= set(first.split())
        assert second == translate(given="a cat\n").stdout.strip()
        done = translate(*arguments, given="the dog\na cat\nthe cat\n")
        assert done.returncode == 2
        assert done.stderr == (
            f"regard: {tmp_path / 'prefixes'} has 2 lines, fewer than the text: it needs one for "
            "each line\n"
        )

    def test_a_must_file_is_json(self, translate: Translate, tmp_path: Path) -> None:
        (tmp_path / "must").write_text("katze\n")
        done = translate("--must-file", tmp_path / "must", given="the dog\n")
        assert done.returncode == 2
        assert done.stderr == (
            f"regard: {tmp_path / 'must'}, line 1: 'katze' is no list of words. Each line is JSON, "
            'for example ["machine learning", "attention"], or empty\n'
        )

    def test_samples_differ_by_seed_alone(self, translate: Translate) -> None:
        def drawn(seed: int) -> str:
            arguments = ("--temperature", 5, "--n-best", 3, "--max-length", 6, "--seed", seed)
            return translate(*arguments, given="the dog sleeps\na cat\n").stdout

        assert drawn(1) == drawn(1) != drawn(2)
        assert drawn(1).count("\n") == 6

    def test_models_vote(self, translate: Translate) -> None:
        done = translate("--ensemble", MODEL, "--beam", 3, given="the dog sleeps\n")
        assert done.stdout == translate("--beam", 3, given="the dog sleeps\n").stdout

    def test_impossible_choices_are_one_sentence(self, translate: Translate) -> None:
        done = translate("--n-best", 9, given="the dog\n")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            "regard: a beam of 5 cannot give the 9 best outputs: make the beam 9 or wider\n"
        )

    def test_what_must_be_there_is_not_drawn(self, translate: Translate) -> None:
        done = translate("--sample", "--must", "hund")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            "regard: words that must be there are searched for, not drawn: leave out sampling\n"
        )

    @pytest.mark.parametrize("phrase", ["", "  "])
    def test_an_empty_phrase_is_not_the_vocabularys_fault(
        self, translate: Translate, phrase: str
    ) -> None:
        done = translate("--must", phrase)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            "regard: an empty phrase cannot be asked for: say which words the translation must "
            "contain\n"
        )

    @pytest.mark.parametrize("drawing", [["--sample"], ["--temperature", "2"], ["--top-k", "3"]])
    def test_a_beam_is_not_drawn_from(self, translate: Translate, drawing: list[str]) -> None:
        done = translate(*drawing, "--beam", 5)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            "regard: --beam searches for the best, and --sample, --temperature, --top-k and "
            "--top-p draw by chance: give one or the other\n"
        )

    def test_a_temperature_is_called_by_its_name(self, translate: Translate) -> None:
        done = translate("--temperature", 0)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            "regard: --temperature 0 is not possible: choose a number above 0, or leave out "
            "sampling to search for the best\n"
        )

    @pytest.mark.parametrize("value", ["0", "x", "-3"])
    def test_an_impossible_beam_is_called_by_its_name(
        self, translate: Translate, value: str
    ) -> None:
        done = translate("--beam", value)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("regard: Invalid value for '--beam': ")
        assert done.stderr.endswith(" (see regard translate --help)\n")
        assert done.stderr.count("\n") == 1

    def test_a_beam_that_is_too_wide(self, translate: Translate) -> None:
        done = translate("--beam", 100_000)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            "regard: Invalid value for '--beam': choose 1000 or less (see regard translate "
            "--help)\n"
        )
        assert widest_of_a_search == WIDEST
        assert translate("--beam", WIDEST).returncode == 0

    def test_more_samples_than_anyone_reads(self, translate: Translate) -> None:
        done = translate("--sample", "--n-best", WIDEST + 1)
        assert (done.returncode, done.stdout) == (2, "")
        assert "Invalid value for '--n-best': choose 1000 or less" in done.stderr

    def test_lengths_that_contradict_each_other(self, translate: Translate) -> None:
        done = translate("--min-length", 10, "--max-length", 5)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            "regard: --min-length 10 is above --max-length 5: make the one smaller or the other "
            "larger\n"
        )

    @pytest.mark.parametrize(
        ("place", "why"),
        [("none/out", "No such file or directory"), ("given/out", "Not a directory")],
    )
    def test_a_file_that_cannot_be_written(
        self, translate: Translate, tmp_path: Path, place: str, why: str
    ) -> None:
        done = translate("--out", tmp_path / place)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f"regard: --out {tmp_path / place} cannot be written: {why}; choose a file in a folder "
            "that is there and may be written to\n"
        )

    def test_a_file_keeps_what_stands_before_invalid_bytes(
        self, translate: Translate, tmp_path: Path
    ) -> None:
        good = translate(given="the dog sleeps\na cat runs\n").stdout
        done = translate("--out", tmp_path / "out", given=b"the dog sleeps\na cat runs\n\xff\na\n")
        assert done.returncode == 2
        assert (tmp_path / "out").read_text(encoding="utf-8") == good

    @pytest.mark.parametrize(
        ("options", "line"),
        [
            ((), ""),
            (("--scores",), " ||| "),
            (("--alignments",), " ||| "),
            (("--alignments", "--scores"), " |||  ||| "),
            (("--n-best", 2, "--scores"), "1\t0.0000\t ||| "),
        ],
    )
    def test_the_fields_of_an_empty_line_stay_in_place(
        self, translate: Translate, options: tuple[object, ...], line: str
    ) -> None:
        empty, full = translate(*options, given="\n").stdout, translate(*options).stdout
        assert empty == f"{line}\n"
        assert len(empty[:-1].split(" ||| ")) == len(full.splitlines()[0].split(" ||| "))

    def test_a_file_is_not_written_over_while_it_is_read(
        self, translate: Translate, tmp_path: Path
    ) -> None:
        done = translate("--out", tmp_path / "given", given="the dog\n")
        assert done.returncode == 2
        assert done.stderr == (
            f"regard: --out {tmp_path / 'given'} is also read: write to another file\n"
        )
        assert (tmp_path / "given").read_text() == "the dog\n"


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        (512, "--max-tokens allows more"),
        (99, "the model learned 99 places: a larger model.max_length has more"),
    ],
)
def test_why_a_source_was_cut(limit: int, sentence: str) -> None:
    assert why_left_out(SimpleNamespace(limit=limit, max_tokens=512)) == sentence  # type: ignore[arg-type]
