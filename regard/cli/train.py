"""`regard train`: from text, parallel or plain, to a model folder."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli import searching

Files = Annotated[
    list[str] | None,
    typer.Option(
        help="Pairs: a.tsv, a.csv, b.jsonl.gz, c.po, two files as 'x.en|x.de', or a corpus as "
        "phrasebook:zh-en; for bert-classify and bert-tag a file of examples with labels, for "
        "parser a treebank; repeatable."
    ),
]

Texts = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE", help="Plain text, for a model that reads one text (gpt, bert); repeatable."
    ),
]

Talks = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE",
        help="Conversations, for a model that answers (dialogue): a turn a line, an empty line "
        "between two; or turns with tabs or __eou__ between them; repeatable.",
    ),
]

Pictures = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DIR",
        help="Pictures: a folder or .zip with a folder a class, or idx files as those of MNIST; "
        "repeatable.",
    ),
]

Captions = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE",
        help="Captions of the --images: a picture's name, a tab and a caption a line, as many for "
        "each picture as you like; captions.tsv:zh are those of a file in one of its languages.",
    ),
]


def train(
    context: typer.Context,
    recipe: Annotated[str, typer.Argument(help="A preset (see `regard recipes`) or a .toml file.")],
    source: Annotated[
        Path | None, typer.Option(help="Sentences to learn from, a line each.")
    ] = None,
    target: Annotated[Path | None, typer.Option(help="Their translations, line by line.")] = None,
    valid_source: Annotated[Path | None, typer.Option(help="Held-out sentences.")] = None,
    valid_target: Annotated[Path | None, typer.Option(help="Their translations.")] = None,
    text: Texts = None,
    valid_text: Texts = None,
    dialogue: Talks = None,
    valid_dialogue: Talks = None,
    corpus: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[:PAIR][:SIZE]",
            help="Learn from a corpus that needs no files (see `regard data`): phrasebook:zh-en, "
            "or pydoc for a language model",
        ),
    ] = None,
    data: Files = None,
    valid: Files = None,
    images: Pictures = None,
    valid_images: Pictures = None,
    captions: Captions = None,
    valid_captions: Captions = None,
    features: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Features of the pictures, by a network that knows ImageNet: those in this folder "
            "are used, and those that are missing are computed and kept there.",
        ),
    ] = None,
    init: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Begin from a bert's encoder and tokenizer (bert-classify, bert-tag, parser).",
        ),
    ] = None,
    teach: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HEAD=GOLD",
            help="Teach a head where to look: encoder.1.0=heads:train.conllu, "
            "cross.2.0=align:train.align, encoder.1.2=antecedents, encoder.0.3=previous; with "
            ",weight=0.5 or ,until=2000 behind it; repeatable.",
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            help="Train for N minutes: the number of updates, schedule, validations and saving "
            "follow from the speed of this machine. Without it, from the data alone.",
        ),
    ] = None,
    change: searching.Changes = None,
    out: Annotated[
        Path | None, typer.Option(help="The model folder; the same one again continues the run.")
    ] = None,
    device: searching.Device = "auto",
    threads: searching.Threads = None,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Also write curves for TensorBoard.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show sizes, plan, memory and time of a new run, and train nothing."
        ),
    ] = False,
) -> None:
    """Train a model from text, pairs of it, or pictures; with the same --out again to continue."""
    from regard.cli.training_session import plan_session, run_session
    from regard.systems.training_data import TrainingData, asked_recipe

    given = TrainingData(
        source=source,
        target=target,
        valid_source=valid_source,
        valid_target=valid_target,
        text=text or (),
        valid_text=valid_text or (),
        dialogue=dialogue or (),
        valid_dialogue=valid_dialogue or (),
        corpus=corpus,
        data=data or (),
        valid=valid or (),
        images=images or (),
        valid_images=valid_images or (),
        captions=captions or (),
        valid_captions=valid_captions or (),
        features=features,
        teach=teach or (),
    )
    asked = asked_recipe(recipe, given, init=init, minutes=minutes, changes=change or ())
    folder = out or Path("runs") / asked.name
    if dry_run:
        plan_session(asked, folder, device=device, n_threads=threads)
        return
    run_session(
        asked,
        folder,
        device=device,
        n_threads=threads,
        writes_tensorboard=tensorboard,
        began=context.obj,
    )
