"""The command `regard`: gathers the verbs, and turns what is refused into one line and exit 2."""

import os
import re
import sys
from typing import Annotated

import typer

from regard import __version__
from regard.cli import (
    align,
    average,
    bench,
    chat,
    classify,
    comparison,
    data,
    demo,
    embed,
    evaluate,
    explain,
    exporting,
    fill,
    generate,
    importing,
    info,
    look,
    recipes,
    score,
    serve,
    tag,
    train,
    translate,
)
from regard.errors import RegardError, UsageError

app = typer.Typer(
    name="regard",
    help="Train, run and look inside attention models.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo.demo)
app.command()(data.data)
app.add_typer(explain.app, name="explain")
app.command()(look.look)
app.add_typer(recipes.app, name="recipes")
app.add_typer(bench.app, name="bench")
app.command()(train.train)
app.command()(translate.translate)
app.command()(chat.chat)
app.command()(generate.generate)
app.command()(fill.fill)
app.command()(embed.embed)
app.command()(classify.classify)
app.command()(tag.tag)
app.command()(score.score)
app.command()(evaluate.evaluate)
app.command()(align.align)
app.command()(comparison.compare)
app.command()(average.average)
app.command("import")(importing.import_)
app.command()(exporting.export)
app.command()(serve.serve)
app.command()(info.info)

REFUSED = 2
INTERRUPTED = 130


def _print_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"regard {__version__}")
        raise typer.Exit


@app.callback()
def regard(
    traceback: Annotated[
        bool, typer.Option("--traceback", help="Show where an error came from.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Train, run and look inside attention models."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    sys.exit(_run(arguments))


def _run(arguments: list[str]) -> int:
    try:
        _require_utf8(arguments)
        code = app(arguments, prog_name="regard", standalone_mode=False)
    except RegardError as error:
        if "--traceback" in arguments:
            raise
        return _refuse(str(error))
    except OSError as error:  # a full disk, a folder without permission
        if "--traceback" in arguments:
            raise
        return _refuse(f"{error.strerror or error}{_named(error)}")
    except typer.TyperException as error:
        if not error.format_message():  # nothing was asked, and the help has been shown
            return REFUSED
        return _refuse(_one_sentence(error))
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except (MemoryError, RuntimeError) as error:
        if "--traceback" in arguments or not _is_out_of_memory(error):
            raise
        return _refuse(
            "there is not enough memory for this: choose a smaller model, a smaller batch or "
            "shorter texts"
        )
    except SystemExit as left:
        # The reader has gone, as `head` does, and typer leaves with 1: there is no one to tell.
        if not isinstance(left.__context__, BrokenPipeError):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    if code == INTERRUPTED:  # typer turns Ctrl-C into this code without a word
        print("regard: interrupted", file=sys.stderr)  # noqa: T201
    return code if isinstance(code, int) else 0


def _require_utf8(arguments: list[str]) -> None:
    """Text is UTF-8 on the command line too; a file that is there may have any name."""
    for argument in arguments:
        if argument.isprintable() or os.path.lexists(argument):
            continue
        raw = os.fsencode(argument)
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError as error:
            from regard.data.lines import likely_encoding

            shown = " ".join(raw.decode("utf-8", "backslashreplace").split())
            raise UsageError(
                f"the argument '{shown}': byte {error.start + 1} (0x{raw[error.start]:02X}) is not "
                f"UTF-8. Convert it, for example: iconv -f {likely_encoding(raw)} -t UTF-8"
            ) from error


def _refuse(sentence: str) -> int:
    print(f"regard: {_without_stop(sentence)}", file=sys.stderr)  # noqa: T201
    return REFUSED


def _without_stop(sentence: str) -> str:
    """The sentence without its full stop, wherever it came from; "..." and a folder "." stay."""
    return re.sub(r"(?<=[^\s.])\.$", "", sentence)


def _is_out_of_memory(error: Exception) -> bool:
    """Whether a system, or torch on whatever device, had no more memory to give."""
    said = str(error)
    return isinstance(error, MemoryError) or "allocate memory" in said or "out of memory" in said


def _named(error: OSError) -> str:
    return f": {error.filename}" if error.filename else ""


def _one_sentence(error: typer.TyperException) -> str:
    sentence = _without_stop(" ".join(error.format_message().split()))
    # What is checked by bounds is told as if a program had asked.
    bound = r"Input should be (?:greater|(less)) than or equal to (\S+)"
    sentence = re.sub(
        bound, lambda found: f"choose {found[2]} or {'less' if found[1] else 'more'}", sentence
    )
    context = getattr(error, "ctx", None)
    return f"{sentence} (see {context.command_path} --help)" if context else sentence
