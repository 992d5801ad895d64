"""The topics of `regard explain`: each reads its options, computes, and shows."""

import difflib
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli import searching
from regard.cli.plain_help import PlainCommand, PlainGroup
from regard.errors import UsageError, shortened

JSON = Annotated[bool, typer.Option("--json", help="Print every number as JSON instead.")]
SEED = Annotated[int, typer.Option(help="Which random numbers.")]
LECTURE_SENTENCE = "The animal didn't cross the street because it was too tired"


class Topics(PlainGroup):
    """A group that answers an unknown topic with the topics there are."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the topic."""
        name = args[0]
        if name not in self.commands and not name.startswith("-"):
            shown = shortened(name)
            close = difflib.get_close_matches(shown.lower(), self.commands, n=1, cutoff=0.5)
            meant = f" Did you mean {close[0]}?" if close else ""
            raise UsageError(
                f"there is no topic {shown!r} to explain.{meant} "
                f"The topics are {', '.join(self.commands)}."
            )
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=Topics,
    help="Step through attention with real numbers.",
    epilog="Example: regard explain lecture",
    invoke_without_command=True,
)


@app.callback()
def explain(context: typer.Context) -> None:
    """Step through attention with real numbers."""
    # Where rich is there, typer prints the help itself and gives nothing back.
    if context.invoked_subcommand is None and (text := context.get_help()):
        typer.echo(text)


@app.command(cls=PlainCommand, epilog="Example: regard explain lecture")
def lecture(json: JSON = False) -> None:
    """The lectures' worked example: two words, then two heads."""
    from regard.cli.explain.showing import show
    from regard.lessons.explanation import explain_lecture

    show(explain_lecture(), as_json=json)


@app.command(cls=PlainCommand, epilog="Example: regard explain scores --width 3")
def scores(
    width: Annotated[int, typer.Option(help="Numbers in the query and in each key.")] = 4,
    seed: SEED = 0,
    json: JSON = False,
) -> None:
    """Eight scores on one query and the same keys, side by side."""
    from regard.cli.explain.showing import show
    from regard.lessons.explanation import explain_scores

    show(explain_scores(width, checked_seed(seed)), as_json=json)


@app.command(cls=PlainCommand, epilog="Example: regard explain masks --length 5")
def masks(
    length: Annotated[int, typer.Option(help="Words of the sentence.")] = 6,
    window: Annotated[int, typer.Option(help="Places a window reaches to each side.")] = 1,
    seed: SEED = 0,
    json: JSON = False,
) -> None:
    """Who may look where, before and after the softmax."""
    from regard.cli.explain.showing import show
    from regard.lessons.explanation import explain_masks

    show(explain_masks(length, window, checked_seed(seed)), as_json=json)


@app.command(cls=PlainCommand, epilog="Example: regard explain positions --save positions.svg")
def positions(
    length: Annotated[int, typer.Option(help="Places to encode.")] = 50,
    width: Annotated[int, typer.Option(help="Numbers of each place: an even number.")] = 64,
    save: Annotated[
        Path | None, typer.Option(help="Draw heat map and waves: .png, .svg or .pdf.")
    ] = None,
    json: JSON = False,
) -> None:
    """Where a word stands: sines and cosines, in a picture too."""
    from regard.cli.explain.showing import show
    from regard.cli.terminal import say
    from regard.lessons.explanation import explain_positions
    from regard.lessons.explanation.positions import encoding

    explanation = explain_positions(length, width)
    if save is not None:
        from regard.inspection.figures import positions as draw_positions

        title = f"Sinusoidal position encoding: {length} places, d = {width}"
        draw_positions(encoding(length, width).numpy(), title=title).save(save)
    show(explanation, as_json=json)
    if save is not None and not json:
        say(f"The picture is in {save}.", wraps=False)


@app.command(cls=PlainCommand, epilog="Example: regard explain normalisation")
def normalisation(json: JSON = False) -> None:
    """Layer norm against batch norm, and the residual."""
    from regard.cli.explain.showing import show
    from regard.lessons.explanation import explain_normalisation

    show(explain_normalisation(), as_json=json)


@app.command(
    cls=PlainCommand,
    epilog='Example: regard explain sentence "The cat sleeps because it is tired" --word it',
)
def sentence(
    text: Annotated[str, typer.Argument(help="The sentence.")] = LECTURE_SENTENCE,
    word: Annotated[
        str | None,
        typer.Option(
            help="The word to follow, or its place from 0.", show_default="it, 它, or the last"
        ),
    ] = None,
    layer: Annotated[int, typer.Option(help="Which layer, from 0.")] = 0,
    head: Annotated[int, typer.Option(help="Which head, from 0.")] = 0,
    step: Annotated[int, typer.Option(help="Which step of the decoder, from 0.")] = 0,
    model: Annotated[
        Path | None, typer.Option(help="A model folder.", show_default="a fresh, untrained model")
    ] = None,
    width: Annotated[
        int | None, typer.Option(help="d_model of a fresh model.", show_default="32")
    ] = None,
    heads: Annotated[
        int | None, typer.Option(help="Heads of a fresh model.", show_default="4")
    ] = None,
    layers: Annotated[
        int | None, typer.Option(help="Layers of a fresh model.", show_default="2")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of a fresh model.", show_default="0")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(help="Draw all steps into a file: .svg, .png, .pdf or .html."),
    ] = None,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
    json: JSON = False,
) -> None:
    """Your sentence through one head of encoder and decoder, embedding to arg-max."""
    from regard.cli.explain import saving
    from regard.cli.explain.showing import show
    from regard.cli.terminal import say
    from regard.devices import choose_device
    from regard.lessons.explanation import reading

    if save is not None:
        saving.checked(save)
    searching.set_threads(threads)
    words = reading.words_of(text)
    place = reading.find_word(words, word)
    fresh = {"--width": width, "--heads": heads, "--layers": layers, "--seed": seed}
    if model is None:
        reader = reading.fresh_reader(
            words,
            width=32 if width is None else width,
            n_heads=4 if heads is None else heads,
            n_layers=2 if layers is None else layers,
            seed=checked_seed(0 if seed is None else seed),
        )
    else:
        for name, given in fresh.items():
            if given is not None:
                raise UsageError(
                    f"{name} is for a fresh model; the one in {model} has its own: leave it out"
                )
        reader = reading.saved_reader(model)
    reader.model.to(choose_device(device))
    explanation = reading.explain(reader, text, words, place, layer=layer, head=head, step=step)
    if save is not None:
        saving.save_explanation(explanation, save)
    show(explanation, as_json=json)
    if save is not None and not json:
        say(f"The picture is in {save}.", wraps=False)


def checked_seed(seed: int) -> int:
    """The seed, if torch can take it."""
    if not 0 <= seed < 2**63:
        raise UsageError(f"a seed is a whole number from 0 to 2⁶³ - 1, not {seed}")
    return seed
