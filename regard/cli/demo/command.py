"""The demo from its first sentence to its last."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from regard.corpora import Extract
    from regard.recipes import Recipe

DEFAULT_PAIR = "en-fr"  # where the meaning decides what is written
# By words the picture of Chinese has a column for each character; joining words again does not
# know the space that French has before a question mark.
BY_WORDS = ("text.kind=words", "text.size=auto")


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
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change the recipe: training.updates=500"),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "auto",
    threads: Annotated[
        int | None, typer.Option(min=1, help="Processor threads.", show_default="all")
    ] = None,
) -> None:
    """Train a small translator in minutes, measure it, and look inside; run again to continue.

    For a quick look at how it works: regard demo --updates 60 --test-size 100
    """
    from regard.cli.demo import saving, showing
    from regard.cli.demo.findings import find
    from regard.cli.searching import open_translator
    from regard.cli.training_session import run_session
    from regard.recipes import read_recipe

    extract = _extract(corpus, pair)
    by_words = extract.pair is not None and "fr" not in extract.pair.split("-")
    overrides = [
        *(BY_WORDS if by_words else ()),
        f'data.train=["{extract.name}"]',
        f'data.valid=["{extract.corpus}{f":{extract.pair}" if extract.pair else ""}:valid"]',
        *([] if minutes is None else [f"training.minutes={minutes:g}"]),
        *([] if updates is None else [f"training.updates={updates}"]),
        *(change or []),
    ]
    recipe = read_recipe(extract.corpus, overrides)
    folder = saving.Folder(out / (extract.pair or extract.corpus))
    folder.create()
    planned = read_recipe(extract.corpus).training.updates
    if not change and (earlier := _earlier(recipe, folder.model)) is not None:
        recipe, planned = earlier, earlier.training.updates
        showing.say(f"{folder.path} holds a demo of another recipe: it is kept as it is.")
    showing.headline(extract, recipe.training.minutes, folder)
    run_session(
        recipe,
        folder.model,
        device=device,
        n_threads=threads,
        writes_tensorboard=False,
        says_next=False,
    )
    showing.say("Translating sentences it has never seen, and looking inside …")
    translator = open_translator(folder.model, device=device, threads=threads, max_tokens=512)
    contents = find(
        extract, translator, folder.model, test_size, planned if isinstance(planned, int) else 0
    )
    folder.save(contents)
    showing.show(contents, folder)


def _earlier(asked: "Recipe", model: Path) -> "Recipe | None":
    """The recipe of a run that is there, if it is not the one that is asked for."""
    from regard.recipes import parse_recipe
    from regard.training.keeper import REQUEST

    request = model / REQUEST
    if not request.is_file():
        return None
    there = parse_recipe(request.read_text(encoding="utf-8"), str(request))
    return None if _lasting(there) == _lasting(asked) else there


def _lasting(recipe: "Recipe") -> dict[str, object]:
    """What a run may not change while it goes on."""
    values = recipe.model_dump(exclude={"purpose"})
    for name in ("updates", "minutes"):
        del values["training"][name]
    return values


def _extract(corpus: str, pair: str | None) -> "Extract":
    from regard.corpora import CORPORA, Extract, open_corpus

    if pair is None and corpus in CORPORA and CORPORA[corpus].pairs:
        pair = DEFAULT_PAIR
    open_corpus(corpus, pair)  # refuses what is not there
    return Extract(corpus, pair)
