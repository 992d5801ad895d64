"""`regard align`: which word came from which, read off the attention, and how right that is."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli import searching
from regard.counting import counted, noun
from regard.errors import DataError, UsageError

if TYPE_CHECKING:
    from regard.evaluation import GoldAlignment
    from regard.systems import Translator
    from regard.systems.alignment import Extraction
    from regard.systems.word_alignment import Link

Sizes = tuple[int, int]  # words of both sides


def align(
    model: searching.Model,
    source: Annotated[Path, typer.Option(help="Sentences, a line each.")],
    target: Annotated[Path, typer.Option(help="Their translations, line by line.")],
    tokenised: Annotated[
        bool,
        typer.Option(
            "--tokenised",
            "--tokenized",
            help="Words are what spaces part, as gold alignments count them; the model reads them "
            "joined. Otherwise they are cut as `regard explain` cuts them.",
        ),
    ] = False,
    gold: Annotated[
        Path | None, typer.Option(help="True alignments, a line each: 0-0 sure, 1p2 possible.")
    ] = None,
    gold_from: Annotated[
        int, typer.Option(min=0, max=1, help="Whether gold counts words from 0 or from 1.")
    ] = 0,
    layer: Annotated[
        int | None,
        typer.Option(min=0, help="Of the decoder, from 0.", show_default="the last but one"),
    ] = None,
    shift: Annotated[
        str, typer.Option(help="Whose attention is a word's: the step predicting or reading it.")
    ] = "predicting",
    heads: Annotated[
        str | None, typer.Option(metavar="0,2", help="Heads whose mean counts.", show_default="all")
    ] = None,
    norms: Annotated[
        bool, typer.Option("--norms", help="Weigh attention by the values it brings.")
    ] = False,
    max_tokens: searching.MaxTokens = 512,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
) -> None:
    """Print the alignment of each pair, as 0-0 1-2: source word, target word, counted from 0."""
    from regard.data import read_pairs
    from regard.evaluation import alignment_error

    searching.write_utf8()
    extraction = _extraction(layer, shift, heads, norms=norms)
    pairs = [(pair.source, pair.target) for pair in read_pairs((source, target))]
    truths = None if gold is None else _read_gold(gold, gold_from, len(pairs))
    translator = searching.open_translator(
        model, device=device, threads=threads, max_tokens=max_tokens
    )
    found: list[tuple[Link, ...]] = []
    for links, sizes in _aligned(translator, pairs, extraction, tokenised=tokenised):
        if gold is not None and truths is not None:
            _check(truths[len(found)], sizes, gold, len(found) + 1, is_tokenised=tokenised)
        typer.echo(" ".join(f"{i}-{j}" for i, j in links))
        found.append(links)
    if truths is not None:
        quality = alignment_error(found, truths)
        typer.echo(
            f"{counted(quality.n_sentences, 'sentence')}: alignment error rate "
            f"{100 * quality.error_rate:.1f} %, precision {100 * quality.precision:.1f} %, recall "
            f"{100 * quality.recall:.1f} % ({counted(quality.n_found, 'link')} found, "
            f"{quality.n_sure:,} sure, {quality.n_possible:,} possible)",
            err=True,
        )


def _extraction(layer: int | None, shift: str, heads: str | None, *, norms: bool) -> "Extraction":
    from regard.systems.alignment import SHIFTS, Extraction

    for known in SHIFTS:
        if shift == known:
            return Extraction(layer, known, _numbers(heads), norms)
    raise UsageError(f"--shift is {' or '.join(SHIFTS)}, not {shift!r}")


def _numbers(heads: str | None) -> tuple[int, ...]:
    parts = [] if heads is None else heads.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise UsageError(f"--heads is a list of numbers from 0, such as 0,2, not {heads!r}")
    return tuple(int(part) for part in parts)


def _aligned(
    translator: "Translator",
    pairs: list[tuple[str, str]],
    extraction: "Extraction",
    *,
    tokenised: bool,
) -> "Iterator[tuple[tuple[Link, ...], Sizes]]":
    """The links of each pair, and how many words its sides have."""
    if not tokenised:
        for found in translator.align_many(pairs, extraction=extraction):
            yield found.links, (len(found.source_words), len(found.target_words))
        return
    from regard.systems.word_alignment import align_words

    words = [(source.split(), target.split()) for source, target in pairs]
    for mine, (links,) in zip(words, align_words(translator, words, [extraction]), strict=True):
        yield links, (len(mine[0]), len(mine[1]))


def _read_gold(path: Path, first: int, n_pairs: int) -> "list[GoldAlignment]":
    from regard.data.lines import read_lines
    from regard.evaluation import parse_gold

    lines = list(read_lines(path))
    if len(lines) != n_pairs:
        raise DataError(
            f"{path} has {counted(len(lines), 'line')} and there "
            f"{noun(n_pairs, 'is', 'are')} {counted(n_pairs, 'pair')}: line n of one has to belong "
            "to line n of the other"
        )
    truths = []
    for number, line in enumerate(lines, 1):
        try:
            truths.append(parse_gold(line, first))
        except DataError as error:
            raise DataError(f"{path}, line {number}: {error}") from error
    return truths


def _check(
    truth: "GoldAlignment", sizes: Sizes, path: Path, number: int, *, is_tokenised: bool
) -> None:
    """Gold that names words beyond the sentence counts other words than we do."""
    beyond = [link for link in sorted(truth.possible) if link[0] >= sizes[0] or link[1] >= sizes[1]]
    if beyond:
        way = "--gold-from 1, if it counts from 1" if is_tokenised else "--tokenised"
        raise DataError(
            f"{path}, line {number}: {beyond[0][0]}-{beyond[0][1]} is beyond the {sizes[0]} and "
            f"{sizes[1]} words of the pair: try {way}"
        )
