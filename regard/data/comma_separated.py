"""Rows of CSV files, quoted as RFC 4180 says, and which of their columns are meant.

A first row that names its columns is a header. Without one, the columns are taken in their order:
source and target; one text or two, and their label; word and tag.
"""

import csv
import tomllib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from regard.counting import counted
from regard.data.lines import read_lines
from regard.errors import DataError

_ENDINGS = (".csv", ".csv.gz")
_DELIMITERS = (",", ";", "\t")  # as spreadsheets of various countries write them

_COLUMNS = tomllib.loads(files(__package__).joinpath("columns.toml").read_text(encoding="utf-8"))
PAIR_COLUMNS: tuple[tuple[str, str], ...] = tuple((one, two) for one, two in _COLUMNS["pairs"])
_LANGUAGES = frozenset(_COLUMNS["languages"].split())

Row = tuple[int, list[str]]  # the line it ends in, and its cells


def is_comma_separated(path: Path) -> bool:
    """Whether a file is CSV, by its name."""
    return path.name.lower().endswith(_ENDINGS)


def read_pair_rows(path: Path) -> Iterator[tuple[str, str]]:
    """Sources and targets."""
    rows = read_rows(path)
    first = next(rows, None)
    if first is None:
        return
    places = _pair_places(path, first[1])
    if places is None:
        places = (0, 1)
        _require_columns(path, first, (2,), "source,target")
        yield first[1][0], first[1][1]
    for _, cells in _even(path, rows, len(first[1])):
        yield cells[places[0]], cells[places[1]]


def read_labelled_rows(path: Path) -> Iterator[Row]:
    """One text or two and a label last; an empty row, which parts sentences, has no cells."""
    rows = read_rows(path, keeps_empty=True)
    first = next((row for row in rows if row[1]), None)
    if first is None:
        return
    places = _label_places(path, first[1])
    if places is None:
        places = tuple(range(len(first[1])))
        _require_columns(path, first, (2, 3), "text,label")
        yield first
    for number, cells in _even(path, rows, len(first[1])):
        yield number, [cells[place] for place in places] if cells else []


def read_turn_rows(path: Path) -> Iterator[list[str]]:
    """Conversations: the turns of a row, one after the other; a header is not one of them."""
    rows = read_rows(path)
    first = next(rows, None)
    if first is not None and _pair_places(path, first[1]) is None:
        yield first[1]
    yield from (cells for _, cells in rows)


def read_rows(path: Path, *, keeps_empty: bool = False) -> Iterator[Row]:
    """All rows, the first too, whatever their columns mean."""
    lines = read_lines(path)
    first = next(lines, None)
    if first is None:
        return
    reader = csv.reader(_with_ends(first, lines), delimiter=_delimiter(first), strict=True)
    try:
        for cells in reader:
            stripped = [_one_line(cell) for cell in cells]
            if any(stripped):
                yield reader.line_num, stripped
            elif keeps_empty:
                yield reader.line_num, []
    except csv.Error as error:
        raise DataError(
            f"{path}, line {reader.line_num}: not CSV ({error}). A text with a comma, a quote or a "
            'line break stands in quotes, and quotes in it are doubled: "He said ""yes"", then '
            'left."'
        ) from error


def _with_ends(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield f"{first}\n"
    yield from (f"{line}\n" for line in lines)


def _one_line(cell: str) -> str:
    return " ".join(cell.split()) if any(sign in cell for sign in "\r\n\t") else cell.strip()


def _delimiter(first: str) -> str:
    """What parts the columns: the first of those usual that the first line has outside quotes."""
    for delimiter in _DELIMITERS:
        if len(next(csv.reader([first], delimiter=delimiter), [])) > 1:
            return delimiter
    return _DELIMITERS[0]


def _pair_places(path: Path, cells: Sequence[str]) -> tuple[int, int] | None:
    """Where source and target stand, if these are names of columns."""
    names = [cell.lower() for cell in cells]
    for source, target in PAIR_COLUMNS:
        if source in names and target in names:
            return names.index(source), names.index(target)
    if len(names) == 2 and names[0] != names[1] and _LANGUAGES.issuperset(names):
        return 0, 1
    if "source" in names or "target" in names:
        raise DataError(
            f"{path} has the columns {', '.join(cells)}: name the two that are meant source and "
            "target in the first row."
        )
    return None


def _label_places(path: Path, cells: Sequence[str]) -> tuple[int, ...] | None:
    """Where the texts and their label stand, if these are names of columns."""
    names = [cell.lower() for cell in cells]
    labels = [place for place, name in enumerate(names) if name in _COLUMNS["labels"]]
    texts = [place for place, name in enumerate(names) if name in _COLUMNS["texts"]]
    if not labels or not (texts or len(names) == 2):
        return None
    texts = texts or [place for place in range(len(names)) if place not in labels]
    if len(labels) > 1 or len(texts) > 2:
        raise DataError(
            f"{path} has the columns {', '.join(cells)}: name one of them label, and one or two of "
            "the others text1 and text2, in the first row; other names for those that are not "
            "meant."
        )
    return (*texts, *labels)


def _require_columns(path: Path, first: Row, allowed: Sequence[int], header: str) -> None:
    number, cells = first
    if len(cells) not in allowed:
        raise DataError(
            f"{path}, line {number}: {counted(len(cells), 'column')}, and no header that says "
            f"which are meant. Write a first row with their names, such as {header}."
        )


def _even(path: Path, rows: Iterator[Row], n_columns: int) -> Iterator[Row]:
    for number, cells in rows:
        if cells and len(cells) != n_columns:
            raise DataError(
                f"{path}, line {number}: {counted(len(cells), 'column')}, and the "
                f"first row has {n_columns}. A text with a comma stands in quotes."
            )
        yield number, cells
