"""`regard summarise`: documents in, each said in few words."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli import searching

if TYPE_CHECKING:
    from regard.systems.summaries import Summariser, SummaryOptions

_STANDARD_INPUT = "standard input"


def summarise(
    model: searching.Model,
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Documents, a file each, or folders of them; standard input if none."),
    ] = None,
    lines: Annotated[
        bool, typer.Option("--lines", help="Every line is a document of its own.")
    ] = False,
    length: Annotated[int, typer.Option(min=1, help="The most tokens of a summary.")] = 128,
    read: Annotated[
        int | None,
        typer.Option(
            min=1, help="Tokens of a document that are read.", show_default="as it learned"
        ),
    ] = None,
    select: Annotated[
        str,
        typer.Option(
            help="What is read of a longer one: its beginning (first), or its most telling "
            "sentences (tfidf)."
        ),
    ] = "first",
    query: Annotated[
        str, typer.Option(help="With --select tfidf: what the sentences should be about.")
    ] = "",
    beam: Annotated[
        int,
        typer.Option(
            min=1, max=searching.WIDEST, help="Width of the beam; 1 writes words as they come."
        ),
    ] = 4,
    no_repeat: searching.NoRepeat = 3,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
) -> None:
    """Summarise documents, to standard output; of several, each after its name and a tab."""
    from regard.errors import UsageError
    from regard.systems.summaries import SELECTIONS, Summariser, SummaryOptions

    if select not in SELECTIONS:
        raise UsageError(f"--select {select} is not known: choose {' or '.join(SELECTIONS)}")
    if query and select != "tfidf":
        raise UsageError("--query says what tfidf looks for: add --select tfidf")
    documents = list(_documents(files or [], lines=lines))
    summariser = searching.open_as(Summariser, model, device, threads)
    options = SummaryOptions(length=length, select=select, query=query, beam=beam)
    options["no_repeat"] = no_repeat
    if read is not None:
        options["read"] = read
    searching.write_utf8()
    is_alone = len(documents) == 1 or lines
    for name, text in documents:
        if not is_alone and not as_json:
            sys.stdout.write(f"{name}\t")
        _give(summariser, name, text, options, as_json=as_json)


def _give(
    summariser: "Summariser", name: str, text: str, options: "SummaryOptions", *, as_json: bool
) -> None:
    """One summary: word by word where the search allows it."""
    import json

    if not text.strip():
        searching.tell(f"{name} has no words, so its summary is empty")
    if options["beam"] == 1 and not as_json:
        for part in summariser.stream(text, **options):
            sys.stdout.write(part)
            sys.stdout.flush()
        sys.stdout.write("\n")
        return
    found = summariser.summarise(text, **options)
    if found.share_read < 1:
        searching.tell(
            f"{name}: {found.share_read:.1%} was read, {found.n_read:,} tokens; --read allows more"
        )
    if as_json:
        record = {"name": name, "summary": found.text, "n_read": found.n_read}
        text = json.dumps(record | {"share_read": found.share_read}, ensure_ascii=False)
    else:
        text = found.text
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _documents(files: list[Path], *, lines: bool) -> Iterator[tuple[str, str]]:
    """Documents with their names, all of them read before the first is summarised."""
    if not files:
        with open(0, "rb", closefd=False) as stdin:
            given = stdin.read()
        yield from _parted(_STANDARD_INPUT, _decoded(_STANDARD_INPUT, given), lines=lines)
    for path in _files(files):
        yield from _parted(str(path), _decoded(str(path), _content(path)), lines=lines)


def _parted(name: str, text: str, *, lines: bool) -> Iterator[tuple[str, str]]:
    if not lines:
        yield name, text
        return
    for number, line in enumerate(text.splitlines(), 1):
        yield f"{name}, line {number}", line


def _files(given: list[Path]) -> Iterator[Path]:
    from regard.errors import DataError

    for path in given:
        if not path.is_dir():
            yield path
            continue
        found = sorted(one for one in path.rglob("*") if one.is_file())
        if not found:
            raise DataError(f"{path} has no files: name a folder of documents.")
        yield from found


def _content(path: Path) -> bytes:
    from regard.errors import DataError

    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error


def _decoded(name: str, content: bytes) -> str:
    from regard.errors import DataError

    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{name} is not UTF-8 (byte {error.start + 1:,}): convert it, or leave it out if it is "
            "no text."
        ) from error
    if "\0" in text:
        raise DataError(f"{name} is no text: it holds bytes of zero. Leave it out.")
    return text
