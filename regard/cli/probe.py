"""`regard probe`: what each layer of a model knows of its words."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli import searching
from regard.counting import counted

if TYPE_CHECKING:
    from regard.inspection.figures import DrawnFigure
    from regard.systems.probing import ProbeReport


def probe(
    model: searching.Model,
    treebank: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Trees that probes learn from: CoNLL-U (plain, .gz, .xz), or a corpus with trees "
            "(phrasebook:en-fr:valid).",
        ),
    ],
    test: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Trees to measure them on.",
            show_default="every other sentence of --treebank",
        ),
    ] = None,
    most: Annotated[int, typer.Option(min=20, help="Sentences of each that are read.")] = 2000,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the scores over the layers: .svg, .png or .pdf."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
) -> None:
    """Read relations, tags and trees off each layer, beside what a probe learns by heart."""
    from regard import api
    from regard.cli.progress import Showing, shower
    from regard.devices import choose_device
    from regard.inspection.figures import checked_path

    searching.write_utf8()
    searching.set_threads(threads)
    if save is not None:
        checked_path(save)
    opened = api.load(model, device=choose_device(device))
    with Showing(is_silent=as_json) as showing:
        report = opened.probe(treebank, test, most=most, tell=shower(showing))
    if save is not None:
        _drawn(report).save(save)
    if as_json:
        typer.echo(json.dumps(_plain(report), ensure_ascii=False, indent=2))
    else:
        _print(report)


def _plain(report: "ProbeReport") -> dict[str, object]:
    plain = report.to_dict()
    for task, layers in report.tasks.items():
        plain["tasks"][task] = [one.to_dict() | {"selectivity": one.selectivity} for one in layers]
    return plain


def _print(report: "ProbeReport") -> None:
    from regard.cli.terminal import Column, print_table, say

    say(
        f"{report.model}: probes learned from {counted(report.n_learned, 'sentence')} and "
        f"are measured on {report.n_measured:,}; in percent"
    )
    tasks = list(report.tasks)
    for task in tasks:
        say()
        name = "tree (edges found)" if task == "tree" else task
        columns = ["score", "95 %", "control", "selectivity"]
        rows = [
            [
                "embeddings" if one.layer == 0 else f"layer {one.layer - 1}",
                f"{100 * one.score:.1f}",
                f"{100 * one.low:.1f}–{100 * one.high:.1f}",
                f"{100 * one.control:.1f}",
                f"{100 * one.selectivity:.1f}",
            ]
            for one in report.tasks[task]
        ]
        print_table([Column(name), *(Column(one, "right") for one in columns)], rows)
        what = "every word its next" if task == "tree" else "the most frequent label"
        say(f"Without a model, {what}: {100 * report.baselines[task]:.1f}")


def _drawn(report: "ProbeReport") -> "DrawnFigure":
    from regard.inspection.figures import Curve, Plot, curves

    def plot(task: str) -> Plot:
        layers = report.tasks[task]
        told = tuple((one.layer, 100 * one.score) for one in layers)
        control = tuple((one.layer, 100 * one.control) for one in layers)
        flat = tuple((one.layer, 100 * report.baselines[task]) for one in layers)
        drawn = (Curve(task, told), Curve("control task", control), Curve("no model", flat))
        ticks = tuple((one.layer, str(one.layer - 1) if one.layer else "E") for one in layers)
        return Plot(drawn, "layer (E: embeddings)", "right, in percent", task, ticks)

    return curves([plot(task) for task in report.tasks], f"What layers know: {report.model}")
