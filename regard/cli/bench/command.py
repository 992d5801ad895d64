"""The measurements of `regard bench`: each reads its options, measures, and shows."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.plain_help import PlainCommand, PlainGroup
from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.lessons.complexity import StudyPlan

LENGTHS = "32,64,128,256,512,1024,2048,4096,8192"
WIDTHS = "64,128,256,512,1024"
LONG = "512,1024,2048,4096,8192,16384,32768"

app = typer.Typer(
    cls=PlainGroup,
    help="Measure what is said about layers.",
    epilog="Example: regard bench complexity",
    invoke_without_command=True,
)


@app.callback()
def bench(context: typer.Context) -> None:
    """Measure what is said about layers."""
    # Where rich is there, typer prints the help itself and gives nothing back.
    if context.invoked_subcommand is None and (text := context.get_help()):
        typer.echo(text)


@app.command(cls=PlainCommand, epilog="Example: regard bench complexity --lengths 64,256")
def complexity(
    lengths: Annotated[str, typer.Option(help="Sequence lengths n, by commas.")] = LENGTHS,
    widths: Annotated[str, typer.Option(help="Widths d, by commas.")] = WIDTHS,
    reach: Annotated[
        int, typer.Option(help="r: places a restricted attention sees on each side.")
    ] = 16,
    kernel: Annotated[int, typer.Option(help="k: places a convolution sees, an odd number.")] = 3,
    rounds: Annotated[
        int, typer.Option(help="Times each point is measured; the best counts.")
    ] = 10,
    minutes: Annotated[float, typer.Option(help="Leave out what would take longer.")] = 4.0,
    json: Annotated[bool, typer.Option("--json", help="Print every number as JSON.")] = False,
    save: Annotated[
        Path | None, typer.Option(help="Draw time and memory over n: .png, .svg or .pdf.")
    ] = None,
) -> None:
    """Table 1 of "Attention Is All You Need": four layers, stated and found."""
    from regard.lessons.complexity import StudyPlan

    plan = StudyPlan(
        lengths=numbers("--lengths", lengths),
        widths=numbers("--widths", widths),
        reach=reach,
        kernel=kernel,
        rounds=rounds,
        minutes=minutes,
    )
    _measure(plan, json=json, save=save)


@app.command(cls=PlainCommand, epilog="Example: regard bench long --lengths 1024,2048,4096")
def long(
    lengths: Annotated[str, typer.Option(help="Sequence lengths n, by commas.")] = LONG,
    width: Annotated[int, typer.Option(min=4, help="The width d of all vectors.")] = 256,
    layers: Annotated[
        str, typer.Option(help="T-DMCA's layers: L local, M memory-compressed.")
    ] = "LMLML",
    block: Annotated[int, typer.Option(min=1, help="Places that a local layer sees.")] = 256,
    stride: Annotated[int, typer.Option(min=1, help="Places that become one of the memory.")] = 3,
    rounds: Annotated[int, typer.Option(help="Times each point is measured; the best counts.")] = 2,
    minutes: Annotated[float, typer.Option(help="Leave out what would take longer.")] = 10.0,
    json: Annotated[bool, typer.Option("--json", help="Print every number as JSON.")] = False,
    save: Annotated[
        Path | None, typer.Option(help="Draw time and memory over n: .png, .svg or .pdf.")
    ] = None,
) -> None:
    """Long sequences: T-DMCA beside full attention, in training."""
    from regard.lessons.complexity import LongPlan

    if not layers or set(layers) - {"L", "M"}:
        raise UsageError(f"--layers is a letter a layer, L or M, such as LMLML, not {layers!r}")
    plan = LongPlan(
        lengths=numbers("--lengths", lengths),
        widths=(width,),
        reach=block,
        kernel=3,
        rounds=rounds,
        minutes=minutes,
        layers=layers,
        stride=stride,
    )
    _measure(plan, json=json, save=save, structures=())


def _measure(
    plan: "StudyPlan", *, json: bool, save: Path | None, structures: tuple[int, ...] | None = None
) -> None:
    """Measure, and show: as a table or JSON, and as a picture on demand."""
    import torch

    from regard.cli.bench.showing import BenchDisplay, draw_growth, print_json, print_report
    from regard.engine import keep_heap
    from regard.inspection.figures import checked_path
    from regard.lessons.complexity import Study, make_report

    if save is not None:
        checked_path(save)  # before minutes of measuring, not after
    # More threads would help from some size on, and large tensors be mapped anew every time: both
    # would bend the lines where they begin.
    torch.set_num_threads(1)
    keep_heap()
    study = Study(plan)
    with BenchDisplay(plan) as display:
        for progress in study.run():
            display.show(progress)
    report = make_report(plan, list(study.measured.values()), study.skipped, structures)
    if save is not None:
        draw_growth(report, save)
    if json:
        print_json(report)
    else:
        print_report(report)
    if save is not None:
        typer.echo(f"The picture is in {save}.", err=True)


def numbers(option: str, written: str) -> tuple[int, ...]:
    """The whole numbers of a list with commas, each of them once."""
    try:
        found = tuple(int(part) for part in written.split(","))
    except ValueError:
        raise UsageError(
            f"{option} takes whole numbers with commas between them, such as 64,128,256, "
            f"not {written!r}"
        ) from None
    if min(found) < 1:
        raise UsageError(f"{option} takes numbers from 1, not {min(found)}")
    return tuple(sorted(set(found)))
