"""`regard translate`: sentences in, translations out, line by line and in order."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli import searching


def translate(
    model: searching.Model,
    files: Annotated[
        list[Path] | None, typer.Argument(help="Text, a sentence a line; standard input if none.")
    ] = None,
    beam: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=searching.WIDEST,
            show_default="5",
            help="Width of the beam; 1 is greedy search.",
        ),
    ] = None,
    n_best: Annotated[
        int, typer.Option(min=1, max=searching.WIDEST, help="How many translations of each line.")
    ] = 1,
    alpha: searching.Alpha = 1.0,
    penalty: searching.Penalty = "wu",
    min_length: searching.MinLength = 0,
    max_length: searching.MaxLength = 1024,
    no_repeat: searching.NoRepeat = 0,
    sample: Annotated[
        bool, typer.Option("--sample", help="Draw by chance instead of searching for the best.")
    ] = False,
    temperature: searching.Temperature = None,
    top_k: searching.TopK = None,
    top_p: searching.TopP = None,
    seed: searching.Seed = 1,
    prefix: Annotated[str, typer.Option(help="How every translation begins.")] = "",
    prefixes: Annotated[
        Path | None, typer.Option(help="A file: how the translation of each line begins.")
    ] = None,
    must: Annotated[
        list[str] | None, typer.Option(help="Words every translation contains; repeatable.")
    ] = None,
    must_file: Annotated[
        Path | None, typer.Option(help="A file: for each line a JSON list of words.")
    ] = None,
    ensemble: searching.Ensemble = None,
    engine: searching.Engine = None,
    precision: searching.Precision = "float32",
    shortlist: searching.Shortlist = False,
    alignments: Annotated[
        bool, typer.Option("--alignments", help="Add which word came from which: ||| 0-0 1-2")
    ] = False,
    attention: Annotated[
        bool, typer.Option("--attention", help="With --json: the words and their weights.")
    ] = False,
    scores: Annotated[
        bool, typer.Option("--scores", help="Add the log-probability of each token.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write to a file.")] = None,
    max_tokens: searching.MaxTokens = 512,
    batch: searching.Batch = 64,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
) -> None:
    """Translate text line by line: from files or standard input to standard output."""
    from regard.cli.translation_session import Session, wishes
    from regard.cli.translation_writer import Writer
    from regard.decoding import Search
    from regard.errors import UsageError

    drawing = (temperature, top_k, top_p)
    sampling = None
    if sample or any(choice is not None for choice in drawing):
        best = "leave out sampling to search for the best"
        sampling = searching.drawn_by(temperature, top_k, top_p, seed, instead=best)
    if sampling and beam is not None:
        raise UsageError(
            "--beam searches for the best, and --sample, --temperature, --top-k and --top-p draw "
            "by chance: give one or the other"
        )
    if sampling and (must or must_file):
        raise UsageError("words that must be there are searched for, not drawn: leave out sampling")
    if attention and not as_json:
        raise UsageError("--attention gives the weights as JSON: add --json")
    search = Search(
        width=5 if beam is None else beam,
        n_best=n_best,
        alpha=alpha,
        penalty=penalty,
        limits=searching.between(min_length, max_length),
        no_repeat=no_repeat,
        sampling=sampling,
    )
    wanted = wishes(prefix, prefixes, must or [], must_file)
    translator = searching.open_translator(
        model,
        ensemble,
        device=device,
        threads=threads,
        max_tokens=max_tokens,
        engine=engine,
        precision=precision,
        shortlist=shortlist,
    )
    writer = Writer(
        translator,
        is_json=as_json,
        is_list=n_best > 1,
        with_alignments=alignments,
        with_attention=attention,
        with_scores=scores,
    )
    session = Session(translator, search, writer, wanted, batch_rows=batch)
    session.run(files or [], out)
