"""`regard shortlist`: the words that translate each word, so that a search looks at few others."""

import json
from typing import Annotated

import typer

from regard.cli import searching
from regard.counting import counted


def shortlist(
    model: searching.Model,
    data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Pairs to learn from, files or a corpus as `regard train` takes them; repeatable.",
            show_default="those the model was trained on",
        ),
    ] = None,
    valid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Held-out pairs to measure with; repeatable.",
            show_default="those of its training",
        ),
    ] = None,
    translations: Annotated[
        int, typer.Option(min=1, help="How many tokens may come for each token of a source.")
    ] = 100,
    always: Annotated[
        int, typer.Option(min=0, help="How many of the most frequent tokens may always come.")
    ] = 100,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    threads: searching.Threads = None,
) -> None:
    """Learn which words a translator may need for each source word, for `--shortlist`."""
    from regard.systems.shortlists import learn_shortlist

    searching.write_utf8()
    searching.set_threads(threads)
    done = learn_shortlist(model, data or (), valid or (), translations=translations, always=always)
    if as_json:
        typer.echo(json.dumps(done.to_dict(), ensure_ascii=False, indent=2))
        return
    typer.echo(f"{done.path}: learned from {counted(done.n_pairs, 'pair')}.")
    for width, share in done.shares.items():
        search = "greedy search" if width == 1 else f"a beam of {width}"
        typer.echo(
            f"With {search}, {share:.1%} of {done.n_held_out:,} held-out sentences are translated "
            f"the same, {done.speeds[width]:.2f} times as fast."
        )
    typer.echo(f"Next: regard translate {model} --shortlist")
