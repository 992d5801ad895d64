"""Captions as words, for measures that count them: lower case, without punctuation."""

from regard.text.chinese_words import segmenter, split_chinese
from regard.text.words import split


def caption_words(text: str) -> list[str]:
    """The words of a caption; Chinese ones as jieba finds them, or else its characters."""
    cut = split_chinese if has_chinese_words() else split
    return [word.text for word in cut(text.lower()) if any(map(str.isalnum, word.text))]


def has_chinese_words() -> bool:
    """Whether Chinese is cut into words, and not into characters."""
    return segmenter() is not None
