"""`regard embed`: sentences as vectors, and how alike two of them are."""

import json
from pathlib import Path
from typing import Annotated

import typer

from regard.cli import searching


def embed(
    model: searching.Model,
    files: Annotated[
        list[Path] | None, typer.Argument(help="Text, a sentence a line; standard input if none.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A .npy file for the vectors, a row a sentence.")
    ] = None,
    similarity: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="SENTENCE SENTENCE", help="Print how alike two sentences are."),
    ] = None,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
) -> None:
    """Turn sentences into vectors, as the model was made to: JSON lines, or --out FILE.npy."""
    import numpy as np

    from regard.cli.arriving import lines_of_files, lines_of_stdin
    from regard.errors import UsageError, WriteError
    from regard.files import whole_file
    from regard.systems import TextEncoder

    if similarity and (files or out is not None):
        what = str(files[0]) if files else "--out"
        raise UsageError(f"--similarity compares the two sentences it is given: leave {what} out")
    if out is not None and out.suffix != ".npy":
        raise UsageError(f"--out {out}: vectors are written as .npy; choose such a name")
    if out is not None and not out.parent.is_dir():
        raise UsageError(
            f"--out {out}: there is no folder {out.parent}; make it, or choose another"
        )
    finder = searching.open_as(TextEncoder, model, device, threads)
    if similarity:
        typer.echo(f"{finder.similarity(*similarity):.4f}")
        return
    if missing := [one for one in files or [] if not one.exists()]:
        raise UsageError(
            f"there is no file {missing[0]}: sentences are read from files, a line each, or "
            "from standard input"
        )
    bursts = lines_of_files(files) if files else lines_of_stdin()
    lines = [line for burst in bursts for line in burst]
    if cut := finder.cut(lines):
        which = f"line {cut[0] + 1}, which is longer"
        if len(cut) > 1:
            which = f"{len(cut):,} sentences that are longer, line {cut[0] + 1} the first"
        searching.tell(f"of {which}, the model reads {finder.sentence_length} tokens")
    if out is not None:
        if not lines:
            raise UsageError("there are no sentences: give a file, or lines on standard input")
        table = finder.embed(lines)
        try:
            with whole_file(out, is_shared=True) as place, place.open("wb") as file:
                np.save(file, table)
        except WriteError as error:
            raise UsageError(
                f"vectors cannot be written to {out}: {error.reason}; choose another place"
            ) from error
        return
    searching.write_utf8()
    for line, vector in zip(lines, finder.embed_each(lines), strict=True):
        row = {"text": line, "embedding": [round(one, 6) for one in vector.tolist()]}
        typer.echo(json.dumps(row, ensure_ascii=False))
