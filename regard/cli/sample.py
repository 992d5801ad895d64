"""`regard sample`: pictures of a generator, as a sheet of them or as arrays."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli import searching
from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.systems.pictures import PictureGenerator, Pixels

_ENDINGS = (".png", ".npy")
_MOST = 10_000  # pictures


def sample(
    model: searching.Model,
    out: Annotated[
        Path,
        typer.Option(help="Where they go: .png, all on one sheet, or .npy, an array of them."),
    ] = Path("samples.png"),
    grid: Annotated[
        str, typer.Option(metavar="ROWSxCOLUMNS", help="How many, below and beside each other.")
    ] = "8x8",
    label: Annotated[
        str | None,
        typer.Option("--class", help="Of which class, by name or number.", show_default="in turns"),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Of the first picture; the next has the next.", show_default="1"),
    ] = None,
    from_seed: Annotated[
        int | None, typer.Option(help="Draw the way from this picture ...")
    ] = None,
    to_seed: Annotated[
        int | None, typer.Option(help="... to this one, in each row of the sheet.")
    ] = None,
    scale: Annotated[int, typer.Option(min=1, max=32, help="Pixels of a pixel, in a .png.")] = 2,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
) -> None:
    """Draw pictures from noise: a sheet of samples, or the way from one to another."""
    from regard.systems.pictures import PictureGenerator

    if out.suffix.lower() not in _ENDINGS:
        raise UsageError(f"--out {out} ends in neither {' nor '.join(_ENDINGS)}: choose one")
    if (from_seed is None) != (to_seed is None):
        raise UsageError("--from-seed and --to-seed are the ends of a way: give both, or neither")
    if from_seed is not None and seed is not None:
        raise UsageError("--seed is of single pictures, --from-seed and --to-seed of ways: choose")
    rows, columns = _grid(grid)
    opened = searching.open_as(PictureGenerator, model, device, threads)
    if from_seed is None or to_seed is None:
        drawn = opened.sample(rows * columns, label=label, seed=1 if seed is None else seed)
    else:
        drawn = _ways(opened, rows, columns, label, from_seed, to_seed)
    _write(out, drawn, columns, scale)
    typer.echo(f"saved {out}", err=True)


def _grid(given: str) -> tuple[int, int]:
    parts = given.lower().replace("×", "x").split("x")
    if len(parts) != 2 or not all(one.isdecimal() and int(one) for one in parts):
        raise UsageError(f"--grid {given} is no size: give rows and columns, for example 8x8")
    rows, columns = int(parts[0]), int(parts[1])
    if rows * columns > _MOST:
        raise UsageError(f"--grid {given} is more than {_MOST:,} pictures: ask for fewer")
    return rows, columns


def _ways(
    opened: "PictureGenerator", rows: int, columns: int, label: str | None, first: int, last: int
) -> "Pixels":
    """A way in each row: of the next classes in turns, or of one class from the next seeds."""
    import numpy as np

    n_classes = max(1, len(opened.labels))
    ways = [
        opened.interpolate(first, last, columns, label=row % n_classes)
        if label is None
        else opened.interpolate(first + row, last + row, columns, label=label)
        for row in range(rows)
    ]
    return np.concatenate(ways)


def _write(out: Path, drawn: "Pixels", columns: int, scale: int) -> None:
    import io

    import numpy as np
    from PIL import Image

    from regard.files import write_bytes
    from regard.systems.pictures import sheet

    written = io.BytesIO()
    if out.suffix.lower() == ".npy":
        np.save(written, drawn)
    else:
        Image.fromarray(sheet(drawn, columns, scale=scale)).save(written, "PNG")
    write_bytes(out, written.getvalue())
