"""`regard causes`: which head each construction needs."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli import searching
from regard.counting import counted

if TYPE_CHECKING:
    from regard.systems.causes import CauseReport


def causes(
    model: searching.Model,
    corpus: Annotated[
        str, typer.Option(help="Pairs with trees and constructions: phrasebook:en-fr:test:500.")
    ],
    of: Annotated[
        str | None,
        typer.Option(metavar="HEADS", help="Try these: encoder, cross.1.", show_default="all"),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What `regard heads --json` printed: the head that follows a relation is "
            "measured too.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
) -> None:
    """Switch off head after head: what does a translator get worse at, and what not?"""
    from regard import api
    from regard.cli.progress import Showing, shower
    from regard.devices import choose_device

    searching.write_utf8()
    searching.set_threads(threads)
    opened = api.load(model, device=choose_device(device))
    with Showing(is_silent=as_json) as showing:
        found = opened.causes(corpus, of=of, report=report, tell=shower(showing))
    if as_json:
        typer.echo(json.dumps(_plain(found), ensure_ascii=False, indent=2))
    else:
        _print(found)


def _plain(found: "CauseReport") -> dict[str, object]:
    rows = [one.to_dict() | {"head": one.head.name, "ratio": one.ratio} for one in found.causes]
    return found.to_dict() | {"causes": rows}


def _print(found: "CauseReport") -> None:
    from regard.cli.terminal import Column, print_table, say

    say(
        f"{found.model}: {found.n_tried} heads switched off one by one, "
        f"{counted(found.n_examples, 'pair')} of {found.corpus}; nats a token, chosen "
        "on one half and measured on the other"
    )
    say()
    numbers = ("lost", "95 %", "others lose", "times", "n")
    columns = [Column("words"), Column("head"), *(Column(one, "right") for one in numbers)]
    order = sorted(found.causes, key=lambda one: (one.group, -one.ratio))
    rows = [
        [
            f"{one.group}: {one.name}",
            one.head.name + (" (follows it)" if one.is_reported else ""),
            f"{one.lost:.3f}",
            f"{one.low:.3f}–{one.high:.3f}",
            f"{one.others:.3f}",
            f"{one.ratio:.1f}" if one.low > 0 else "–",
            f"{one.n:,}",
        ]
        for one in order
    ]
    print_table(columns, rows)
    sure = {one.name for one in order if one.low > 3 * max(one.others, 1e-3)}
    say()
    say(
        f"{len(sure)} of {len({one.name for one in order})} groups lose at least three times as "
        "much as all other words, also at the lower end of the interval."
    )
