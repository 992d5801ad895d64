"""`regard train`: from text, parallel or plain, to a model folder."""

from pathlib import Path
from typing import Annotated

import typer

from regard.corpora import TEXTS
from regard.errors import UsageError

Files = Annotated[
    list[str] | None,
    typer.Option(
        help="Pairs: a.tsv, a.csv, b.jsonl.gz, c.po, two files as 'x.en|x.de', or a corpus as "
        "phrasebook:zh-en; for bert-classify and bert-tag a file of examples with labels; "
        "repeatable."
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


def train(
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
    init: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Begin from the encoder and tokenizer of a bert (bert-classify and bert-tag).",
        ),
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change the recipe: model.n_layers=4"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The model folder; the same one again continues the run.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "auto",
    threads: Annotated[
        int | None, typer.Option(min=1, help="Processor threads.", show_default="all")
    ] = None,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Also write curves for TensorBoard.")
    ] = False,
) -> None:
    """Train a model from pairs, text or conversations; with the same --out again to continue."""
    from regard.cli.training_session import run_session
    from regard.config import read_recipe
    from regard.systems import system_of

    learned = [*_pair(source, target, "--source", "--target"), *(data or [])]
    held_out = _pair(valid_source, valid_target, "--valid-source", "--valid-target")
    held_out += valid or []
    has_pairs = bool(learned or held_out)
    talks = [*(dialogue or []), *(valid_dialogue or [])]
    learned = [*learned, *(text or []), *(dialogue or [])]
    held_out = [*held_out, *(valid_text or []), *(valid_dialogue or [])]
    if corpus is not None:
        if text:
            raise UsageError(
                "--corpus does not go with --text: to learn from files and a corpus together, name "
                "both with --text"
            )
        if dialogue:
            raise UsageError(
                "--corpus does not go with --dialogue: to learn from files and a corpus together, "
                "name both with --dialogue"
            )
        if learned:
            raise UsageError(
                "--corpus does not go with --source, --target or --data: to learn from files and "
                "a corpus together, name both with --data"
            )
        learned, own = ([corpus], []) if corpus in TEXTS else _splits(corpus)
        text = learned if corpus in TEXTS else text
        has_pairs = has_pairs or corpus not in TEXTS
        held_out = held_out or own
    if init is not None and any(one.startswith("training.init=") for one in change or []):
        raise UsageError(
            "--init and --set training.init both say what to begin from: leave one out"
        )
    overrides = [
        *_named("data.train", learned),
        *_named("data.valid", held_out),
        *([] if init is None else [f"training.init={_quoted(init)}"]),
        *(change or []),
    ]
    asked = read_recipe(recipe, overrides)
    given = {"pairs": has_pairs, "text": bool(text), "dialogue": bool(talks)}
    system_of(asked).check_data(asked.name, {name for name, is_there in given.items() if is_there})
    _check_init(asked.training.init, change or [])
    run_session(
        asked,
        out or Path("runs") / asked.name,
        device=device,
        n_threads=threads,
        writes_tensorboard=tensorboard,
    )


def _check_init(init: str | None, changes: list[str]) -> None:
    """Refuse changes of what is the pre-trained model's to decide."""
    keys = [one.partition("=")[0].strip() for one in changes]
    fixed = [one for one in keys if one.startswith(("model.", "text.")) and not _may_differ(one)]
    if init is not None and fixed:
        raise UsageError(
            f"--set {fixed[0]} does not go with --init, whose network and tokenizer are taken as "
            "they are: leave one of them out"
        )


def _may_differ(key: str) -> bool:
    return key.endswith(("dropout", "pooling"))


def _pair(first: Path | None, second: Path | None, name: str, other: str) -> list[str]:
    if (first is None) != (second is None):
        given, missing = (name, other) if second is None else (other, name)
        raise UsageError(f"{given} needs {missing} beside it: two files, line by line")
    return [] if first is None else [f"{first}|{second}"]


def _splits(corpus: str) -> tuple[list[str], list[str]]:
    """What is learned from a corpus, and what is held out of it."""
    from dataclasses import replace

    from regard.corpora import parse_extract

    extract = parse_extract(corpus)
    if "train" in corpus.split(":") or extract.split != "train":
        raise UsageError(
            f"--corpus {corpus} names a split: training takes train and valid by itself; leave it "
            "out, or use --data and --valid"
        )
    return [extract.name], [replace(extract, split="valid", size=None).name]


def _named(key: str, specs: list[str]) -> list[str]:
    """As an override of the recipe; nothing given leaves what the recipe says."""
    return [f"{key}=[{', '.join(_quoted(spec) for spec in specs)}]"] if specs else []


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
