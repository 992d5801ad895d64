"""`regard export`: a model folder as other libraries read it."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli import searching


def export(
    model: searching.Model,
    to: Annotated[str, typer.Option(help="huggingface or ctranslate2.")],
    out: Annotated[Path, typer.Option(help="The folder to write.")],
) -> None:
    """Write a model for the library transformers, or for the engine CTranslate2."""
    from regard.folder.foreign import export_model

    written = export_model(model, to, out)
    names = ", ".join(sorted(one.name for one in written.iterdir()))
    typer.echo(f"{written}: {names}", err=True)
