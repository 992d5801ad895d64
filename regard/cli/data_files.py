"""Plain parallel files of an embedded corpus: all of them written, or none; progress on stderr."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from regard.cli.progress import Showing
from regard.corpora import Example, Extract
from regard.counting import counted
from regard.errors import UsageError
from regard.files import explained_errors, flush, put_in_place, staging_folder

_EXAMPLES_BETWEEN_LOOKS = 500  # asking for the time at each would cost more than writing it


class DataDisplay(Showing):
    """Shows how far the splits have come, each with a bar that stays."""

    def __init__(self) -> None:
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
        super().__init__(*columns, is_transient=False)
        self._split, self._total, self._n = "", 0, 0

    def begin_split(self, split: str, total: int) -> None:
        """A split begins."""
        self._split, self._total, self._n = split, total, 0
        self.begin(total, split)

    def advance(self) -> None:
        """One more example is written."""
        self._n += 1
        if self._n % _EXAMPLES_BETWEEN_LOOKS == 0:
            self.at(self._n, f"{self._split}: {self._n:,} of {self._total:,}")

    def end_split(self) -> None:
        """The split is complete."""
        self.end(self._n, f"{self._split}: {counted(self._n, 'pair')}")


def write_files(
    parts: Sequence[Extract], seed: int, folder: Path, *, has_annotations: bool, is_forced: bool
) -> None:
    """Write train.zh, train.en, valid.zh and so on into a folder."""
    names = [name for part in parts for name in _names(part, has_annotations)]
    with all_or_none(folder, names, is_forced=is_forced) as partial, DataDisplay() as display:
        for part in parts:
            _write_part(part, seed, partial, display, has_annotations=has_annotations)


@contextmanager
def all_or_none(folder: Path, names: Sequence[str], *, is_forced: bool) -> Iterator[Path]:
    """Within, a folder to write these files to; at the end all of them get their places."""
    _check_free(folder, names, is_forced)
    folder = folder.absolute()  # "." has no name to write beside
    with explained_errors(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with staging_folder(folder) as partial:
            yield partial
            for name in names:
                flush(partial / name)
            # Only now, when all is there, does anything get its name.
            folder.mkdir(exist_ok=True)
            for name in names:
                put_in_place(partial / name, folder / name)


def _names(part: Extract, has_annotations: bool) -> list[str]:
    endings = [*part.sides, "jsonl"] if has_annotations else part.sides
    return [f"{part.split}.{ending}" for ending in endings]


def _check_free(folder: Path, names: Sequence[str], is_forced: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file: name a folder with --out")
    there = [name for name in names if (folder / name).exists()]
    if there and not is_forced:
        more = f" and {len(there) - 1} more" if len(there) > 1 else ""
        raise UsageError(
            f"{folder} already holds {there[0]}{more}: choose another --out, or replace what is "
            "there with --force"
        )


def _write_part(
    part: Extract, seed: int, folder: Path, display: DataDisplay, *, has_annotations: bool
) -> None:
    display.begin_split(part.split, part.most)
    with ExitStack() as stack:
        source, target, *notes = (
            stack.enter_context((folder / name).open("w", encoding="utf-8", newline="\n"))
            for name in _names(part, has_annotations)
        )
        for example in part.draw(seed):
            source.write(f"{example.source}\n")
            target.write(f"{example.target}\n")
            for file in notes:
                file.write(f"{json.dumps(_annotation(example), ensure_ascii=False)}\n")
            display.advance()
    display.end_split()


def _annotation(example: Example) -> dict[str, object]:
    """What is known of an example; what the corpus does not know is left out."""
    return {key: value for key, value in asdict(example).items() if value not in (None, ())}
