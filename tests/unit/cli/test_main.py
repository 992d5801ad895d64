"""One way to refuse: one sentence and exit 2, whatever went wrong and wherever."""

import importlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer

import regard
from regard.errors import MissingExtraError, RegardError, SizeError

# `regard.cli.main` is also the function that its package exports.
command_line = importlib.import_module("regard.cli.main")


def leave(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the command and give its exit code and what it wrote."""
    with pytest.raises(SystemExit) as left:
        command_line.main(list(arguments))
    written = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, written.out, written.err


def raising(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Put a command `fail` in place of all others, which raises this."""
    app = typer.Typer(pretty_exceptions_enable=False)

    @app.callback()
    def _whole(traceback: bool = typer.Option(False, "--traceback")) -> None:
        """Nothing."""

    @app.command()
    def fail() -> None:
        raise error

    monkeypatch.setattr(command_line, "app", app)


class TestRefusals:
    @pytest.mark.parametrize(
        "error", [SizeError("7 is not even"), MissingExtraError("serving", "serve")]
    )
    def test_are_one_sentence_and_exit_2(
        self,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        error: RegardError,
    ) -> None:
        raising(monkeypatch, error)
        assert leave(capsys, "fail") == (2, "", f"regard: {error}\n")

    def test_of_the_system_are_one_sentence_too(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        raising(monkeypatch, OSError(28, "No space left on device", "x.png"))
        assert leave(capsys, "fail") == (2, "", "regard: No space left on device: x.png\n")

    @pytest.mark.parametrize(
        "error",
        [
            MemoryError(),
            RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9"),
            RuntimeError("CUDA out of memory. Tried to allocate 9 GiB"),
        ],
    )
    def test_of_a_full_memory_say_what_to_do(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
    ) -> None:
        raising(monkeypatch, error)
        code, out, err = leave(capsys, "fail")
        assert (code, out) == (2, "")
        assert err.startswith("regard: there is not enough memory for this: choose a smaller model")
        assert err.count("\n") == 1

    @pytest.mark.parametrize(
        ("said", "printed"),
        [
            ("7 is not even. Choose 8.", "7 is not even. Choose 8"),
            ("choose 3, 5, 7, ...", "choose 3, 5, 7, ..."),
            ("Is a directory: .", "Is a directory: ."),
        ],
    )
    def test_end_without_a_full_stop(
        self,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        said: str,
        printed: str,
    ) -> None:
        raising(monkeypatch, SizeError(said))
        assert leave(capsys, "fail") == (2, "", f"regard: {printed}\n")

    def test_show_where_they_came_from_when_asked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        raising(monkeypatch, SizeError("7 is not even"))
        with pytest.raises(SizeError, match="7 is not even"):
            command_line.main(["--traceback", "fail"])

    def test_a_fault_of_ours_is_not_dressed_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for fault in (ZeroDivisionError(), RuntimeError("shapes do not fit")):
            raising(monkeypatch, fault)
            with pytest.raises(type(fault)):
                command_line.main(["fail"])

    def test_an_unknown_command_suggests(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, err = leave(capsys, "explian")
        assert (code, out) == (2, "")
        assert err == (
            "regard: No such command 'explian'. Did you mean 'explain'? (see regard --help)\n"
        )

    def test_an_unknown_topic_is_one_sentence(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, err = leave(capsys, "explain", "qwertyuiop")
        assert (code, out) == (2, "")
        assert err.startswith("regard: ")
        assert "qwertyuiop" in err
        assert err.count("\n") == 1

    def test_an_unknown_option_is_one_sentence(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, err = leave(capsys, "--bogus")
        assert (code, out) == (2, "")
        assert err == "regard: No such option: --bogus (see regard --help)\n"

    @pytest.mark.parametrize(
        ("given", "sentence"),
        [
            (
                b"ab\xff",
                "the argument 'ab\\xff': byte 3 (0xFF) is not UTF-8. Convert it, for example: "
                "iconv -f ISO-8859-1 -t UTF-8",
            ),
            (
                "a\n你".encode("gb18030"),
                "the argument 'a \\xc4\\xe3': byte 3 (0xC4) is not UTF-8. Convert it, for example: "
                "iconv -f GB18030 -t UTF-8",
            ),
        ],
    )
    @pytest.mark.parametrize("verb", ["generate", "fill", "look"])
    def test_an_argument_that_is_no_utf_8(
        self, capsys: pytest.CaptureFixture[str], verb: str, given: bytes, sentence: str
    ) -> None:
        done = leave(capsys, verb, "model", os.fsdecode(given))
        assert done == (2, "", f"regard: {sentence}\n")

    def test_a_file_that_is_there_may_have_any_name(self, tmp_path: Path) -> None:
        name = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
        try:
            Path(name).touch()
        except OSError:
            pytest.skip("this system has names in UTF-8 alone: run it on Linux")
        command_line._require_utf8(["embed", name])

    def test_an_option_without_a_command_is_one_sentence(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        code, out, err = leave(capsys, "--traceback")
        assert (code, out) == (2, "")
        assert err == "regard: Missing command (see regard --help)\n"


class TestInterruption:
    @pytest.mark.parametrize("error", [KeyboardInterrupt(), typer.Abort()])
    def test_is_130(
        self,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        error: BaseException,
    ) -> None:
        raising(monkeypatch, error)
        code, out, err = leave(capsys, "fail")
        assert (code, out) == (130, "")
        assert err.strip() == "regard: interrupted"

    def test_is_130_too_while_the_command_is_still_being_read(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def early(*, began: float) -> None:
            assert began <= time.monotonic()
            raise KeyboardInterrupt

        monkeypatch.setattr("regard.cli.main", early)
        with pytest.raises(SystemExit) as left:
            importlib.import_module("regard.__main__").main()
        assert (left.value.code, capsys.readouterr().err) == (130, "regard: interrupted\n")


class TestPlainUse:
    def test_version(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert leave(capsys, "--version") == (0, f"regard {regard.__version__}\n", "")

    @pytest.mark.parametrize("option", ["--help", "-h"])
    def test_help(self, capsys: pytest.CaptureFixture[str], option: str) -> None:
        code, out, err = leave(capsys, option)
        assert (code, err) == (0, "")
        assert "Train, run and look inside attention models." in out
        assert "explain" in out

    def test_nothing_asked_shows_the_help(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, err = leave(capsys)
        assert code in (0, 2)
        assert "Train, run and look inside attention models." in out
        assert err == ""

    def test_exit_codes_of_commands_are_kept(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        raising(monkeypatch, typer.Exit(3))
        assert leave(capsys, "fail") == (3, "", "")


@pytest.mark.parametrize("arguments", [["--help"], ["explain", "lecture"]])
def test_a_reader_that_has_gone_is_no_error(arguments: list[str]) -> None:
    """As `regard … | head -1`: the pipe is closed before anything is written."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "regard", *arguments],
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        os.close(writing)
    assert done.stderr == ""
    assert done.returncode == 0
