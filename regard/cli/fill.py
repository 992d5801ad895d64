"""`regard fill`: which words were taken out of a sentence."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli import searching

if TYPE_CHECKING:
    from regard.systems import FilledText, TextEncoder


def fill(
    model: searching.Model,
    text: Annotated[
        str | None, typer.Argument(help="A sentence with [MASK]; lines of standard input if none.")
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, help="How many words for each [MASK].")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
) -> None:
    """Find the words that were taken out of a sentence: regard fill MODEL "The [MASK] sleeps"."""
    from regard.systems import TextEncoder

    finder = searching.open_as(TextEncoder, model, device, threads)
    searching.write_utf8()
    answers = _of_lines(finder, k) if text is None else [(text, finder.fill(text, k))]
    for line, found in answers:
        if as_json:
            words = [[asdict(one) for one in best] for best in found.gaps]
            typer.echo(json.dumps({"text": line, "found": words}, ensure_ascii=False))
            continue
        for best in found.gaps:
            for one in best:
                typer.echo(f"{one.probability:.3f}\t{one.token}\t{one.text}")


def _of_lines(finder: "TextEncoder", k: int) -> Iterator[tuple[str, "FilledText"]]:
    """Lines of standard input as they arrive, with what was found; empty ones say nothing."""
    from regard.cli.arriving import lines_of_stdin
    from regard.errors import UsageError

    lines = (line for burst in lines_of_stdin() for line in burst)
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                found = finder.fill(line, k)
            except UsageError as error:
                raise UsageError(f"line {number} of standard input: {error}") from error
            yield line, found
