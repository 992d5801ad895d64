"""`regard prune`: a model folder with fewer heads, smaller and faster."""

import json
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli import searching

if TYPE_CHECKING:
    from regard.inspection.figures import DrawnFigure
    from regard.systems.further_training import HeldOutQuality
    from regard.systems.pruning import Pruning

_KINDS = ("encoder", "decoder", "cross")


def prune(
    model: searching.Model,
    keep: Annotated[
        str, typer.Option(metavar="N|N%", help="How many heads stay: 10, or 50% for half of them.")
    ],
    out: Annotated[Path, typer.Option(help="The folder of the new model.")],
    method: Annotated[
        str,
        typer.Option(
            metavar="gates|importance|gain|random",
            help="How they are chosen: by gates that learn to close, by the gradient of the loss, "
            "by what `regard heads` found, or by chance.",
        ),
    ] = "importance",
    of: Annotated[
        str | None,
        typer.Option(
            metavar="encoder,decoder,cross", help="Prune these attentions.", show_default="all"
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="For gain: what `regard heads --json` printed."),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Data to learn from, a corpus or files as `regard train` takes them; repeatable.",
            show_default="those the model was trained on",
        ),
    ] = None,
    valid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="Held-out data; repeatable.", show_default="those of its training"
        ),
    ] = None,
    updates: Annotated[
        int, typer.Option(min=0, help="Updates of further training without the heads.")
    ] = 0,
    gate_updates: Annotated[int, typer.Option(min=1, help="Updates that gates learn for.")] = 1000,
    draws: Annotated[
        int, typer.Option(min=1, help="How often as many heads are drawn by chance beside.")
    ] = 10,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the loss over the number of heads: .svg, .png."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    seed: searching.Seed = 1,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
) -> None:
    """Take heads out of a model for good: a smaller, faster folder, and what it costs."""
    from regard.cli.progress import Showing, shower
    from regard.inspection.figures import checked_path
    from regard.systems.pruning import prune as prune_model

    searching.write_utf8()
    searching.set_threads(threads)
    if save is not None:
        checked_path(save)
    with Showing(is_silent=as_json) as showing:
        done = prune_model(
            model,
            out,
            keep=keep,
            method=method,
            of=of,
            report=report,
            data=data or (),
            valid=valid or (),
            updates=updates,
            gate_updates=gate_updates,
            draws=draws,
            with_curve=save is not None,
            seed=seed,
            device=device,
            tell=shower(showing),
        )
    if save is not None:
        _drawn(done).save(save)
    if as_json:
        typer.echo(json.dumps(_plain(done), ensure_ascii=False, indent=2))
    else:
        _print(done)


def _print(done: "Pruning") -> None:
    """What is kept, what it costs and what it saves."""
    from rich.text import Text

    from regard.cli.terminal import Column, open_console, print_lines, say, table

    n, n_all = len(done.kept), len(done.kept) + len(done.removed)
    say(f"{done.path}: {n} of {n_all} heads are kept, chosen by {done.method}.", "bold")
    console = open_console()
    rows = [
        [f"{kind}.{layer}", " ".join(str(head) for head in kept) or "none"]
        for (kind, layer), kept in _layers(done).items()
    ]
    print_lines(console, table([Column("layer"), Column("heads kept")], rows, console.width), 2)
    measures = list(done.before.quality)
    columns = [Column(), *(Column(name, "right") for name in ("loss", *measures))]
    cells: list[list[str | Text | tuple[Text, ...]]] = [
        ["all heads", *_numbers(done.before, measures)]
    ]
    cells.append([f"{n} heads", *_numbers(done.after, measures)])
    if done.trained is not None:
        cells.append(["trained further", *_numbers(done.trained, measures)])
    low, high = min(done.random), max(done.random)
    chance = f"{fmean(done.random):.4f}"
    cells.append([f"{n} by chance, mean of {len(done.random)}", chance])
    say()
    print_lines(console, table(columns, cells, console.width), 2)
    say(f"By chance the loss is {low:.4f} to {high:.4f}.", indent=2)
    say()
    before, after = done.n_parameters
    say(
        f"{before:,} weights became {after:,} ({1 - after / before:.0%} fewer), "
        f"{done.n_bytes[0] / 1e6:.1f} MB became {done.n_bytes[1] / 1e6:.1f} MB. Heads of the new "
        "model are counted from 0; its recipe says which were taken out (model.heads_removed)."
    )


def _numbers(one: "HeldOutQuality", measures: list[str]) -> list[str]:
    return [f"{one.loss:.4f}", *(f"{one.quality[name]:.2f}" for name in measures)]


def _layers(done: "Pruning") -> dict[tuple[str, int], list[int]]:
    """The heads kept of each layer, also where there are none."""
    every = sorted((*done.kept, *done.removed), key=lambda head: (_KINDS.index(head.kind), head))
    layers: dict[tuple[str, int], list[int]] = {(head.kind, head.layer): [] for head in every}
    for head in sorted(done.kept):
        layers[head.kind, head.layer].append(head.head)
    return layers


def _plain(done: "Pruning") -> dict[str, object]:
    named = {"kept": [one.name for one in done.kept], "removed": [one.name for one in done.removed]}
    return done.to_dict() | named


def _drawn(done: "Pruning") -> "DrawnFigure":
    """The loss over the number of heads: chosen, by chance, and what the new folder has."""
    from regard.inspection.figures import Curve, Plot, curves

    chosen = tuple((point.n_heads, point.loss) for point in done.curve)
    chance = [
        (name, tuple((point.n_heads, of(point.random)) for point in done.curve))
        for name, of in (
            ("by chance, mean", fmean),
            ("best of chance", min),
            ("worst of chance", max),
        )
    ]
    drawn = [Curve(f"by {done.method}", chosen), *(Curve(name, points) for name, points in chance)]
    if done.method == "gates" or done.trained is not None:
        drawn.append(Curve("the new model", ((len(done.kept), done.final.loss),)))
    plot = Plot(tuple(drawn), "heads", "loss on held-out data, in nats")
    return curves([plot], f"Without some heads: {Path(done.path).name}")
