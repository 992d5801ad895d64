"""Passages of long texts, and those that say most of what a text is about (tf-idf).

The first stage of Liu et al. (2018): of a source that is too long to be read, the passages whose
words are telling (tf-idf) are read, in their order.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence

from regard.text.prose import sentences_of
from regard.text.words import split

_LONGEST = 100  # words of a passage that nothing divides


def passages_of(text: str) -> list[str]:
    """The sentences of a text; those without an end are divided."""
    return [part for one in sentences_of(text.split("\n")) for part in _divided(one)]


def _divided(sentence: str) -> list[str]:
    if len(sentence) <= _LONGEST:
        return [sentence]
    words = split(sentence)
    firsts = [word.start for word in words[::_LONGEST]] or [0]
    ends = [*firsts[1:], len(sentence)]
    return [sentence[a:b].strip() for a, b in zip([0, *firsts[1:]], ends, strict=True)]


def telling_words(text: str) -> list[str]:
    """Words in lower case, without signs."""
    return [one for word in split(text.lower()) if (one := word.text)[0].isalnum()]


class Weighting:
    """``tf · idf``: how telling words are, by the texts in which they occur."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        counts = Counter(word for text in texts for word in set(text))
        n = len(texts)
        self._idf = {word: math.log((1 + n) / (1 + count)) + 1 for word, count in counts.items()}
        self._unseen = math.log(1 + n) + 1

    def vector(self, words: Sequence[str]) -> dict[str, float]:
        """Words with their weights, of length one."""
        raw = {
            word: (1 + math.log(n)) * self._idf.get(word, self._unseen)
            for word, n in Counter(words).items()
        }
        length = math.sqrt(sum(value * value for value in raw.values())) or 1.0
        return {word: value / length for word, value in raw.items()}


def likeness(one: dict[str, float], other: dict[str, float]) -> float:
    """The cosine of two vectors of length one."""
    few, many = (one, other) if len(one) < len(other) else (other, one)
    return sum(value * many.get(word, 0.0) for word, value in few.items())


def most_telling(text: str, budget: int, size: Callable[[str], int], query: str = "") -> str:
    """The passages most like the query, or like the whole, that fit a budget; in their order."""
    passages = passages_of(text)
    words = [telling_words(one) for one in passages]
    weighting = Weighting(words)
    asked = telling_words(query) or [word for one in words for word in one]
    wanted = weighting.vector(asked)
    scores = [likeness(weighting.vector(one), wanted) for one in words]
    chosen, left = set[int](), budget
    for place in sorted(range(len(passages)), key=lambda i: (-scores[i], i)):
        if (needed := size(passages[place])) <= left:
            chosen.add(place)
            left -= needed
    return " ".join(passages[place] for place in sorted(chosen))
