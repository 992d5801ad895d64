"""The command `regard`: gathers the verbs, and turns what is refused into one line and exit 2."""

import os
import re
import sys
import time
from collections.abc import Callable
from typing import Annotated

import typer

from regard import __version__
from regard.cli import (
    align,
    analogies,
    average,
    bench,
    causes,
    challenge,
    chat,
    classify,
    comparison,
    data,
    demo,
    embed,
    evaluate,
    exchange,
    explain,
    fill,
    generate,
    heads,
    info,
    look,
    parse,
    probe,
    prune,
    recipes,
    sample,
    score,
    serve,
    shortlist,
    summarise,
    tag,
    train,
    translate,
)
from regard.cli.plain_help import PlainCommand, PlainGroup
from regard.cli.using import verb_of
from regard.config import NETWORKS
from regard.errors import RegardError, UsageError

# Each verb as one may type it first; order is that of the help.
EXAMPLES: dict[str, tuple[Callable[..., None], str]] = {
    "demo": (demo.demo, "regard demo"),
    "data": (data.data, "regard data phrasebook --pair zh-en --show 5"),
    "look": (look.look, 'regard look runs/zh-en "这只猫在睡觉。" --save attention.svg'),
    "train": (
        train.train,
        "regard train transformer-small --source train.zh --target train.en --out runs/zh-en",
    ),
    "translate": (translate.translate, "regard translate runs/zh-en news.zh --out news.en"),
    "summarise": (summarise.summarise, "regard summarise runs/summary report.txt"),
    "chat": (chat.chat, "regard chat runs/dialogue"),
    "generate": (generate.generate, 'regard generate runs/gpt "Once upon a time" --seed 7'),
    "fill": (fill.fill, 'regard fill runs/bert "The [MASK] sleeps."'),
    "embed": (embed.embed, 'regard embed runs/bert --similarity "A cat sleeps." "A dog sleeps."'),
    "classify": (classify.classify, 'regard classify runs/reviews "What a film!"'),
    "parse": (parse.parse, "regard parse runs/parser sentences.txt"),
    "tag": (tag.tag, 'regard tag runs/names "Anna lives in Paris."'),
    "sample": (sample.sample, "regard sample runs/sagan --class 3 --grid 8x8 --out samples.png"),
    "score": (score.score, "regard score runs/zh-en --source test.zh --target test.en"),
    "evaluate": (
        evaluate.evaluate,
        "regard evaluate runs/zh-en --source test.zh --target test.en",
    ),
    "challenge": (challenge.challenge, "regard challenge runs/gpt blimp.en.tsv.xz --limit 100"),
    "analogies": (analogies.analogies, "regard analogies runs/bert questions-words.txt"),
    "align": (align.align, "regard align runs/zh-en --source test.zh --target test.en"),
    "heads": (heads.heads, "regard heads runs/bert --treebank dev.conllu --test test.conllu"),
    "compare": (
        comparison.compare,
        "regard compare runs/first runs/second --source test.zh --target test.en",
    ),
    "average": (average.average, "regard average runs/zh-en --last 5 --out runs/averaged"),
    "causes": (causes.causes, "regard causes runs/en-fr --corpus phrasebook:en-fr:test:500"),
    "probe": (probe.probe, "regard probe runs/zh-en --treebank dev.conllu --test test.conllu"),
    "prune": (prune.prune, "regard prune runs/zh-en --keep 50% --of encoder --out runs/smaller"),
    "shortlist": (shortlist.shortlist, "regard shortlist runs/zh-en"),
    "import": (exchange.import_, "regard import opus-mt-zh-en --out runs/opus"),
    "export": (exchange.export, "regard export runs/zh-en --to huggingface --out exported"),
    "serve": (serve.serve, "regard serve runs/zh-en"),
    "info": (info.info, "regard info runs/zh-en"),
}

for _section in NETWORKS.values():
    if _section.verb is not None:
        _name, _purpose, _example = _section.verb
        EXAMPLES[_name] = (verb_of(_name, _purpose), _example)

app = typer.Typer(
    name="regard",
    cls=PlainGroup,
    help="Train, run and look inside attention models.",
    epilog="Begin with: regard demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name, (_verb, _example) in EXAMPLES.items():
    app.command(_name, cls=PlainCommand, epilog=f"Example: {_example}")(_verb)
app.add_typer(explain.app, name="explain")
app.add_typer(recipes.app, name="recipes")
app.add_typer(bench.app, name="bench")

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


def main(arguments: list[str] | None = None, *, began: float | None = None) -> None:
    """Run the command line and leave with its exit code; it began then, or now."""
    arguments = sys.argv[1:] if arguments is None else arguments
    sys.exit(_run(arguments, time.monotonic() if began is None else began))


def _run(arguments: list[str], began: float) -> int:
    try:
        _require_utf8(arguments)
        code = app(arguments, prog_name="regard", standalone_mode=False, obj=began)
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
