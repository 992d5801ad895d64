"""`regard data`: the corpora that need no download; lists them, prints some, writes files."""

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from regard.corpora import CORPORA, SEED, SIZES, TEXTS, Extract, open_corpus, parse_extract
from regard.errors import UsageError

CLUTTERED = "cluttered"  # made of pictures that are there, and no corpus of its own
EMOJI = "emoji"
GLYPHS = "glyphs"
_GLYPHS_USUALLY = 20_000


def data(
    corpus: Annotated[
        str | None, typer.Argument(help="Which one; without it, all of them are listed.")
    ] = None,
    pair: Annotated[
        str | None, typer.Option(metavar="XX-YY", help="Source and target language: zh-en.")
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(min=1, help="Pairs to learn from.", show_default=f"{SIZES['train']:,}"),
    ] = None,
    valid_size: Annotated[
        int | None,
        typer.Option(min=1, help="Pairs to validate on.", show_default=f"{SIZES['valid']:,}"),
    ] = None,
    test_size: Annotated[
        int | None,
        typer.Option(
            min=1, help="Pairs of test and any other split.", show_default=f"{SIZES['test']:,}"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another seed gives other pairs.")] = SEED,
    out: Annotated[Path | None, typer.Option(help="The folder to write to.")] = None,
    annotations: Annotated[
        bool, typer.Option("--annotations", help="Also write what is known of each pair, as JSON.")
    ] = False,
    challenge: Annotated[
        bool,
        typer.Option(
            "--challenge",
            help="Of the phrasebook: write minimal pairs for `regard challenge`, --test-size of "
            "each paradigm, in known and held-out combinations; with --pair, of translations.",
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    show: Annotated[
        int | None, typer.Option(min=1, help="Print so many pairs, and write nothing.")
    ] = None,
    split: Annotated[str, typer.Option(help="The split to print with --show.")] = "train",
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="DIR",
            help="Of cluttered and emoji: the pictures it is made of; of glyphs: fonts.",
        ),
    ] = None,
    canvas: Annotated[
        int, typer.Option(min=8, max=1024, help="Of cluttered: pixels each way.")
    ] = 60,
    pieces: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Of cluttered: pieces of other pictures.",
            show_default="4; 8 on more than 60 pixels",
        ),
    ] = None,
) -> None:
    """List the corpora that need no download, or write one of them to plain files."""
    if corpus == CLUTTERED:
        from regard.cli.cluttered import write_cluttered

        write_cluttered(
            source,
            out,
            canvas=canvas,
            n_pieces=pieces,
            sizes={"train": size, "test": test_size},
            seed=seed,
            is_forced=force,
        )
        return
    if pieces is not None or (source is not None and corpus not in (EMOJI, GLYPHS)):
        raise UsageError(
            f"--from is of pictures, regard data {CLUTTERED}, {EMOJI} or {GLYPHS}, and --pieces of "
            "the first"
        )
    if corpus in (EMOJI, GLYPHS):
        if out is not None and out.exists() and any(out.iterdir()) and not force:
            raise UsageError(
                f"{out} is there already: choose another --out, or replace it with --force"
            )
        if corpus == EMOJI:
            _emoji(source, out, seed)
        else:
            _glyphs(source, out, size or _GLYPHS_USUALLY, seed)
        return
    if corpus is None:
        if pair or out or show:
            raise UsageError(f"say which corpus: {', '.join([*CORPORA, *TEXTS])}")
        _list()
        return
    if corpus in TEXTS:
        _text(corpus, show, out, is_forced=force)
        return
    name, _, after = corpus.partition(":")  # phrasebook:zh-en does as well
    pair = pair or after or None
    if challenge:
        from regard.cli.challenge_files import write_challenge

        write_challenge(name, pair, out, size=test_size, seed=seed, is_forced=force)
        return
    splits = open_corpus(name, pair).splits
    if show is not None:
        if out is not None:
            raise UsageError("--show prints and --out writes: choose one of them")
        spec = ":".join(filter(None, (name, pair, split, str(show))))
        _show(parse_extract(spec), seed)
        return
    if out is None:
        raise UsageError("say where to write with --out DIR, or print some pairs with --show 10")
    from regard.cli.data_files import write_files

    sizes = {"train": size, "valid": valid_size}
    whole = Extract(name, pair)
    parts = [replace(whole, split=one, size=sizes.get(one, test_size)) for one in splits]
    write_files(parts, seed, out, has_annotations=annotations, is_forced=force)


def _emoji(source: str | None, out: Path | None, seed: int) -> None:
    from regard.counting import counted
    from regard.data.emoji import write_emoji

    if source is None or out is None:
        raise UsageError("emoji are cut from a sheet: regard data emoji --from DIR --out DIR")
    for part, n in write_emoji(Path(source), out, seed).items():
        typer.echo(f"{out / part}.tsv: captions of {counted(n, 'picture')}", err=True)


def _glyphs(source: str | None, out: Path | None, n: int, seed: int) -> None:
    from regard.counting import counted
    from regard.data.glyphs import CHARACTERS, write_glyphs

    if out is None:
        raise UsageError("say where to write with --out DIR")
    n_faces = write_glyphs(Path(source) if source else None, out, n, seed)
    typer.echo(
        f"{out}: {counted(n, 'picture')} of {len(CHARACTERS)} characters, drawn by "
        f"{counted(n_faces, 'font')}",
        err=True,
    )


def _list() -> None:
    from regard.cli.terminal import Column, print_table, say

    rows = [
        (name, " ".join(one.pairs) or "-".join(one.sides or ()), one.sentence)
        for name, one in CORPORA.items()
    ]
    rows += [(name, "text", text.sentence) for name, text in TEXTS.items()]
    columns = [Column("corpus"), Column("pairs", wraps=True), Column("what it is", wraps=True)]
    print_table(columns, rows)
    say()
    say(
        "`regard data NAME --show 10` prints some pairs, `--out DIR` writes files; "
        "`regard train RECIPE --corpus NAME` needs no files."
    )


def _text(name: str, show: int | None, out: Path | None, *, is_forced: bool) -> None:
    """Some lines of a text that is not pairs, or all of it as a file."""
    if (show is None) == (out is None):
        raise UsageError("say where to write with --out DIR, or print some lines with --show 10")
    texts = TEXTS[name].texts()
    if show is not None:
        lines = (line for text in texts for line in text.splitlines())
        for line in islice(lines, show):
            typer.echo(line)
        return
    assert out is not None
    path = out / f"{name}.txt"
    if path.exists() and not is_forced:
        raise UsageError(
            f"{out} already holds {path.name}: choose another --out, or replace what is there with "
            "--force"
        )
    from regard.files import write_text

    out.mkdir(parents=True, exist_ok=True)
    write_text(path, "\n".join(texts))


def _show(extract: Extract, seed: int) -> None:
    from regard.cli.terminal import Column, open_console, print_table

    if not open_console().is_terminal:
        for example in extract.draw(seed):
            typer.echo(f"{example.source}\t{example.target}")
        return
    columns = [Column(side, wraps=True) for side in extract.sides]
    rows = [(example.source, example.target) for example in extract.draw(seed)]
    print_table(columns, rows)
