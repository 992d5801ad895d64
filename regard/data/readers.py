"""Pairs from files and embedded corpora, one at a time, however many there are."""

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from regard.corpora import Extract
from regard.counting import counted
from regard.data.comma_separated import PAIR_COLUMNS, read_pair_rows
from regard.data.conversations import is_held_out, pairs_of, read_conversations
from regard.data.gettext import read_gettext
from regard.data.lines import read_lines
from regard.data.spec import Spec, parse_spec
from regard.errors import DataError
from regard.text.given import checked_items
from regard.text.turns import join_turns, last_turns

_MOST_KEPT = 200_000  # pairs of an embedded corpus, in memory
_WHAT = {"gettext": "translated messages", "conversations": "turn that answers another"}


class Pair(NamedTuple):
    """A sentence and what it should become."""

    source: str
    target: str


AnySpec = str | Path | tuple[str | Path, str | Path] | Spec


def read_pairs(spec: AnySpec) -> Iterator[Pair]:
    """The pairs of one spec, as often as its weight says.

    Files are checked at once; their content is read as the pairs are taken.
    """
    parsed = parse_spec(spec)
    return _repeated(parsed)


def read_corpus(specs: Iterable[AnySpec]) -> Iterator[Pair]:
    """The pairs of several specs, one after the other."""
    checked_items(specs, "specs")
    parsed = [parse_spec(spec) for spec in specs]
    return (pair for spec in parsed for pair in _repeated(spec))


def _repeated(spec: Spec) -> Iterator[Pair]:
    for _ in range(spec.weight):
        yield from read_once(spec)


def read_once(spec: Spec) -> Iterator[Pair]:
    """The pairs of one spec, whatever its weight; text within a pair stays on one line."""
    read = {
        "two files": _two_files,
        "tab-separated": _tab_separated,
        "comma-separated": _comma_separated,
        "JSON lines": _json_lines,
        "gettext": _gettext,
        "corpus": _embedded,
        "conversations": _conversations,
    }[spec.format]
    n_pairs = 0
    for source, target in _after_turns(spec, read(spec)):
        n_pairs += 1
        yield Pair(_one_line(source), _one_line(target))
    # Of a small file, nothing may be held out.
    if not n_pairs and spec.part is None:
        what = _WHAT.get(spec.format, "pairs")
        raise DataError(f"{spec.name} holds no {what}. Is it the right file?")


def _one_line(text: str) -> str:
    return text.replace("\r\n", " ").replace("\n", " ") if "\n" in text else text


def _two_files(spec: Spec) -> Iterator[tuple[str, str]]:
    source_path, target_path = spec.paths
    sources, targets = read_lines(source_path), read_lines(target_path)
    n_lines = [0, 0]
    for source, target in zip_longest(sources, targets):
        n_lines[0] += source is not None
        n_lines[1] += target is not None
        if source is not None and target is not None:
            yield source, target
    if n_lines[0] != n_lines[1]:
        raise DataError(
            f"{source_path} has {counted(n_lines[0], 'line')} and {target_path} has "
            f"{n_lines[1]:,}: line n of one has to translate line n of the other. "
            "Find the line where they part."
        )


def _tab_separated(spec: Spec) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(read_lines(spec.paths[0]), 1):
        if not line:
            continue
        columns = line.split("\t", 2)  # further columns are notes: scores, authors, licences
        if len(columns) < 2:
            raise DataError(
                f"{spec.name}, line {number}: {line[:60]!r} has no tab. Each line is a source, a "
                "tab and a target; for one sentence a line, name two files: train.en|train.de."
            )
        yield columns[0], columns[1]


def _comma_separated(spec: Spec) -> Iterator[tuple[str, str]]:
    return read_pair_rows(spec.paths[0])


def _json_lines(spec: Spec) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(read_lines(spec.paths[0]), 1):
        if line.strip():
            yield _pair_of_json(spec.name, number, line)


def _pair_of_json(name: str, number: int, line: str) -> tuple[str, str]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "too deep"
        raise DataError(
            f"{name}, line {number}: not JSON ({reason}). Each line is one whole object, for "
            'example {"source": "Hello", "target": "Hallo"}.'
        ) from error
    texts = _texts_of_json(record)
    if texts is None:
        raise DataError(
            f"{name}, line {number}: {line[:60]!r} holds no pair. Each line needs text under "
            '"source" and "target", or "translation": {"en": ..., "de": ...}, or two languages.'
        )
    return texts


def _texts_of_json(record: Any) -> tuple[str, str] | None:
    """Source and target of a record; of languages, the first is the source."""
    if not isinstance(record, dict):
        return None
    named = next((pair for pair in PAIR_COLUMNS if all(key in record for key in pair)), None)
    if named is None and ("source" in record or "target" in record):
        return None
    inner = record.get("translation", record) if named is None else {k: record[k] for k in named}
    if not isinstance(inner, dict):
        return None
    texts = [value for value in inner.values() if isinstance(value, str)]
    return (texts[0], texts[1]) if len(texts) >= 2 else None


def _gettext(spec: Spec) -> Iterator[tuple[str, str]]:
    return read_gettext(spec.name, read_lines(spec.paths[0]))


def _conversations(spec: Spec) -> Iterator[tuple[str, str]]:
    assert spec.turns is not None
    for turns in read_conversations(spec.paths[0]):
        if _belongs(spec, join_turns(turns)):
            yield from pairs_of(turns, spec.turns)


def _after_turns(spec: Spec, pairs: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Pairs as a dialogue takes them, each for a conversation of its own."""
    if spec.turns is None or spec.format == "conversations":
        return pairs
    n = spec.turns
    return ((last_turns(source, n), target) for source, target in pairs if _belongs(spec, source))


def _belongs(spec: Spec, said: str) -> bool:
    return spec.part is None or is_held_out(said) == (spec.part == "held out")


def _embedded(spec: Spec) -> Iterator[tuple[str, str]]:
    assert spec.extract is not None
    if spec.extract.most > _MOST_KEPT:
        return ((example.source, example.target) for example in spec.extract.draw())
    return iter(_drawn(spec.extract))


@lru_cache(maxsize=4)
def _drawn(extract: Extract) -> tuple[tuple[str, str], ...]:
    """Kept: a run reads its examples twice, for the vocabulary and for their ids."""
    return tuple((example.source, example.target) for example in extract.draw())
