"""`regard average`: one model out of several, or out of the last checkpoints of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.counting import counted
from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.folder import LoadedModel


def average(
    models: Annotated[list[Path], typer.Argument(help="Model folders with one vocabulary.")],
    out: Annotated[Path, typer.Option(help="The folder of the new model.")],
    last: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Average the last N checkpoints of one model."),
    ] = None,
) -> None:
    """Average the weights of several models into a new model folder."""
    from regard.folder import average as average_weights
    from regard.folder import load_lexicon, save, save_lexicon
    from regard.systems import load

    if last is not None and len(models) > 1:
        raise UsageError(f"--last {last} takes the checkpoints of one model, and {_named(models)}")
    if last is None and len(models) < 2:
        raise UsageError(
            "there is only one model to average: name more, or take its last checkpoints with "
            "--last 5"
        )
    if out.exists() and any(out.iterdir() if out.is_dir() else [out]):
        raise UsageError(f"--out {out} is there already: choose a folder that is new or empty")
    first = load(models[0])
    sources: list[Path] = models
    if last is not None:
        sources = _checkpoints(models[0], last)
    else:
        for path in models[1:]:
            _require_alike(first, load(path))
    weights = average_weights(sources)
    save(out, weights, first.recipe, first.source_tokenizer, first.target_tokenizer)
    if (lexicon := load_lexicon(models[0])) is not None:
        save_lexicon(out, lexicon)
    names = ", ".join(str(one) for one in sources)
    typer.echo(f"{out}: the average of {len(sources)}: {names}", err=True)


def _named(models: list[Path]) -> str:
    return f"{len(models)} are named: {', '.join(map(str, models))}"


def _checkpoints(folder: Path, last: int) -> list[Path]:
    from regard.folder import Checkpoints

    found = Checkpoints(folder).last(last)
    if len(found) < last:
        raise UsageError(
            f"{folder} has {len(found)} of {counted(last, 'checkpoint')}: ask for "
            f"--last {len(found)}"
            if found
            else f"{folder} has no checkpoints: they are kept in training/ beside the weights"
        )
    return [one.path for one in found]


def _require_alike(first: "LoadedModel", other: "LoadedModel") -> None:
    """Equal shapes are not enough: the same row of a table must mean the same token."""
    same = (
        first.source_tokenizer.fingerprint == other.source_tokenizer.fingerprint
        and first.target_tokenizer.fingerprint == other.target_tokenizer.fingerprint
    )
    if not same:
        raise UsageError(
            f"{other.path} and {first.path} have different vocabularies: only models with one "
            "vocabulary can be averaged"
        )
    ignored = {"dropout", "attention_dropout", "feedforward_dropout", "embedding_dropout"}
    sizes = (one.recipe.model.model_dump(exclude=ignored) for one in (first, other))
    one, another = sizes
    for key in one:
        if one[key] != another[key]:
            raise UsageError(
                f"{other.path} has model.{key} = {another[key]} and {first.path} has {one[key]}: "
                "only models of one shape can be averaged"
            )
