"""`regard fill`: which words were taken out of a sentence."""

import json
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from regard.cli import searching


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
    import torch

    from regard.cli.training_session import choose_device
    from regard.language import Finder

    if threads is not None:
        torch.set_num_threads(threads)
    finder = Finder.open(model, device=choose_device(device))
    searching.write_utf8()
    for line in _lines() if text is None else [text]:
        found = finder.fill(line, k)
        if as_json:
            words = [[asdict(one) for one in best] for best in found]
            typer.echo(json.dumps({"text": line, "found": words}, ensure_ascii=False))
            continue
        for best in found:
            for one in best:
                typer.echo(f"{one.probability:.3f}\t{one.word}\t{one.text}")


def _lines() -> list[str]:
    """Those of standard input, if all of them have something to find."""
    from regard.errors import UsageError
    from regard.inspection.trace import MASK

    lines = sys.stdin.read().splitlines()
    for number, line in enumerate(lines, start=1):
        if MASK not in line:
            raise UsageError(
                f"line {number} of standard input has nothing to find: write {MASK} where a word "
                "is missing"
            )
    return lines
