"""How examples are named: "pairs.tsv", "train.en|train.de", "extra.jsonl.gz*2", "dates:test"."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from regard.corpora import CORPORA, Extract, is_extract, parse_extract
from regard.errors import DataError

FORMATS = {
    ".tsv": "tab-separated",
    ".txt": "tab-separated",
    ".csv": "comma-separated",
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".json": "JSON lines",
    ".po": "gettext",
}

Part = Literal["learned", "held out"]


@dataclass(frozen=True)
class Spec:
    """One file of pairs, or two line by line, or an embedded corpus; and how often it counts."""

    paths: tuple[Path, ...]
    weight: int = 1
    extract: Extract | None = None  # of an embedded corpus; then there are no files
    turns: int | None = None  # of conversations: how many a source has at most; None: of pairs
    part: Part | None = None  # of conversations: without those held out, or these alone

    @property
    def name(self) -> str:
        """The files or the corpus as the user wrote them."""
        if self.extract is not None:
            return self.extract.name
        return "|".join(str(path) for path in self.paths)

    @property
    def format(self) -> str:
        """How pairs are written there."""
        if self.extract is not None:
            return "corpus"
        if len(self.paths) == 2:
            return "two files"
        if self.turns is not None:
            return "conversations"
        return FORMATS[_ending(self.paths[0])]


def parse_spec(
    spec: "str | Path | tuple[str | Path, str | Path] | Spec", *, turns: int | None = None
) -> Spec:
    """Read a name of examples and check that they are there; a file wins over a corpus.

    With ``turns``, one file holds conversations, and not pairs.
    """
    if isinstance(spec, Spec):
        return spec
    parsed = _parse(spec) if isinstance(spec, str | Path) else Spec((Path(spec[0]), Path(spec[1])))
    for path in parsed.paths:
        _check_exists(path)
    if turns is not None:
        return replace(parsed, turns=turns)
    if len(parsed.paths) == 1 and _ending(parsed.paths[0]) not in FORMATS:
        raise DataError(
            f"{parsed.name}: how pairs are written in this file cannot be told from its name. Use "
            f"an ending out of {', '.join(FORMATS)} (also with .gz or .xz), or name two files: "
            "train.en|train.de."
        )
    return parsed


def parse_labelled(name: str) -> Spec:
    """Read the name of examples with labels: a file of any ending, or a corpus."""
    parsed = _parse(name)
    for path in parsed.paths:
        _check_exists(path)
    if len(parsed.paths) > 1:
        raise DataError(
            f"{name!r} names two files: examples with labels stand in one, told apart by tabs."
        )
    return parsed


def _parse(spec: str | Path) -> Spec:
    text = str(spec)
    weight = 1
    if (found := re.fullmatch(r"(.+)\*(\d+)", text)) and not Path(text).exists():
        text, weight = found[1], int(found[2])
        if weight < 1:
            raise DataError(f"{text}*{weight}: a weight is 1 or more; leave the file out instead.")
    if is_extract(text) and not Path(text).exists():
        return Spec((), weight, parse_extract(text))
    names = [name.strip() for name in text.split("|")]
    if len(names) > 2 or not all(names):
        raise DataError(
            f"{text!r} is not a name of examples: write one file (pairs.tsv) or two, source first "
            "(train.en|train.de)."
        )
    return Spec(tuple(Path(name).expanduser() for name in names), weight)


def _check_exists(path: Path) -> None:
    if path.is_dir():
        raise DataError(f"{path} is a folder: name a file in it, or two files as a.en|a.de.")
    if not path.exists():
        told = "Paths are taken from the current folder."
        if ":" in path.name and path.parent == Path():
            told = f"Nor is there a corpus of that name: there are {', '.join(CORPORA)}."
        raise DataError(f"{path}: no such file. {told}")


def _ending(path: Path) -> str:
    name = path.name.lower().removesuffix(".gz").removesuffix(".xz")
    return Path(name).suffix
