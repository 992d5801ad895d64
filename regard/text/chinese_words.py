"""Chinese words as jieba finds them: an optional package, with a dictionary of its own."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, ClassVar

from regard.errors import MissingExtraError
from regard.special import NAMES
from regard.text.tokens import Word
from regard.text.words import ONE_BY_ONE_PATTERN, Words, split


class ChineseWords(Words):
    """A vocabulary of whole words, also where none are told apart by spaces."""

    kind: ClassVar[str] = "chinese-words"

    @staticmethod
    def _split(text: str) -> list[Word]:
        return split_chinese(text)

    @staticmethod
    def _cut(text: str) -> Iterable[str]:
        """The tokens of a text."""
        return [word.text for word in split_chinese(text)]

    @classmethod
    def from_saved(cls, saved: dict[str, Any]) -> "ChineseWords":
        """The tokenizer a JSON file holds."""
        return cls(saved["tokens"][len(NAMES) :], is_lowercase=saved["is_lowercase"])


def split_chinese(text: str) -> list[Word]:
    """The words of a sentence in order, with their places.

    Raises:
        MissingExtraError: jieba is not installed.
    """
    segment = segmenter()
    if segment is None:
        raise MissingExtraError("text.kind = chinese-words", "chinese")
    found, run = list[Word](), list[Word]()
    for word in (*split(text), Word("", len(text), len(text))):
        if run and (word.start != run[-1].end or not ONE_BY_ONE_PATTERN.match(word.text)):
            start = run[0].start
            for part in segment(text[start : run[-1].end]):
                found.append(Word(part, start, start + len(part)))
                start += len(part)
            run = []
        if ONE_BY_ONE_PATTERN.match(word.text):
            run.append(word)
        elif word.text:
            found.append(word)
    return found


@cache
def segmenter() -> Callable[[str], list[str]] | None:
    """What cuts Chinese into words, if it is installed."""
    try:
        import jieba
    except ImportError:
        return None
    tokenizer = jieba.Tokenizer()
    # Its own way of beginning reads a cache that anyone could have put into the temporary folder.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    cut: Callable[[str], list[str]] = tokenizer.lcut
    return cut
