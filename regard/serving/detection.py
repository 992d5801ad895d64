"""In which of the served languages a text may be: told by its script alone, and no surer than that.

The letters of a text are counted by script. A language gets the share of letters in its scripts,
divided among the languages that write alike: of English and French nobody can tell by letters.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

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
