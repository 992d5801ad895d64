"""Languages: which a model is for, and in which a text may be.

A model's are told, or guessed from its recipe and folder. A text's are told by its script alone,
and no surer than that: a language gets the share of letters in its scripts, divided among the
languages that write alike; of English and French nobody can tell by letters.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
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


_SCRIPTS = {
    "zh": ("CJK",),
    "ja": ("HIRAGANA", "KATAKANA", "CJK"),
    "ko": ("HANGUL",),
    **dict.fromkeys(("ru", "uk", "bg", "be", "mk", "kk", "mn"), ("CYRILLIC",)),
    **dict.fromkeys(("ar", "fa", "ur"), ("ARABIC",)),
    **dict.fromkeys(("hi", "mr", "ne"), ("DEVANAGARI",)),
    "el": ("GREEK",),
    "he": ("HEBREW",),
    "th": ("THAI",),
    "ka": ("GEORGIAN",),
    "hy": ("ARMENIAN",),
    "bn": ("BENGALI",),
    "ta": ("TAMIL",),
}
_LATIN = ("LATIN",)
_KANA = ("HIRAGANA", "KATAKANA")


@dataclass(frozen=True)
class Guess:
    """A language, and how sure one can be of it, in percent."""

    language: str
    confidence: float


def detect(text: str, languages: Iterable[str]) -> tuple[Guess, ...]:
    """Every language with what speaks for it, most likely first; among equals, as they came."""
    counts = Counter(_script(sign) for sign in text if sign.isalpha())
    total = sum(counts.values())
    known = tuple(dict.fromkeys(languages))
    has_kana = any(counts[script] for script in _KANA)
    shares: dict[str, float] = {}
    for language in known:
        scripts = _scripts(language, has_kana=has_kana)
        rivals = [one for one in known if set(_scripts(one, has_kana=has_kana)) & set(scripts)]
        seen = sum(counts[script] for script in scripts)
        shares[language] = seen / total / max(1, len(rivals)) if total else 0.0
    guesses = (Guess(one, round(100 * shares[one], 1)) for one in known)
    return tuple(sorted(guesses, key=lambda guess: -guess.confidence))


def _scripts(language: str, *, has_kana: bool) -> tuple[str, ...]:
    if language == "zh" and has_kana:  # Chinese has no kana: such a text is Japanese
        return ()
    return _SCRIPTS.get(language, _LATIN)


def _script(sign: str) -> str:
    return unicodedata.name(sign, "").partition(" ")[0]
