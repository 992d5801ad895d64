"""The options of a search, shared by the verbs that translate."""

import io
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from regard.decoding import Limits, Sampling, Search
    from regard.systems import OpenedModel, Translator

Opened = TypeVar("Opened", bound="OpenedModel")
WIDEST = 1000  # as of a Search, which is not asked here: it brings torch, and --help is quick
MOST_THREADS = 1024  # more than any machine has use for, and systems fail at some thousands
Model = Annotated[Path, typer.Argument(help="A model folder, as `regard train` makes them.")]
Beam = Annotated[
    int, typer.Option(min=1, max=WIDEST, help="Width of the beam; 1 is greedy search.")
]
Alpha = Annotated[
    float, typer.Option(min=0.0, help="Length penalty; 0 compares plain log-probabilities.")
]
Penalty = Annotated[str, typer.Option(help="wu: ((5 + n) / 6)^alpha, or power: n^alpha.")]
MinLength = Annotated[int, typer.Option(min=0, help="The fewest tokens of an output.")]
MaxLength = Annotated[int, typer.Option(min=1, help="The most tokens of an output.")]
NoRepeat = Annotated[
    int, typer.Option(min=0, metavar="N", help="No n-gram of N tokens twice; 0: any.")
]
MaxTokens = Annotated[int, typer.Option(min=1, help="Tokens of a source; what is beyond is cut.")]
Batch = Annotated[int, typer.Option(min=1, help="Rows that are searched together.")]
Temperature = Annotated[
    float | None, typer.Option(help="Draw by chance; below 1: less surprising.")
]
TopK = Annotated[int | None, typer.Option(min=0, help="Draw among the K most probable; 0: all.")]
TopP = Annotated[float | None, typer.Option(help="Draw among the fewest that reach this share.")]
Seed = Annotated[int, typer.Option(help="Of what is drawn.")]
Sentences = Annotated[Path | None, typer.Option(help="Sentences, a line each.")]
References = Annotated[Path | None, typer.Option(help="Their translations, the references.")]
Corpus = Annotated[
    str | None, typer.Option(help="In place of the two files: dates:test, or a file of pairs.")
]
Tokenize = Annotated[
    str | None,
    typer.Option(
        help="How BLEU cuts text: 13a, zh, char or none.", show_default="what fits the text"
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change the recipe: model.n_layers=4"),
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")]
Threads = Annotated[
    int | None, typer.Option(min=1, max=MOST_THREADS, help="Processor threads.", show_default="all")
]
Engine = Annotated[
    str | None, typer.Option(metavar="ctranslate2", help="Search by CTranslate2, not by Regard.")
]
Precision = Annotated[
    str, typer.Option(metavar="TYPE", help="Of the numbers multiplied: float32, or int8: faster.")
]
Shortlist = Annotated[
    bool, typer.Option("--shortlist", help="Search among likely words alone: `regard shortlist`.")
]
Ensemble = Annotated[
    list[Path] | None,
    typer.Option(metavar="MODEL", help="Another model that votes with the first; repeatable."),
]


def open_translator(
    model: Path,
    ensemble: list[Path] | None = None,
    *,
    device: str,
    threads: int | None,
    max_tokens: int,
    engine: str | None = None,
    precision: str = "float32",
    shortlist: bool = False,
) -> "Translator":
    """The model or models, on the device, with the threads and by the engine asked for."""
    from regard.devices import choose_device
    from regard.engine import checked_precision, keep_heap
    from regard.systems import Translator

    chosen = choose_device(device)
    if chosen.type == "cpu":
        keep_heap()
    set_threads(threads)
    if is_another(engine, has_ensemble=bool(ensemble), is_short=shortlist):
        from regard.systems.ctranslate2 import CTranslate2Translator

        return CTranslate2Translator.open_engine(
            model, precision=precision, device=chosen, max_tokens=max_tokens
        )
    return Translator.open(
        [model, *(ensemble or [])],
        device=chosen,
        max_tokens=max_tokens,
        precision=checked_precision(precision),
        shortlist=shortlist,
    )


def open_writing(
    model: Path,
    *,
    device: str,
    threads: int | None,
    max_tokens: int,
    engine: str | None = None,
    precision: str = "float32",
    shortlist: bool = False,
) -> "OpenedModel":
    """A model that writes an output for a source, on the device and by the engine asked for."""
    if is_another(engine, has_ensemble=False, is_short=shortlist):
        return open_translator(
            model,
            device=device,
            threads=threads,
            max_tokens=max_tokens,
            engine=engine,
            precision=precision,
        )
    opened = open_any(model, device, threads, precision, shortlist=shortlist)
    return opened.with_limit(max_tokens)


def open_as(
    kind: "type[Opened]", model: Path, device: str, threads: int | None, **options: Any
) -> "Opened":
    """A model as what it is used for, on the device and with the threads asked for."""
    from regard.devices import choose_device

    set_threads(threads)
    return kind.open(model, device=choose_device(device), **options)


def open_any(
    model: Path,
    device: str,
    threads: int | None,
    precision: str = "float32",
    *,
    shortlist: bool = False,
) -> "OpenedModel":
    """A model as whatever it is, on the device and with the threads asked for."""
    from regard.devices import choose_device
    from regard.engine import checked_precision
    from regard.systems import open_model

    set_threads(threads)
    return open_model(
        model, choose_device(device), checked_precision(precision), shortlist=shortlist
    )


def set_threads(threads: int | None) -> None:
    """As many processor threads as asked for."""
    import torch

    if threads is not None:
        torch.set_num_threads(threads)


def is_another(engine: str | None, *, has_ensemble: bool, is_short: bool = False) -> bool:
    """Whether another engine searches, if what is said of it fits together."""
    from regard.errors import UsageError

    if engine not in (None, "ctranslate2"):
        raise UsageError(
            f"there is no engine {engine!r}: choose ctranslate2, or leave out --engine"
        )
    if engine is not None and has_ensemble:
        raise UsageError(
            "CTranslate2 searches with one model, and --ensemble names more: leave out one of them"
        )
    if engine is not None and is_short:
        raise UsageError(
            "--shortlist is for Regard's own search, not for CTranslate2: leave out one of them"
        )
    return engine is not None


def beam_of(beam: int, alpha: float, penalty: str) -> "Search":
    """A search for the one best output."""
    from regard.decoding import Search

    return Search(width=beam, alpha=alpha, penalty=penalty)


def between(min_length: int, max_length: int) -> "Limits":
    """How long outputs become."""
    from regard.decoding import Limits
    from regard.errors import UsageError

    if min_length > max_length:
        raise UsageError(
            f"--min-length {min_length} is above --max-length {max_length}: make the one smaller "
            "or the other larger"
        )
    return Limits(least=min_length, most=max_length)


def drawn_by(
    temperature: float | None, top_k: int | None, top_p: float | None, seed: int, *, instead: str
) -> "Sampling":
    """How tokens are drawn by chance; ``instead`` says how to get the most probable ones."""
    from regard.decoding import Sampling
    from regard.errors import UsageError

    if temperature is not None and not (temperature > 0 and math.isfinite(temperature)):
        raise UsageError(
            f"--temperature {temperature:g} is not possible: choose a number above 0, or {instead}"
        )
    if top_p is not None and not 0 < top_p <= 1:
        raise UsageError(
            f"--top-p {top_p:g} is not possible: choose a number above 0 and up to 1, which is all"
        )
    return Sampling(
        temperature=1.0 if temperature is None else temperature,
        top_k=top_k or 0,
        top_p=1.0 if top_p is None else top_p,
        seed=seed,
    )


def write_utf8() -> None:
    """Let a pipe carry UTF-8 wherever we are: what was read as UTF-8 is written so."""
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")


def tell(sentence: str) -> None:
    """Say what one should know, on standard error."""
    typer.echo(f"regard: {sentence}", err=True)


def why_left_out(translator: "Translator") -> str:
    """What ends a source that is too long, and what to do about it."""
    if translator.max_tokens is not None and translator.limit < translator.max_tokens:
        return f"the model learned {translator.limit:,} places: a larger model.max_length has more"
    return "--max-tokens allows more"
