"""`regard recipes`: the presets that ship with the package, and what they say."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli import searching
from regard.cli.plain_help import PlainCommand, PlainGroup

if TYPE_CHECKING:
    from typer import Context

    from regard.config import Recipe
else:
    Context = typer.Context.__base__  # what typer really hands over, so that checks hold

PAPERS_VOCABULARY = 37_000  # of "Attention Is All You Need", so that its sizes can be compared
MAX_VOCABULARY = 10**9

app = typer.Typer(
    cls=PlainGroup,
    help="List the recipes that ship with Regard.",
    epilog="Example: regard recipes show transformer-small",
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.callback(invoke_without_command=True)
def recipes(
    context: Context,
    vocabulary: Annotated[
        int, typer.Option(help="Count parameters for a shared vocabulary of this size.")
    ] = PAPERS_VOCABULARY,
    as_json: AsJson = False,
) -> None:
    """List the recipes that ship with Regard: name, size, what for."""
    if context.invoked_subcommand is not None:
        return
    from regard.config import presets
    from regard.errors import UsageError

    if not 1 <= vocabulary <= MAX_VOCABULARY:
        raise UsageError(
            f"a vocabulary of {vocabulary} is not possible: give 1 to {MAX_VOCABULARY:,}"
        )
    counted = [(recipe, count_parameters(recipe, vocabulary)) for recipe in presets()]
    if as_json:
        rows = [
            {"name": one.name, "parameters": n, "vocabulary": vocabulary, "purpose": one.purpose}
            for one, n in counted
        ]
        typer.echo(json.dumps(rows, indent=2))
    else:
        _print_table(counted, vocabulary)


@app.command(cls=PlainCommand, epilog="Example: regard recipes show transformer-small")
def show(
    name: Annotated[str, typer.Argument(help="A preset, or a recipe file (.toml).")],
    changes: searching.Changes = None,
    as_json: AsJson = False,
) -> None:
    """Print a recipe as TOML; what it does not say has the default."""
    from regard.config import preset_names, preset_text, read_recipe, write_recipe

    if as_json:
        typer.echo(read_recipe(name, changes or ()).model_dump_json(indent=2))
    elif changes or name not in preset_names():
        recipe = read_recipe(name, changes or ())
        typer.echo(write_recipe(recipe), nl=False)
    else:
        typer.echo(preset_text(name), nl=False)  # with the comments that say why


def count_parameters(recipe: "Recipe", n_vocabulary: int) -> int:
    """How many numbers the model learns; it is built without memory for them."""
    import torch

    from regard.systems import build

    # What data decide: a picture is as one of MNIST where the recipe leaves it open.
    known = {"dropout": 0.0, "labels": ("one", "another"), "size": 28, "colours": 1}
    fields = recipe.model.model_dump()
    own = {key: value for key, value in known.items() if fields.get(key) in ("auto", ())}
    with torch.device("meta"):
        model = build(recipe.model.model_copy(update=own), n_vocabulary, n_vocabulary)
    return model.n_parameters


def _print_table(counted: list[tuple["Recipe", int]], vocabulary: int) -> None:
    from regard.cli.terminal import Column, print_table, say

    columns = [Column("recipe"), Column("parameters", "right"), Column("what for", wraps=True)]
    rows = [(recipe.name, f"{n / 1e6:.1f} M", recipe.purpose) for recipe, n in counted]
    print_table(columns, rows)
    say()
    say(
        f"Parameters for a shared vocabulary of {vocabulary:,}. "
        "`regard recipes show NAME` prints a recipe."
    )
