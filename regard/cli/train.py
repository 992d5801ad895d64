"""`regard train`: from text, parallel or plain, to a model folder."""

from pathlib import Path
from typing import Annotated

import typer

from regard.corpora import TEXTS
from regard.errors import UsageError

Files = Annotated[
    list[str] | None,
    typer.Option(
        help="Pairs: a.tsv, b.jsonl.gz, c.po, two files as 'x.en|x.de', or a corpus as "
        "dates:train:20000; repeatable."
    ),
]

Texts = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE", help="Plain text, for a model that reads one text (gpt, bert); repeatable."
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
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change the recipe: model.n_layers=4"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The model folder; the same one again continues the run.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "auto",
    threads: Annotated[
        int | None, typer.Option(min=1, help="Processor threads; all cores by default.")
    ] = None,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Also write curves for TensorBoard.")
    ] = False,
) -> None:
    """Train a model from parallel or plain text; run again with the same --out to continue."""
    from regard.cli.training_session import run_session
    from regard.recipes import read_recipe

    learned = [*_pair(source, target, "--source", "--target"), *(data or [])]
    held_out = _pair(valid_source, valid_target, "--valid-source", "--valid-target")
    held_out += valid or []
    has_pairs = bool(learned or held_out)
    learned, held_out = [*learned, *(text or [])], [*held_out, *(valid_text or [])]
    if corpus is not None:
        if text:
            raise UsageError(
                "--corpus does not go with --text: to learn from files and a corpus together, name "
                "both with --text"
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
    overrides = [
        *_named("data.train", learned),
        *_named("data.valid", held_out),
        *(change or []),
    ]
    asked = read_recipe(recipe, overrides)
    _check_kind(asked.training.task == "translation", asked.name, has_pairs, bool(text))
    run_session(
        asked,
        out or Path("runs") / asked.name,
        device=device,
        n_threads=threads,
        writes_tensorboard=tensorboard,
    )


def _check_kind(reads_pairs: bool, recipe: str, has_pairs: bool, has_text: bool) -> None:
    """Refuse pairs for a model that reads one text, and the other way round."""
    if reads_pairs and has_text:
        raise UsageError(
            f"the recipe {recipe} learns to translate, and plain text has no translations: give "
            "--source and --target, or choose a recipe such as gpt-tiny or bert-tiny"
        )
    if not reads_pairs and has_pairs:
        raise UsageError(f"the recipe {recipe} reads one text, not pairs: name it with --text")


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
