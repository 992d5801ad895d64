"""`regard generate`: a language model goes on from an opening, word by word as it comes."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli import searching
from regard.counting import counted, noun

if TYPE_CHECKING:
    from regard.systems import Looks, TextGenerator

_TEMPERATURE = 0.8
# Parameters; two threads of so short a step wait for each other where a machine is busy.
_SMALL = 10_000_000


def generate(
    model: searching.Model,
    prompt: Annotated[
        str | None, typer.Argument(help="How the text begins.", show_default="standard input")
    ] = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="The most tokens to write.")] = 200,
    temperature: Annotated[
        float | None,
        typer.Option(show_default=f"{_TEMPERATURE}", help="Below 1: less surprising."),
    ] = None,
    top_k: Annotated[
        int | None,
        typer.Option(min=0, show_default="0", help="Among the K most probable; 0: all."),
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(show_default="1.0", help="Among the fewest that reach this share."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed gives another story.")] = 1,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="Always the most probable, nothing by chance.")
    ] = False,
    stop: Annotated[
        list[str] | None, typer.Option(help="End before these words; repeatable.")
    ] = None,
    only_new: Annotated[
        bool, typer.Option("--only-new", help="Do not repeat the prompt before what follows.")
    ] = False,
    show_attention: Annotated[
        bool,
        typer.Option(
            "--show-attention", help="Then say what each new word looked at, on standard error."
        ),
    ] = False,
    save_attention: Annotated[
        list[Path] | None,
        typer.Option(help="Draw it into a file: .svg .png .pdf .html .json .trace; repeatable."),
    ] = None,
    layer: Annotated[
        int | None,
        typer.Option(min=0, help="Whose attention is shown, from 0.", show_default="the last"),
    ] = None,
    head: Annotated[
        int | None, typer.Option(min=0, help="Of one head, from 0.", show_default="the mean of all")
    ] = None,
    precision: searching.Precision = "float32",
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=searching.MOST_THREADS,
            help="Processor threads.",
            show_default="one for small models, all for others",
        ),
    ] = None,
    device: searching.Device = "auto",
) -> None:
    """Write on from an opening with a language model, to standard output and nothing else."""
    import torch

    from regard.cli.look import saving
    from regard.errors import UsageError
    from regard.systems import Looks, TextGenerator

    places = [saving.checked(place, "--save-attention") for place in save_attention or []]
    is_watched = show_attention or bool(places)
    if not is_watched and (layer is not None or head is not None):
        raise UsageError("--layer and --head say whose attention is shown: add --show-attention")
    if any(not one for one in stop or []):
        raise UsageError("--stop '' would end before the first word: give some characters")
    if greedy and any(choice is not None for choice in (temperature, top_k, top_p)):
        raise UsageError(
            "--greedy takes the most probable token each time, and --temperature, --top-k and "
            "--top-p draw by chance: give one or the other"
        )
    best = "--greedy for the most probable token each time"
    heat = _TEMPERATURE if temperature is None else temperature
    sampling = None if greedy else searching.drawn_by(heat, top_k, top_p, seed, instead=best)
    writer = searching.open_as(TextGenerator, model, device, threads, precision=precision)
    if threads is None and writer.model.n_parameters < _SMALL:
        torch.set_num_threads(1)
    text = _arrived() if prompt is None else prompt
    if unknown := writer.unknown(text):
        shown = " ".join(unknown[:10])
        searching.tell(f"the model has never seen {shown}: read as unknown")
    looks = Looks(layer, head) if is_watched else None
    if looks is not None:
        looks.site(writer.model)  # refuses before the first word is given
    searching.write_utf8()
    if not only_new:
        _give(text)
    try:
        _write(writer, text, sampling, max_tokens, stop or [], looks)
    finally:
        _give("\n")
    if looks is not None and show_attention:
        _show(looks, writer)
    if looks is not None and places:
        _draw(looks, writer, text, places)


def _arrived() -> str:
    """All of standard input, without the end of its last line."""
    from regard.cli.arriving import lines_of_stdin

    return "\n".join(line for burst in lines_of_stdin() for line in burst)


def _write(
    writer: "TextGenerator",
    prompt: str,
    sampling: object,
    most: int,
    stops: list[str],
    looks: "Looks | None",
) -> None:
    from regard.decoding import Sampling, Slid

    assert sampling is None or isinstance(sampling, Sampling)
    is_told = False
    for piece in writer.write_each(prompt, sampling, most=most, stops=stops, looks=looks):
        if isinstance(piece, Slid):
            if not is_told:
                searching.tell(
                    f"the text has {counted(piece.of, 'token')}, and the model sees "
                    f"{writer.model.context}: it goes on from the last {piece.n_seen}, and so "
                    "whenever they are full"
                )
            is_told = True
        else:
            _give(piece)


def _give(text: str) -> None:
    """To the reader at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def _show(looks: "Looks", writer: "TextGenerator") -> None:
    """The words that each new word looked at, each in the colour of its share."""
    from rich.text import Text

    from regard.cli.look.lists import list_lines
    from regard.cli.terminal import open_console, print_lines

    whose = "mean of all heads" if looks.head is None else f"head {looks.head}"
    console = open_console(is_stderr=True)
    typer.echo(f"\nlayer {looks.site(writer.model).layer}, {whose}, percent:", err=True)
    rows = ((Text(one.word), one.looked_at) for one in looks.words(writer.tokenizer))
    print_lines(console, list_lines(rows, console.width))


def _draw(looks: "Looks", writer: "TextGenerator", prompt: str, places: list[Path]) -> None:
    """The lectures' picture: from each new word lines to the words that it looked at."""
    from regard.cli.look import saving
    from regard.inspection.figures import View
    from regard.inspection.viewer import ViewedTrace

    new = looks.ids[len(looks.ids) - len(looks.rows) :]
    if not new:
        searching.tell("nothing was written, so there is nothing to draw")
        return
    n_begun = max(1, len(looks.ids) - len(new))
    most = max(1, writer.model.context + 1 - n_begun)
    if len(new) > most:
        first = f"{counted(most, 'new token')} {noun(most, 'is', 'are')}"
        searching.tell(f"only the first {first} drawn: then the model had read enough")
    trace = writer.trace_written(prompt, new[:most])
    heads = None if looks.head is None else (looks.head,)
    layer = looks.site(writer.model).layer
    view = View("lines", layer=layer, heads=heads, reading="predicting")
    for place in places:
        saving.save(ViewedTrace(trace), view, place)
        searching.tell(f"saved {place}")
