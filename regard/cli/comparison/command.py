"""`regard compare`: how good, how large and how fast, and how each fares with long sentences."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli import searching
from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.systems import Translator

Models = Annotated[list[Path], typer.Argument(help="Model folders, two or more.")]


def compare(
    models: Models,
    source: searching.Sentences = None,
    target: searching.References = None,
    corpus: searching.Corpus = None,
    tokenize: searching.Tokenize = None,
    parts: Annotated[
        int, typer.Option(min=1, max=20, help="Parts of the sentences, from short to long.")
    ] = 4,
    save: Annotated[
        Path | None, typer.Option(help="Draw quality over length: a name in .png, .svg or .pdf.")
    ] = None,
    beam: searching.Beam = 5,
    alpha: searching.Alpha = 1.0,
    penalty: searching.Penalty = "wu",
    max_tokens: searching.MaxTokens = 512,
    batch: searching.Batch = 64,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare models on the same sentences: quality, also by length of the source, and speed."""
    from regard.cli.comparison.display import ComparisonDisplay, draw_lengths, print_comparison
    from regard.cli.comparison.measuring import ComparisonRequest, compare_models
    from regard.cli.evaluate import known_tokenization
    from regard.inspection.figures import checked_path
    from regard.systems.evaluation import read_sides

    if len(models) < 2:
        raise UsageError("compare needs two model folders or more: `regard evaluate` measures one")
    if len(set(models)) < len(models):
        raise UsageError("a model folder was named twice: name each once")
    if save is not None:
        checked_path(save)
    sources, references = read_sides(source, target, corpus, needs_sources=True)

    def open_model(path: Path) -> "Translator":
        return searching.open_translator(
            path, device=device, threads=threads, max_tokens=max_tokens
        )

    asked = ComparisonRequest(
        sources,
        references,
        searching.beam_of(beam, alpha, penalty),
        known_tokenization(tokenize),
        parts,
        batch,
    )
    with ComparisonDisplay(len(models) * len(sources)) as display:
        compared = compare_models(models, open_model, asked, display.advance)
    print_comparison(compared, is_json=as_json)
    if save is not None:
        place = draw_lengths(compared, save)
        typer.echo(f"Drawn: {place}", err=True)
