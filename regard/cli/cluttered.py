"""`regard data cluttered`: canvases with a picture among pieces of others, as idx files."""

from pathlib import Path

import typer

from regard.errors import DataError, UsageError

_PARTS = (("train", "train"), ("test", "t10k"))


def write_cluttered(
    source: str | None,
    out: Path | None,
    *,
    canvas: int,
    n_pieces: int | None,
    sizes: dict[str, int | None],
    seed: int,
    is_forced: bool,
) -> None:
    """Write the training and the test part of a set of pictures, each on its canvases."""
    from regard.corpora import is_extract
    from regard.counting import counted
    from regard.data import read_picture_set
    from regard.data.cluttered import clutter, write_canvases

    if source is None or out is None:
        raise UsageError(
            "cluttered canvases are made of pictures: regard data cluttered --from mnist --out DIR"
        )
    if (there := sorted(out.glob("*-idx*"))) and not is_forced:
        raise UsageError(
            f"{out} already holds {there[0].name}: choose another --out, or replace what is there "
            "with --force"
        )
    out.mkdir(parents=True, exist_ok=True)
    # As in the paper: four pieces on 60 × 60 pixels, eight on 100 × 100.
    pieces = n_pieces if n_pieces is not None else 4 if canvas <= 60 else 8
    for part, written in _PARTS:
        try:
            found = read_picture_set(f"{source}:{part}", n_channels=1)
        except DataError:
            if part == "train" and is_extract(source):
                raise
            if part == "test":
                typer.echo(f"{source} has no test part: only canvases to learn from", err=True)
                continue
            found = read_picture_set(source, n_channels=1)
        made = clutter(found, canvas, pieces, n=sizes[part], seed=seed + (part == "test"))
        write_canvases(out, written, made)
        typer.echo(
            f"{out}: {counted(len(made), 'canvas', 'canvases')} of {canvas} × {canvas} pixels with "
            f"{counted(pieces, 'piece')}, part {part}",
            err=True,
        )
