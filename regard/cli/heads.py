"""`regard heads`: which regularity each head follows, measured on treebanks."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli import searching

if TYPE_CHECKING:
    from regard.inspection.head_study import HeadReport


def heads(
    model: searching.Model,
    treebank: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Trees to choose heads by: CoNLL-U (plain, .gz, .xz), or a corpus with trees "
            "(phrasebook:en-fr:valid).",
        ),
    ],
    test: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Trees to measure the chosen heads on; the first is reported in full.",
            show_default="every other sentence of --treebank",
        ),
    ] = None,
    coreference: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="GAP's table (.tsv), a treebank with Entity= (GUM), or a corpus."
        ),
    ] = None,
    align: Annotated[
        str | None,
        typer.Option(
            metavar="FILES",
            help="True alignments for a translator: phrasebook:en-fr:test, 'pairs|gold' or "
            "'source|target|gold'.",
        ),
    ] = None,
    gold_from: Annotated[
        int, typer.Option(min=0, max=1, help="Whether gold counts words from 0 or from 1.")
    ] = 0,
    seeds: Annotated[
        int, typer.Option(min=0, max=20, help="Networks with random weights beside it.")
    ] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    save: Annotated[
        Path | None,
        typer.Option(help="Also write a file: .html, .svg, .png, .pdf, .json or .csv."),
    ] = None,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
) -> None:
    """Measure which regularity each head follows: syntax, position, coreference, alignment."""
    from regard import api
    from regard.cli.progress import Showing
    from regard.devices import choose_device
    from regard.inspection.figures import checked_path
    from regard.inspection.head_study import ENDINGS

    searching.write_utf8()
    searching.set_threads(threads)
    if save is not None:
        checked_path(save, ENDINGS, "the file of --save")
    opened = api.load(model, device=choose_device(device))
    with Showing(is_silent=as_json) as showing:
        is_begun = False

        def told(n: int, total: int) -> None:
            nonlocal is_begun
            if not is_begun:
                showing.begin(total, "sentences read")
                is_begun = True
            showing.at(n, f"{n:,} of {total:,} sentences read")

        report = opened.heads(
            treebank,
            test or (),
            coreference or (),
            align,
            gold_from=gold_from,
            seeds=seeds,
            told=told,
        )
    if save is not None:
        report.save(save)
    if as_json:
        typer.echo(json.dumps(report.to_dict(), ensure_ascii=False))
    else:
        _show(report)


def _show(report: "HeadReport") -> None:
    from regard.cli.terminal import Column, print_table, say
    from regard.counting import counted
    from regard.inspection.head_study import DIRECTIONS, percent

    measured = report.measured_on
    say(
        f"{report.model}: {counted(report.n_heads, 'head')} on "
        f"{counted(measured.n_sentences, 'sentence')} of {measured.name}"
    )
    say()
    right = ("score", "95 %", "offset", "random", "shuffled", "n")
    columns = [
        Column("relation"),
        Column("head"),
        Column("it"),
        *(Column(h, "right") for h in right),
    ]
    rows = [
        [
            name,
            one.name,
            DIRECTIONS[one.direction][0],
            percent(one.score),
            f"{percent(one.low)}–{percent(one.high)}",
            percent(one.offset),
            percent(one.random),
            percent(one.shuffled),
            f"{one.n:,}",
            "sure" if one.is_sure else "",
        ]
        for _, name, one in report.rows()
    ]
    print_table([*columns, Column()], rows)
    say()
    for name, share in report.sinks.items():
        head = f"{share.kind}.{share.layer}.{share.head}"
        chance = "" if share.chance is None else f", even weights {percent(share.chance)} %"
        say(f"Most weight on {name}: {head}, {percent(share.score)} %{chance}.")
    if (found := report.alignment) is not None:
        say(
            f"Alignment: cross.{found.layer}.{found.head} ({found.direction}), error rate "
            f"{percent(found.score)} % ({percent(found.low)}–{percent(found.high)}), offset "
            f"{percent(found.offset)} %, random {percent(found.random)} %, shuffled "
            f"{percent(found.shuffled)} %."
        )
    _show_others(report)
    say()
    for english, _ in report.answer:
        say(english)


def _show_others(report: "HeadReport") -> None:
    from regard.cli.terminal import say
    from regard.inspection.head_study import EVERYTHING, percent

    for name, found in report.others.items():
        n_same = sum(one.is_same for one in found.values())
        overall = found.get(EVERYTHING)
        scored = "" if overall is None else f", all relations {percent(overall.score)} %"
        say(f"On {name}: {n_same} of {len(found)} relations choose the same head{scored}.")
