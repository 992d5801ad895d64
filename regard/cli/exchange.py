"""`regard export` and `regard import`: model folders for other libraries, and from them."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli import searching


def import_(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="DIR_OR_FILE",
            help="A Hugging Face folder of BERT, GPT-2 or MarianMT, or a file in it.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder of the new model.")],
    pairs: Annotated[
        bool, typer.Option("--pairs", help="A classifier of BERT reads two texts, not one.")
    ] = False,
) -> None:
    """Read a model that another library made into a model folder."""
    from regard.systems import import_model

    made = import_model(path, out, searching.tell, is_of_pairs=pairs)
    n_source, n_target = len(made.source_tokenizer), len(made.target_tokenizer)
    tokens = f"{n_source:,}" if n_source == n_target else f"{n_source:,} + {n_target:,}"
    kind, shape = made.recipe.model.kind, made.recipe.model.shape
    typer.echo(f"{out}: a model of kind {kind}, {shape}, a vocabulary of {tokens}", err=True)


def export(
    model: searching.Model,
    to: Annotated[str, typer.Option(help="huggingface or ctranslate2.")],
    out: Annotated[Path, typer.Option(help="The folder to write.")],
) -> None:
    """Write a model for the library transformers, or for the engine CTranslate2."""
    from regard.systems import export_model

    written = export_model(model, to, out)
    names = ", ".join(sorted(one.name for one in written.iterdir()))
    typer.echo(f"{written}: {names}", err=True)
