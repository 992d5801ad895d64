"""Turns of a conversation in one text: a mark of their own stands between them."""

from collections.abc import Sequence

from regard.special import TURN

_BETWEEN = f" {TURN} "


def join_turns(turns: Sequence[str]) -> str:
    """The turns as one text; a mark that somebody wrote inside a turn is taken out."""
    return _BETWEEN.join(_without_mark(turn) for turn in turns)


def split_turns(text: str) -> list[str]:
    """The turns of a text, from the oldest on."""
    return [turn.strip() for turn in text.split(TURN)]


def last_turns(text: str, n: int) -> str:
    """The text without what was said before the last n turns."""
    turns = split_turns(text)
    return text if len(turns) <= n else join_turns(turns[-n:])


def _without_mark(turn: str) -> str:
    return " ".join(turn.replace(TURN, " ").split()) if TURN in turn else turn.strip()
