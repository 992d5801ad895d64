"""Captions as words, for measures that count them: lower case, without punctuation."""

from functools import cache
from typing import Any

from regard.text.words import split


def caption_words(text: str) -> list[str]:
    """The words of a caption; Chinese ones as jieba finds them, or else its characters."""
    segment = _segment()
    found = []
    run = ""
    for word in split(text.lower()):
        if segment is not None and "\u4e00" <= word.text <= "\u9fff":
            run += word.text
            continue
        if run and segment is not None:
            found += segment(run)
            run = ""
        found.append(word.text)
    if run and segment is not None:
        found += segment(run)
    return [word for word in found if any(map(str.isalnum, word))]


def has_chinese_words() -> bool:
    """Whether Chinese is cut into words, and not into characters."""
    return _segment() is not None


@cache
def _segment() -> Any:
    try:
        import jieba
    except ImportError:
        return None
    tokenizer = jieba.Tokenizer()
    # Its own way of beginning reads a cache that anyone could have put into the temporary folder.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer.lcut
