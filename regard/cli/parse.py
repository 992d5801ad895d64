"""`regard parse`: the dependency trees of sentences, as CoNLL-U."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli import labelled, searching


def parse(
    model: searching.Model,
    file: Annotated[
        Path | None,
        typer.Argument(
            help="Sentences, a line each, or a .conllu file whose words are kept; lines of "
            "standard input if none."
        ),
    ] = None,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
) -> None:
    """Write the tree of each sentence in CoNLL-U: words, governors and relations."""
    from regard.data import read_treebank
    from regard.data.lines import read_lines
    from regard.systems.parsing import TreeParser

    parser = searching.open_as(TreeParser, model, device, threads)
    searching.write_utf8()
    if file is None:
        for burst in labelled.bursts(None):
            for tree in parser.parse_each(burst):
                typer.echo(tree.conllu(), nl=False)
        return
    if ".conllu" in file.name:
        given = [(one.text, one.words) for one in read_treebank(file)]
        trees = parser.parse_each(given)
    else:
        trees = parser.parse_each([line.strip() for line in read_lines(file) if line.strip()])
    for tree in trees:
        typer.echo(tree.conllu(), nl=False)
