"""`regard challenge`: does a model prefer the good sentence of minimal pairs?"""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli import searching
from regard.cli.progress import Showing


class Sentences(Showing):
    """Shows how many sentences are scored, and by whom."""

    def told(self, doing: str, n: int, total: int) -> None:
        """So many of them."""
        if n == 0:
            self.begin(total, doing)
        self.at(n, f"{doing}: {n:,} of {total:,} sentences", doing)


def challenge(
    model: searching.Model,
    pairs: Annotated[
        Path,
        typer.Argument(
            metavar="SET",
            help="Minimal pairs: a table with the columns phenomenon, paradigm, good, bad (and "
            "source, for a translator), plain, .gz or .xz.",
        ),
    ],
    text: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="What n-gram models count.", show_default="the model's own data"
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Pairs of each paradigm.", show_default="all")
    ] = None,
    paradigms: Annotated[
        bool, typer.Option("--paradigms", help="Show a row a paradigm, not a phenomenon.")
    ] = False,
    controls: Annotated[
        bool,
        typer.Option(
            "--controls/--no-controls", help="Also measure n-gram models and an untrained model."
        ),
    ] = True,
    ablate_heads: Annotated[
        bool,
        typer.Option("--ablate-heads", help="Find the head that each paradigm needs most."),
    ] = False,
    save: Annotated[
        Path | None, typer.Option(help="Keep the figures: .csv, .json, .svg, .png or .pdf.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
) -> None:
    """Measure how often a model prefers the good sentence, beside models that count words.

    A GPT goes by log P(sentence), a BERT by its pseudo-log-likelihood, a translator by
    log P(target | source).
    """
    import json

    from regard.cli.evaluation_report import show_table
    from regard.cli.table_files import check_ending, save_table
    from regard.data.minimal_pairs import read_minimal_pairs
    from regard.systems.challenge import challenge as measure

    check_ending(save)
    given = read_minimal_pairs(pairs, limit)
    with Sentences() as display:
        found = measure(
            searching.open_any(model, device, threads),
            given,
            text=text,
            controls=controls,
            ablate_heads=ablate_heads,
            told=display.told,
        )
    if save is not None:
        save_table(save, found, found.table(by_paradigm=paradigms))
    searching.write_utf8()
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
        return
    show_table(found.table(by_paradigm=paradigms))
    if found.heads:
        typer.echo()
        show_table(found.heads_table())
