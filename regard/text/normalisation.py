"""How text is made even before sentencepiece sees it; the rules travel inside the .model file.

The usual choice, NFKC, turns ，？！ into ,?! and ① into 1, so a model trained with it can never
write Chinese punctuation. These rules are lighter: composed accents (NFC), one kind of space, no
invisible controls, and plain letters for full-width letters, full-width digits and ligatures.
Everything else reaches the model as it was written.
"""

import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain

# U+2581 is how sentencepiece writes a space, so it cannot also be a character of the text.
_SPACES = (
    *range(0x09, 0x0E), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F,
    0x205F, 0x2581, 0x3000,
)  # fmt: skip
_INVISIBLE = (
    *range(0x01, 0x09), *range(0x0E, 0x20), *range(0x7F, 0x85), *range(0x86, 0xA0), 0xAD, 0x200B,
    0x200E, 0x200F, *range(0x202A, 0x202F), 0x2060, *range(0x2066, 0x206A), 0xFEFF,
)  # fmt: skip
_PLAINER = (
    *range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B),
    *range(0xFB00, 0xFB07),
)  # fmt: skip
_HANGUL_SYLLABLES = range(0xAC00, 0xD7A4)  # 11,172 rules for a spelling hardly any text uses


@cache
def rules(is_lowercase: bool) -> tuple[tuple[str, str], ...]:
    """What is written, and what the model reads in its place; the longest match counts.

    Lower-casing is a rule among the others, so it is saved with them; unlike case folding it
    leaves "ß" alone.
    """
    table = dict(_compositions())
    table |= dict.fromkeys(map(chr, _SPACES), " ")
    table |= dict.fromkeys(map(chr, _INVISIBLE), "")
    table |= {chr(c): unicodedata.normalize("NFKC", chr(c)) for c in _PLAINER}
    if is_lowercase:
        table = {written: table[written].lower() for written in table}
        capitals = (c for c in map(chr, _characters()) if c.lower() != c and c not in table)
        table |= {c: unicodedata.normalize("NFC", c.lower()) for c in capitals}
    return tuple(sorted(table.items()))


def _characters() -> Iterable[int]:
    return chain(range(0x20, 0xD800), range(0xE000, 0x20000), range(0x2F800, 0x2FA20))


def _compositions() -> Iterator[tuple[str, str]]:
    for code in _characters():
        character = chr(code)
        canonical = unicodedata.decomposition(character)
        if not canonical or canonical.startswith("<") or code in _HANGUL_SYLLABLES:
            continue
        composed = unicodedata.normalize("NFC", character)
        if composed != character:
            yield character, composed
        apart = "".join(chr(int(part, 16)) for part in canonical.split())
        for spelling in (apart, unicodedata.normalize("NFD", character)):
            if unicodedata.normalize("NFC", spelling) == composed != spelling:
                yield spelling, composed
