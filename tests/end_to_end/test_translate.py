"""`regard translate` as programs use it: by pipe, line for line, with faults and long lines."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .commands import COMMAND, Done, environment, run

MODEL = Path(__file__).parents[1] / "fixtures" / "model-format-1"
ENVIRONMENT = {**environment(), "PYTHONIOENCODING": "ascii"}  # and yet UTF-8 comes out


def translate(*arguments: object, given: str | bytes = "", model: Path = MODEL) -> Done:
    """Run the command with this on standard input."""
    raw = given.encode() if isinstance(given, str) else given
    return run(["translate", str(model), *map(str, arguments), "--device", "cpu"], raw)


def start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, "translate", str(MODEL), "--device", "cpu"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )


def test_lines_stay_lines() -> None:
    done = translate(given="the dog sleeps\n\na cat runs\r\n")
    assert (done.returncode, done.stderr) == (0, "")
    first, empty, last = done.stdout.splitlines()
    assert not first.isascii()
    assert last
    assert not empty


def test_a_line_comes_back_before_the_next_is_written() -> None:
    with start() as process:
        assert process.stdin
        assert process.stdout
        answers = []
        for line in ("the dog sleeps", "", "a cat runs"):
            process.stdin.write(f"{line}\n".encode())
            process.stdin.flush()
            answers.append(process.stdout.readline().decode())
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0
    assert "".join(answers) == translate(given="the dog sleeps\n\na cat runs\n").stdout


def test_a_reader_that_leaves_is_no_fault() -> None:
    with start() as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(b"the dog sleeps\n")
        process.stdin.flush()
        assert process.stdout.readline()
        process.stdout.close()
        process.stdin.write(b"the dog sleeps\n" * 50)
        process.stdin.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_nothing_in_nothing_out() -> None:
    done = translate()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_ten_thousand_words_are_cut_with_one_warning() -> None:
    done = translate("--max-length", 20, given=f"the dog\n{'dog ' * 10_000}\na cat\n")
    assert done.returncode == 0
    assert done.stdout.count("\n") == 3
    assert done.stderr == (
        "regard: line 2 is too long: its last 9,488 tokens were left out (--max-tokens allows "
        "more)\n"
    )


def test_what_stands_before_invalid_bytes_is_translated() -> None:
    good = translate(given="the dog sleeps\na cat runs\n").stdout
    done = translate(given=b"the dog sleeps\na cat runs\nth\xffe\na dog\n")
    assert (done.returncode, done.stdout) == (2, good)
    assert done.stderr == (
        "regard: standard input, line 3: byte 3 of the line (0xFF) is not UTF-8. Convert the text, "
        "for example: iconv -f ISO-8859-1 -t UTF-8\n"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
def test_at_a_terminal_it_asks() -> None:
    import pty

    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "translate", str(MODEL), "--device", "cpu"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    ) as process:
        assert process.stdout
        assert process.stderr
        os.write(ours, b"the dog sleeps\n")
        answer = process.stdout.readline().decode()
        os.write(ours, b"\x04")
        assert process.stdout.read() == b""
        said = process.stderr.read().decode()
    os.close(ours)
    os.close(theirs)
    assert process.returncode == 0
    assert answer == translate(given="the dog sleeps\n").stdout
    assert said == f"{MODEL}: a sentence a line; Ctrl-D leaves\n› › \n"


def test_an_unknown_precision_is_refused() -> None:
    done = translate("--precision", "int4", given="the dog sleeps\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("regard: there is no precision 'int4'")
    assert done.stderr.count("\n") == 1


def test_a_model_without_a_shortlist_says_so() -> None:
    done = translate("--shortlist", given="the dog sleeps\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"regard: {MODEL} has no shortlist: learn one with")
    done = translate("--shortlist", "--engine", "ctranslate2", given="the dog sleeps\n")
    assert done.returncode == 2
    assert "--shortlist is for Regard's own search" in done.stderr
