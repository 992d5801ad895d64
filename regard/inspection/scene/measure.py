"""How much room words take, without a font at hand: near enough, and rather too much."""

from functools import cache
from unicodedata import category, east_asian_width

from regard.inspection.scene.items import Number

_NARROW, _MIDDLING, _BROAD = frozenset("iIl.,:;'|!’‘·jft()[]"), 0.61, frozenset("mwMWOQ%@&…—")


def is_wide(character: str) -> bool:
    """Whether a character is as wide as it is high, as Chinese ones are."""
    return east_asian_width(character) in "WF"


def text_width(text: str, size: Number = 14.0) -> float:
    """About how many pixels a text takes."""
    return size * sum(_width(character) for character in text)


def shortened(text: str, most: Number, size: Number = 14.0) -> str:
    """The text, or as much of its beginning as fits, and dots."""
    if text_width(text, size) <= most:
        return text
    kept = text
    while kept and text_width(kept + "…", size) > most:
        kept = kept[:-1]
    return kept + "…"


@cache
def _width(character: str) -> float:
    if is_wide(character):
        return 1.0
    if character in _NARROW:
        return 0.38
    if character in _BROAD:
        return 0.9
    if category(character)[0] in "MC":
        return 0.0
    return 0.7 if character.isupper() else _MIDDLING
