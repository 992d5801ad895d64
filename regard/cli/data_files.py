"""Plain parallel files of an embedded corpus: all of them written, or none."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from regard.cli.data_display import Display
from regard.corpora import Example, Extract
from regard.errors import UsageError
from regard.files import explained_errors, flush, put_in_place, staging_folder


def write_files(
    parts: Sequence[Extract], seed: int, folder: Path, *, has_annotations: bool, is_forced: bool
) -> None:
    """Write train.zh, train.en, valid.zh and so on into a folder."""
    names = [name for part in parts for name in _names(part, has_annotations)]
    _check_free(folder, names, is_forced)
    folder = folder.absolute()  # "." has no name to write beside
    with explained_errors(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with staging_folder(folder) as partial:
            with Display() as display:
                for part in parts:
                    _write_part(part, seed, partial, display, has_annotations=has_annotations)
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
    part: Extract, seed: int, folder: Path, display: Display, *, has_annotations: bool
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
