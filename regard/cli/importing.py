"""`regard import`: a model made elsewhere becomes a model folder."""

from pathlib import Path
from typing import Annotated

import typer


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
    from regard.folder.foreign import import_model

    def tell(sentence: str) -> None:
        typer.echo(f"regard: {sentence}", err=True)

    made = import_model(path, out, tell, is_of_pairs=pairs)
    n_source, n_target = len(made.source_tokenizer), len(made.target_tokenizer)
    tokens = f"{n_source:,}" if n_source == n_target else f"{n_source:,} + {n_target:,}"
    kind, shape = made.recipe.model.kind, made.recipe.model.shape
    typer.echo(f"{out}: a model of kind {kind}, {shape}, a vocabulary of {tokens}", err=True)
