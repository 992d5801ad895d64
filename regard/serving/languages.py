"""Which languages a model is for: as it is told, or as its recipe and folder let one guess."""

import re
from functools import cache
from pathlib import Path

from regard.config import Recipe
from regard.errors import ServiceError

Pair = tuple[str, str]  # codes of source and target, as in "zh", "en"

_PAIR = re.compile(r"([a-z]{2,3})-([a-z]{2,3})")
_AT_THE_END = re.compile(r"(?:^|[^a-z])([a-z]{2})-([a-z]{2})$")


def name_of(code: str) -> str:
    """What a language is called in English; its code if nobody knows."""
    return str(_names().get(code, code))


def as_pair(text: str) -> Pair | None:
    """The pair that "zh-en" says; nothing if it says none."""
    found = _PAIR.fullmatch(text)
    return (found[1], found[2]) if found and {found[1], found[2]} <= _names().keys() else None


def checked_pair(text: str) -> Pair:
    """The same, for words that must be a pair."""
    pair = as_pair(text)
    if pair is None:
        raise ServiceError(
            f"{text!r} is no pair of languages: give two codes of ISO 639, for example zh-en"
        )
    return pair


def guess_pair(recipe: Recipe, folder: Path) -> Pair | None:
    """From the names of the texts it learned from, or else of its folder."""
    for spec in recipe.data.train:
        first, _, second = re.sub(r"\*\d+$", "", spec).partition("|")
        if second:
            codes = (_ending(first), _ending(second))
        else:
            parts = spec.split(":")  # an embedded corpus: "phrasebook:zh-en:train"
            codes = as_pair(parts[1]) or ("", "") if len(parts) > 1 else ("", "")
        if all(code in _names() and len(code) == 2 for code in codes):
            return codes
    for name in (folder.resolve().name, folder.resolve().parent.name):
        found = _AT_THE_END.search(name)
        if found and (pair := as_pair(f"{found[1]}-{found[2]}")):
            return pair
    return None


def _ending(file: str) -> str:
    return Path(file.removesuffix(".gz")).suffix.removeprefix(".").lower()


@cache
def _names() -> dict[str, str]:
    from babel import Locale

    return dict(Locale("en").languages)
