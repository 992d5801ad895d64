"""`regard bench complexity`: the table, JSON, the picture, and what is refused."""

import importlib
import json
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from regard.cli.bench import app
from regard.errors import RegardError, UsageError

TINY = ["complexity", "--lengths", "4,8,12", "--widths", "2,4,6", "--rounds", "1", "--reach", "2"]
NAMES = ["self-attention", "recurrent", "convolutional", "restricted self-attention"]


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times matter to no test, and gradients of long sequences are looked at elsewhere."""
    from regard.lessons.complexity import measuring, report

    monkeypatch.setattr(measuring, "SECONDS_TOGETHER", 0.0)
    monkeypatch.setattr(report, "SMALL_LENGTHS", (3, 5))


def refusal(*arguments: str) -> str:
    """What the command refuses with; the command line makes it one line and exit code 2."""
    done = CliRunner().invoke(app, [*TINY, *arguments])
    assert isinstance(done.exception, RegardError)
    assert done.stdout == ""
    return str(done.exception)


def test_the_table_says_what_is_stated_and_found() -> None:
    done = CliRunner().invoke(app, TINY)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    costs = {name: line for name in NAMES for line in lines if line.startswith(f"{name}  ")}
    number = r"-?\d+\.\d\d"
    powers = rf"n\^{number}  d\^{number}"
    for name, stated in zip(NAMES, ["O(n²·d)", "O(n·d²)", "O(k·n·d²)", "O(r·n·d)"], strict=True):
        row = rf"^{name} +{re.escape(stated)} +{powers} +{powers} *$"
        assert re.search(row, done.stdout, re.MULTILINE), done.stdout
    assert costs["self-attention"].split()[1:] == ["O(1)", "1", "O(1)", "1"]
    assert costs["recurrent"].split()[1:] == ["O(n)", "5", "O(n)", "5"]
    assert costs["convolutional"].split()[1:] == ["O(1)", "1", "O(n/k)", "4"]
    assert costs["restricted self-attention"].split()[2:] == ["O(1)", "1", "O(n/r)", "2"]
    assert re.search(r"O\(logₖ n\), dilated +2 *$", done.stdout, re.MULTILINE)
    assert "n: length, d: width, r = 2: reach of the window, k = 3: kernel." in lines
    fits = r"n \d–12 \(\d+%\), d \d–6 \(\d+%\)"
    note = rf"^  recurrent: time {fits}; memory {fits} \(expected n·d \+ d²\)$"
    assert re.search(note, done.stdout, re.MULTILINE), done.stdout
    assert done.stderr.startswith(
        "Measuring 4 kinds of layer: n = 4, 8, 12 at d = 2, d = 2, 4, 6 at n = 8; 1 round, "
        "up to 4 min, by "
    )


def test_progress_is_plain_lines_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from regard.cli import progress

    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    done = CliRunner().invoke(app, [*TINY, "--rounds", "2"])
    _, *lines = done.stderr.splitlines()
    assert len(lines) == 40
    assert re.fullmatch(r"1/40  self-attention, n = 4, d = 2: [\d.]+ ms", lines[0])
    assert lines[-1].startswith("40/40  restricted self-attention, n = 8, d = 6: ")


def test_progress_is_a_bar_at_a_terminal() -> None:
    done = CliRunner().invoke(app, [*TINY, "--json"], env={"FORCE_COLOR": "1", "COLUMNS": "90"})
    assert done.exit_code == 0, done.output
    assert "━" in done.stderr
    assert "20/20" not in done.stderr
    assert len(json.loads(done.stdout)["layers"]) == 4


def test_json_stands_alone_on_stdout(tmp_path: Path) -> None:
    place = tmp_path / "growth.png"
    done = CliRunner().invoke(app, [*TINY, "--json", "--save", str(place)])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["plan"]["lengths"] == [4, 8, 12]
    assert found["plan"]["at_length"] == 8
    assert [layer["layer"] for layer in found["layers"]] == NAMES
    recurrent = found["layers"][1]
    assert recurrent["stated"]["exponents"] == {"n": 1, "d": 2}
    assert [(one["n"], one["sequential"], one["path"]) for one in recurrent["structure"]] == [
        (3, 3, 3),
        (5, 5, 5),
    ]
    assert found["layers"][2]["structure"][1]["dilated_path"] == 2
    assert len(recurrent["points"]) == 5
    assert all(one["seconds"] > 0 for one in recurrent["points"])
    assert all(one["peak_bytes"] >= one["kept_bytes"] > 0 for one in recurrent["points"])
    assert recurrent["memory"]["expected"] == "n·d + d²"
    assert len(recurrent["time"]["n"]["used"]) == 3
    assert found["skipped"] == []
    assert done.stderr.endswith(f"The picture is in {place}.\n")
    assert place.read_bytes().startswith(b"\x89PNG")


def test_too_few_sizes_give_no_exponent() -> None:
    done = CliRunner().invoke(app, [*TINY, "--widths", "2,4"])
    assert done.exit_code == 0, done.output
    assert "d^?" in done.stdout
    assert done.stdout.count(", d has too few points") == 8


def test_what_was_left_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from regard.lessons.complexity import study

    monkeypatch.setattr(study, "free_bytes", lambda: 1.0)
    done = CliRunner().invoke(app, TINY)
    assert done.exit_code == 0, done.output
    said = (
        "Left out: self-attention, n = 12, d = 2: it needs up to 0.00307 MB and 8e-07 MB may be "
        "used."
    )
    assert said in done.stdout.splitlines()
    assert said in done.stderr.splitlines()
    assert "n^?  d^?" in done.stdout


def test_a_kind_that_was_left_out_is_not_drawn(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from regard.lessons.complexity import study

    place = tmp_path / "growth.svg"
    monkeypatch.setattr(study, "free_bytes", lambda: 1500.0)
    done = CliRunner().invoke(app, [*TINY, "--lengths", "4,7,8", "--save", str(place)])
    assert done.exit_code == 0, done.output
    assert "Left out: restricted self-attention, n = 4, d = 2: " in done.stdout
    assert place.stat().st_size > 0


def test_nothing_cannot_be_drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from regard.lessons.complexity import study

    monkeypatch.setattr(study, "free_bytes", lambda: 1.0)
    assert refusal("--save", str(tmp_path / "nothing.svg")) == (
        "nothing was measured, so there is nothing to draw: allow more --minutes or give smaller "
        "--lengths"
    )


def test_sizes_are_sorted_and_counted_once() -> None:
    done = CliRunner().invoke(app, [*TINY, "--lengths", "12, 4,8,4", "--json"])
    assert json.loads(done.stdout)["plan"]["lengths"] == [4, 8, 12]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("--lengths", "4,x"),
            "--lengths takes whole numbers with commas between them, such as 64,128,256, not '4,x'",
        ),
        (
            ("--widths", ""),
            "--widths takes whole numbers with commas between them, such as 64,128,256, not ''",
        ),
        (("--widths", "0,8"), "--widths takes numbers from 1, not 0"),
        (
            ("--kernel", "2"),
            "a convolution that sees as many places before as after, and more than its own, "
            "is 3, 5, 7, … places wide, not 2",
        ),
        (
            ("--reach", "0"),
            "a window that reaches 0 places sees no other place: choose 1 or more",
        ),
        (
            ("--save", "growth.gif"),
            "a picture cannot be saved as 'growth.gif': end its name in .svg, .png or .pdf",
        ),
    ],
)
def test_refusals(arguments: tuple[str, ...], sentence: str) -> None:
    assert refusal(*arguments) == sentence


def test_a_list_of_words_is_a_mistake_of_use() -> None:
    done = CliRunner().invoke(app, [*TINY, "--lengths", "many"])
    assert isinstance(done.exception, UsageError)


def test_a_refusal_is_one_line_and_exit_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # `regard.cli.main` is also the function that its package exports.
    command_line = importlib.import_module("regard.cli.main")
    whole = typer.Typer()
    whole.add_typer(app, name="bench")
    monkeypatch.setattr(command_line, "app", whole)
    with pytest.raises(SystemExit) as left:
        command_line.main(["bench", *TINY, "--lengths", "8,0"])
    assert left.value.code == 2
    assert capsys.readouterr() == ("", "regard: --lengths takes numbers from 1, not 0\n")


def test_without_a_measurement_the_help_is_shown() -> None:
    done = CliRunner().invoke(app, [])
    assert done.exit_code == 0
    assert "complexity" in done.stdout


def test_long_sequences_are_measured_beside_full_attention(tmp_path: Path) -> None:
    options = ["--lengths", "8,12,16", "--width", "8", "--block", "4", "--rounds", "1"]
    done = CliRunner().invoke(app, ["long", *options, "--json", "--save", str(tmp_path / "a.svg")])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    names = [one["layer"] for one in found["layers"]]
    assert names[:2] == ["T-DMCA, stride 3", "T-DMCA, memory of fixed size"]
    assert all(len(one["points"]) == 3 and not one["structure"] for one in found["layers"])
    assert (tmp_path / "a.svg").stat().st_size > 1000
    table = CliRunner().invoke(app, ["long", *options])
    assert re.search(r"^T-DMCA, stride 3 .* n\^-?\d", table.stdout, re.MULTILINE)
    assert "layers LMLML, b = 4" in table.stdout
    wrong = CliRunner().invoke(app, ["long", "--layers", "LXL"])
    assert isinstance(wrong.exception, UsageError)
