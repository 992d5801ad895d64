"""Minimal pairs: a good sentence and a bad one that differs from it in one place.

Read are, plain, .gz or .xz: tables with a header (``phenomenon``, ``paradigm``, ``good``, ``bad``
and, where translations are compared, ``source``), tab-separated or CSV; BLiMP's JSON lines
(``sentence_good``, ``sentence_bad``); CommonMT's columns (``..._source``, ``..._target_correct``,
``..._target_wrong``); and the JSON of the discourse test sets of Bawden et al. (2018), whose
sentences are read after the ones before them.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.data.comma_separated import read_rows
from regard.data.lines import read_lines
from regard.errors import DataError

HEADER = ("phenomenon", "paradigm", "good", "bad")
_NAMES = {  # as they are called elsewhere; "*" stands for a language
    "phenomenon": ("phenomenon", "linguistics_term"),
    "paradigm": ("paradigm", "uid"),
    "good": ("good", "sentence_good", "*_target_correct"),
    "bad": ("bad", "sentence_bad", "*_target_wrong"),
    "source": ("source", "*_source"),
}
_Numbered = tuple[int, Mapping[str, str]]  # of which line, and its columns by our names


@dataclass(frozen=True)
class MinimalPair:
    """Two sentences of which a model should prefer the first; ``source`` is what they translate."""

    phenomenon: str
    paradigm: str
    good: str
    bad: str
    source: str = ""


def read_minimal_pairs(path: str | Path, limit: int | None = None) -> list[MinimalPair]:
    """All pairs of a file, or the first so many of each paradigm."""
    file = Path(path)
    if file.is_dir():
        raise DataError(f"{file} is a folder: name a file of minimal pairs in it.")
    name = file.name.lower().removesuffix(".gz").removesuffix(".xz")
    stem = name.partition(".")[0]
    if name.endswith(".json"):
        found = list(_discourse(file, stem))
    else:
        rows = _json_lines(file) if name.endswith(".jsonl") else _table(file, name)
        found = [_pair(file, number, row, stem) for number, row in rows]
    if not found:
        raise DataError(f"{file} holds no minimal pairs. Is it the right file?")
    if any(one.source for one in found) and not all(one.source for one in found):
        raise DataError(f"{file}: some pairs have a source and others have none: give all or none.")
    return found if limit is None else _first(found, limit)


def _first(pairs: Iterable[MinimalPair], limit: int) -> list[MinimalPair]:
    seen: Counter[tuple[str, str]] = Counter()
    kept = []
    for one in pairs:
        seen[one.phenomenon, one.paradigm] += 1
        if seen[one.phenomenon, one.paradigm] <= limit:
            kept.append(one)
    return kept


def _table(path: Path, name: str) -> Iterator[_Numbered]:
    rows = read_rows(path) if name.endswith(".csv") else _tabbed(path)
    header = next(rows, (1, list[str]()))[1]
    names = _known(header)
    if not {"good", "bad"} <= set(names):
        raise DataError(
            f"{path}: the first line is {', '.join(header) or 'empty'}, and must name the columns "
            f"{', '.join(HEADER)}, with tabs between them."
        )
    for number, cells in rows:
        if len(cells) != len(names):
            raise DataError(
                f"{path}, line {number}: there are {len(cells)} columns, and the first line names "
                f"{len(names)}."
            )
        yield number, {key: cell for key, cell in zip(names, cells, strict=True) if key}


def _tabbed(path: Path) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            yield number, line.split("\t")


def _json_lines(path: Path) -> Iterator[_Numbered]:
    for number, line in enumerate(read_lines(path), 1):
        row = _parsed(line, f"{path}, line {number}") if line.strip() else None
        if row is not None:
            names = _known(list(row))
            both = zip(names, row.values(), strict=True)
            yield number, {key: value for key, value in both if key and isinstance(value, str)}


def _known(header: Sequence[str]) -> list[str]:
    """What each column is to us; nothing where it is something else."""
    return [
        next((key for key, names in _NAMES.items() if _is_called(column.lower(), names)), "")
        for column in header
    ]


def _is_called(column: str, names: Sequence[str]) -> bool:
    return any(
        column.endswith(name[1:]) if name.startswith("*") else column == name for name in names
    )


def _pair(path: Path, number: int, row: Mapping[str, str], stem: str) -> MinimalPair:
    good, bad = row.get("good", "").strip(), row.get("bad", "").strip()
    if not good or not bad:
        missing = "bad" if good else "good"
        raise DataError(f"{path}, line {number}: there is no {missing} sentence: give both.")
    paradigm = row.get("paradigm", "") or stem
    return MinimalPair(
        row.get("phenomenon", "") or paradigm, paradigm, good, bad, row.get("source", "").strip()
    )


def _discourse(path: Path, stem: str) -> Iterator[MinimalPair]:
    blocks = _parsed("\n".join(read_lines(path)), str(path))
    try:
        for block in blocks.values():
            for example in block.get("examples", [block]):
                targets = example["trg"]
                for target in [targets] if isinstance(targets, dict) else targets:
                    key = "correct" if "correct" in target else "semi-correct"
                    yield MinimalPair(
                        f"{stem}, {key}" if "type" in target else stem,
                        str(target.get("type") or block.get("type") or stem),
                        " ".join(target[key]),
                        " ".join(target["incorrect"]),
                        " ".join(example["src"]),
                    )
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{path} is no set of contrastive translations: each block has src, and trg with "
            "correct and incorrect."
        ) from error


def _parsed(text: str, where: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{where}: not JSON ({error}).") from error
    if not isinstance(found, dict):
        raise DataError(f"{where}: a JSON object is expected, in braces.")
    return found
