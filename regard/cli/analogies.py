"""`regard analogies`: a is to b as c is to which word, by embeddings or word vectors."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli import searching
from regard.errors import UsageError


def analogies(
    model: Annotated[
        Path,
        typer.Argument(help="A model folder, or word vectors as text (word2vec, GloVe; also .gz)."),
    ],
    file: Annotated[
        Path, typer.Argument(help="Analogies: four words a line, sections after a colon.")
    ],
    subwords: Annotated[
        str,
        typer.Option(help="Of a model, words of several tokens: leave-out or average."),
    ] = "leave-out",
    vocabulary: Annotated[
        int, typer.Option(min=1, help="Of word vectors: how many of the first are read.")
    ] = 300_000,
    save: Annotated[
        Path | None, typer.Option(help="Keep the figures: .csv, .json, .svg, .png or .pdf.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure how many word analogies embeddings solve, by 3CosAdd and 3CosMul."""
    import json

    from regard.api import analogies as measure
    from regard.cli.evaluation_report import show_table
    from regard.cli.table_files import check_ending, save_table

    check_ending(save)
    if not model.exists():
        raise UsageError(f"{model}: there is no such model folder, nor a file of word vectors")
    found = measure(model, file, subwords=subwords, vocabulary=vocabulary)
    if save is not None:
        save_table(save, found, found.table())
    searching.write_utf8()
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        show_table(found.table())
