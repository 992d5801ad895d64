"""Conversations from files: who says what after what.

How a file writes them is told by its first line that is not empty: ``__eou__`` after each turn, as
DailyDialog has it; turns with tabs between them, a conversation a line; or a turn a line, with an
empty line after each conversation. A ``.jsonl`` file has one conversation a line, as a list, and a
``.csv`` file one a row.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from regard.data.comma_separated import is_comma_separated, read_turn_rows
from regard.data.lines import read_lines
from regard.errors import DataError
from regard.text.turns import join_turns

_END_OF_TURN = "__eou__"
_IN_JSON = (".jsonl", ".ndjson", ".json")
_LISTS = ("turns", "dialogue", "dialog", "messages", "conversations", "conversation")
_TEXTS = ("content", "text", "value", "utterance")
_ONE_IN = 50  # conversations, held out where no others are named


def read_conversations(path: Path) -> Iterator[list[str]]:
    """The turns of each conversation; turns without a word are left out."""
    name = path.name.lower().removesuffix(".gz")
    if is_comma_separated(path):
        read = read_turn_rows(path)
    elif Path(name).suffix in _IN_JSON:
        read = _of_json(path, read_lines(path))
    else:
        read = _of_text(read_lines(path))
    for turns in read:
        if kept := [said for turn in turns if (said := " ".join(turn.split()))]:
            yield kept


def pairs_of(turns: Sequence[str], n: int) -> Iterator[tuple[str, str]]:
    """Each turn but the first, after the last n turns before it."""
    for place in range(1, len(turns)):
        yield join_turns(turns[max(0, place - n) : place]), join_turns([turns[place]])


def is_held_out(text: str) -> bool:
    """Whether a conversation is one of the few to validate on: decided by what is said alone."""
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest) % _ONE_IN == 0


def _of_text(lines: Iterator[str]) -> Iterator[list[str]]:
    first = next((line for line in lines if line.strip()), "")
    lines = chain([first], lines)
    if _END_OF_TURN in first:
        # Further columns are notes: of DailyDialog the topic, the acts and the emotions.
        said = (line.partition("\t")[0] for line in lines)
        return ([_untokenised(turn) for turn in one.split(_END_OF_TURN)] for one in said)
    if "\t" in first:
        return (line.split("\t") for line in lines)
    return _blocks(lines)


def _blocks(lines: Iterator[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for line in lines:
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []
    yield block


def _untokenised(turn: str) -> str:
    """The text before its signs were set apart: "it ’ s fine ." was "it's fine."."""
    turn = re.sub(r"(?<=\w) ?[’'] ?(?=(?:s|t|m|d|re|ve|ll)\b)", "'", turn)
    turn = re.sub(r"(?<=\S) +([.,!?;:%)\]…]+)(?=\s|$)", r"\1", turn)
    return re.sub(r"([(\[$]) +(?=\w)", r"\1", turn)


def _of_json(path: Path, lines: Iterator[str]) -> Iterator[list[str]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            turns = _turns_of(json.loads(line))
        except (ValueError, RecursionError):
            turns = None
        if turns is None:
            raise DataError(
                f"{path}, line {number}: {line[:60]!r} holds no conversation. Each line is JSON: "
                '["Hi", "Hello"], or {"turns": [...]}, or {"messages": [{"content": "Hi"}, ...]}.'
            )
        yield turns


def _turns_of(record: Any) -> list[str] | None:
    if isinstance(record, dict):
        record = next((record[key] for key in _LISTS if key in record), None)
    if not isinstance(record, list):
        return None
    turns = [_text_of(turn) for turn in record]
    return [turn for turn in turns if turn is not None] if None not in turns else None


def _text_of(turn: Any) -> str | None:
    if isinstance(turn, dict):
        turn = next((turn[key] for key in _TEXTS if key in turn), None)
    return turn if isinstance(turn, str) else None
