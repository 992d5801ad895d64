"""The demo from its first sentence to its last."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli import searching


def demo(
    pair: Annotated[
        str | None,
        typer.Option(
            help="Languages of the phrasebook: en-fr, zh-fr, zh-en, …", show_default="en-fr"
        ),
    ] = None,
    corpus: Annotated[str, typer.Option(help="phrasebook or dates.")] = "phrasebook",
    out: Annotated[Path, typer.Option(help="A folder; each pair gets its own below it.")] = Path(
        "runs/demo"
    ),
    minutes: Annotated[
        float | None,
        typer.Option(help="Stop training after so long.", show_default="as the recipe says"),
    ] = None,
    updates: Annotated[
        int | None,
        typer.Option(min=1, help="Stop training after so many.", show_default="as the recipe says"),
    ] = None,
    test_size: Annotated[
        int, typer.Option(min=1, help="Held-out sentences it is measured on.")
    ] = 1000,
    change: searching.Changes = None,
    device: searching.Device = "auto",
    threads: searching.Threads = None,
) -> None:
    """Train a small translator in minutes, measure it, and look inside; run again to continue.

    For a quick look at how it works: regard demo --updates 60 --test-size 100
    """
    from regard.cli.demo import showing
    from regard.cli.searching import open_translator
    from regard.cli.terminal import say
    from regard.cli.training_session import run_session
    from regard.config import read_recipe
    from regard.lessons.demo import (
        Folder,
        choose_extract,
        choose_recipe,
        earlier_recipe,
        find,
    )

    extract = choose_extract(corpus, pair)
    recipe = choose_recipe(extract, minutes=minutes, updates=updates, changes=change or ())
    folder = Folder(out / (extract.pair or extract.corpus))
    folder.create()
    planned = read_recipe(extract.corpus).training.updates
    if not change and (earlier := earlier_recipe(recipe, folder.model)) is not None:
        recipe, planned = earlier, earlier.training.updates
        say(f"{folder.path} holds a demo of another recipe: it is kept as it is.")
    showing.headline(extract, recipe.training.minutes, folder)
    run_session(
        recipe,
        folder.model,
        device=device,
        n_threads=threads,
        writes_tensorboard=False,
        says_next=False,
    )
    say("Translating sentences it has never seen, and looking inside …")
    translator = open_translator(folder.model, device=device, threads=threads, max_tokens=512)
    contents = find(
        extract, translator, folder.model, test_size, planned if isinstance(planned, int) else 0
    )
    folder.save(contents)
    showing.show(contents, folder)
