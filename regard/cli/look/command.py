"""`regard look`: its options, and what is done with them in turn."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli import searching


def look(
    model: Annotated[Path, typer.Argument(help="A model folder, or a trace that was saved.")],
    sentence: Annotated[
        str | None,
        typer.Argument(
            help="What to translate, to write on from, or to find [MASK]s in; a saved trace has "
            "its own."
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            help="Read this as the translation, as what comes after the text, or as the text "
            "without [MASK]s.",
            show_default="the model's own",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="In place of a sentence: what a picture is drawn from."),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option("--class", help="With --seed: the class of the picture.", show_default="0"),
    ] = None,
    looking_from: Annotated[
        list[str] | None,
        typer.Option(
            "--place",
            metavar="ROW,COLUMN",
            help="With --seed: look from this place of the picture; repeatable.",
            show_default="five",
        ),
    ] = None,
    generate: Annotated[
        int | None,
        typer.Option(min=1, help="Let a language model write so many tokens on.", show_default="1"),
    ] = None,
    save: Annotated[
        list[Path] | None,
        typer.Option(help="Also into a file: .svg .png .pdf .gif .html .json .trace; repeatable."),
    ] = None,
    view: Annotated[
        str | None,
        typer.Option(
            help="matrix, lines, strip, alignment or pictures; for files also grid, overview, "
            "positions.",
            show_default="matrix here, lines in files; pictures where one is described",
        ),
    ] = None,
    site: Annotated[
        str | None,
        typer.Option(help="encoder, decoder or cross.", show_default="cross, or what there is"),
    ] = None,
    layer: Annotated[
        int | None,
        typer.Option(help="Which layer, from 0.", show_default="the one that aligns, or the last"),
    ] = None,
    head: Annotated[
        str | None, typer.Option(help="Which heads, from 0: 2 or 0,3.", show_default="all")
    ] = None,
    word: Annotated[
        str | None, typer.Option(help="Look from this word alone, or from row N, from 0.")
    ] = None,
    ablate: Annotated[
        str | None,
        typer.Option(
            help="Switch heads off: 1.0,1.3 (layer.head, of --site), encoder.0.2, or a layer: "
            "cross.1."
        ),
    ] = None,
    tokens: Annotated[
        bool, typer.Option("--tokens", help="Show the model's pieces, not words.")
    ] = False,
    special: Annotated[
        bool, typer.Option("--special", help="Show <s> and </s> too, and what they take.")
    ] = False,
    reading: Annotated[
        str | None,
        typer.Option(
            help="Name the decoder's rows by the word it is predicting, or by the one it is "
            "reading.",
            show_default="predicting for cross, reading for decoder",
        ),
    ] = None,
    top: Annotated[
        int | None, typer.Option(min=1, help="How many looks of each row are shown as lines.")
    ] = None,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
    dark: Annotated[bool, typer.Option("--dark", help="Draw files on a dark ground.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the whole trace as JSON instead.")
    ] = False,
) -> None:
    """Look inside a model while it reads and writes: who looks at whom, and how much."""
    from regard.cli.look import choosing, saving, showing

    places = [saving.checked(place) for place in save or []]
    heads = choosing.heads_of(head)
    choices = choosing.Choices(view, site, layer, heads, word, tokens, special, reading, top, dark)
    searching.set_threads(threads)
    sentence, target = choosing.drawing(sentence, target, seed, label, looking_from)
    has_page = any(place.suffix.lower() == ".html" for place in places)
    viewed, change = choosing.find_trace(
        *(model, sentence, target),
        n_new=generate,
        without=ablate,
        kind=site,
        device=device,
        has_vectors=has_page,
    )
    trace = viewed.trace
    seen = choices.view(trace, "matrix")
    shown = None
    if not as_json and (view is None or view in showing.FORMS or not places):
        shown = showing.TerminalView.of(trace, seen, change)
    drawn = choices.view(trace, "lines")
    for place in places:
        saving.save(viewed, drawn, place)
        typer.echo(f"saved {place}", err=True)
    remarks = choosing.remarks(trace, seen)
    if change is not None and shown is None:
        remarks.append(change.said_of(trace))
    for remark in remarks:
        searching.tell(remark)
    if as_json:
        showing.write_json(trace)
    elif shown is not None:
        shown.write()
