"""Words: the oldest tokenizer, and the way a sentence is split for drawing.

Text is cut at spaces and signs; Chinese characters and Japanese kana, which are written without
spaces, stand one by one. A word keeps its inner hyphens, apostrophes, points and commas
("well-known", "don't", "1,000.5"), so joining needs few rules; French words that lost their vowel
("l'", "qu'") stand apart from the next.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import chain
from typing import Any, ClassVar, SupportsIndex

from regard.special import NAMES, TURN, UNKNOWN
from regard.text import vocabulary
from regard.text.tokens import Token, Word

# Han, kana (with their half-width forms) and the ideographic iteration and closing marks.
ONE_BY_ONE = (
    r"\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
ONE_BY_ONE_PATTERN = re.compile(f"[{ONE_BY_ONE}]")
_SKIN = "\U0001f3fb-\U0001f3ff"
_FLAG = "[\U0001f1e6-\U0001f1ff]"
# Not the English endings: "the T's", "c'd".
_ELIDED = (
    r"(?<![^\W_])(?:[cdjlmnstCDJLMNST]|(?:jusqu|lorsqu|puisqu|quoiqu|qu|Jusqu|Lorsqu|Puisqu|Quoiqu|Qu))"
    r"['’](?!(?:s|ll|re|ve|d|m|t)\b)"
)
# Characters that separate although str.isspace() denies it.
_GAP = r"\s\u200b\u2060\ufeff\u2581"

_NO_SPACE_BEFORE = frozenset(".,;:!?%)]}»”’…°，。、；：！？）］｝〕》」』】〉％·")
_NO_SPACE_AFTER = frozenset("([{«“‘¿¡$£€#@（［｛〔《「『【〈")
_NO_SPACE_AROUND = frozenset("/\\_~～—＿")
_FULL_WIDTH_SIGNS = frozenset("，。、；：！？（）［］｛｝〔〕《》「」『』【】〈〉％～")
_OPENS_AND_CLOSES = frozenset("\"'")


@cache
def _pattern() -> re.Pattern[str]:
    """One expression for all scripts; built once, since listing the combining marks takes time."""
    marks = "".join(
        re.escape(chr(c))
        for c in chain(range(0x300, 0x1F000), range(0xE0100, 0xE01F0))
        if unicodedata.category(chr(c))[0] == "M"
    )
    letter = rf"[^\W_{ONE_BY_ONE}][{marks}\u200c\u200d]*"
    word = rf"(?:{letter})+(?:(?:[-'’](?={letter})|(?<=\d)[.,](?=\d))(?:{letter})+)*"
    ideograph = rf"[{ONE_BY_ONE}][{marks}]*"
    flag = rf"{_FLAG}{{2}}"
    sign = rf"[^{_GAP}](?:[{marks}{_SKIN}]|\u200d[^{_GAP}])*"
    return re.compile(rf"{TURN}|{_ELIDED}(?={letter})|{word}|{ideograph}|{flag}|{sign}")


def split(text: str) -> list[Word]:
    """The words of a sentence in order, with their places; together they hold all but the gaps."""
    return [Word(m.group(), m.start(), m.end()) for m in _pattern().finditer(text)]


def cut(text: str) -> list[str]:
    """The words alone; what stands between two spaces is cut once, however often it comes."""
    return [word for chunk in text.split() for word in _cut_chunk(chunk)]


@lru_cache(maxsize=1 << 20)
def _cut_chunk(chunk: str) -> tuple[str, ...]:
    return tuple(_pattern().findall(chunk))


def count_words(text: str) -> int:
    """Words between spaces; each character of Chinese and Japanese counts as one."""
    return len(text.split()) + count_written_together(text)


def count_written_together(text: str) -> int:
    """Characters of Chinese and Japanese, which have no spaces between words."""
    return len(ONE_BY_ONE_PATTERN.findall(text))


def join(tokens: Iterable[str]) -> str:
    """Write words as a sentence: no spaces among Chinese characters or before a full stop."""
    parts: list[str] = []
    open_quotes: set[str] = set()
    previous = ""
    for token in tokens:
        closes = token in open_quotes
        if previous and _wants_space(previous, token, open_quotes, closes):
            parts.append(" ")
        if token in _OPENS_AND_CLOSES:
            open_quotes ^= {token}
        parts.append(token)
        previous = token
    return "".join(parts)


@cache
def _elided() -> re.Pattern[str]:
    return re.compile(_ELIDED)


def _is_elided(token: str) -> bool:
    return token[-1] in "'’" and len(token) > 1 and _elided().fullmatch(token) is not None


def _wants_space(previous: str, token: str, open_quotes: set[str], closes: bool) -> bool:
    if _is_elided(previous):
        return False
    if closes or token in _NO_SPACE_BEFORE or token in _NO_SPACE_AROUND:
        return False
    if previous in _NO_SPACE_AFTER or previous in _NO_SPACE_AROUND:
        return False
    if previous in _OPENS_AND_CLOSES and previous in open_quotes:
        return False
    return not (_is_written_without_spaces(previous[-1]) or _is_written_without_spaces(token[0]))


def _is_written_without_spaces(character: str) -> bool:
    return bool(ONE_BY_ONE_PATTERN.match(character)) or character in _FULL_WIDTH_SIGNS


class Words(vocabulary.ListedVocabulary):
    """A vocabulary of whole words, the most frequent first."""

    kind: ClassVar[str] = "words"

    @classmethod
    def train(
        cls, sentences: Iterable[str], size: int | None = None, *, is_lowercase: bool = False
    ) -> "Words":
        """Keep the ``size`` most frequent words (special ids included), or all of them."""
        counts: Counter[str] = Counter()
        for sentence in sentences:
            text = sentence.lower() if is_lowercase else sentence
            counts.update(cls._cut(text))
        return cls(vocabulary.most_frequent(counts, size, of="words"), is_lowercase=is_lowercase)

    @staticmethod
    def _split(text: str) -> list[Word]:
        """The tokens of a text, with their places."""
        return split(text)

    @staticmethod
    def _cut(text: str) -> Iterable[str]:
        """The tokens of a text."""
        return _pattern().findall(text)

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The sentence, with spaces where they belong."""
        return join(vocabulary.surfaces(self._tokens, ids))

    def pieces(self, text: str) -> list[Token]:
        """Each word, its id and its place."""
        found = []
        for i, word in enumerate(self._split(text)):
            lowered = word.text.lower() if self.is_lowercase else word.text
            id_ = self._ids.get(lowered, UNKNOWN)
            found.append(Token(id_, self._tokens[id_], word.start, word.end, i))
        return found

    @classmethod
    def from_saved(cls, saved: dict[str, Any]) -> "Words":
        """The tokenizer a JSON file holds."""
        return cls(saved["tokens"][len(NAMES) :], is_lowercase=saved["is_lowercase"])
