"""ROUGE: how much of a reference's words and their order an output has (Lin 2004).

F1 of single words, of pairs of words, and of the longest common subsequence, as the package
rouge-score computes them (without stemming), in percent. Words are those of letters and digits; of
text written in Chinese characters or kana, each character is a word.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields

# Han and kana, which are written without spaces.
_ONE_BY_ONE = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_IS_ONE_BY_ONE = re.compile(f"[{_ONE_BY_ONE}]")
_LATIN = re.compile(r"[a-z0-9]+")
_MIXED = re.compile(rf"[{_ONE_BY_ONE}]|[^\W_{_ONE_BY_ONE}]+")


@dataclass(frozen=True)
class Rouge:
    """F1 in percent."""

    rouge_1: float
    rouge_2: float
    rouge_l: float


def rouge_words(text: str, *, by_characters: bool) -> list[str]:
    """What is compared: words in lower case, or characters where they are written one by one."""
    return (_MIXED if by_characters else _LATIN).findall(text.lower())


def rouge(output: str, reference: str) -> Rouge:
    """How near an output comes to its reference."""
    by_characters = bool(_IS_ONE_BY_ONE.search(reference))
    ours, theirs = (rouge_words(text, by_characters=by_characters) for text in (output, reference))
    return Rouge(
        _overlap(ours, theirs, 1),
        _overlap(ours, theirs, 2),
        _f1(_common(ours, theirs), ours, theirs),
    )


def mean_rouge(outputs: Sequence[str], references: Sequence[str]) -> Rouge:
    """The mean over pairs."""
    found = [rouge(one, other) for one, other in zip(outputs, references, strict=True)]
    means = (
        sum(getattr(one, field.name) for one in found) / max(1, len(found))
        for field in fields(Rouge)
    )
    return Rouge(*means)


def repeated_share(text: str) -> float:
    """The share of triples of words that stood in the text before: 0 is none."""
    words = rouge_words(text, by_characters=bool(_IS_ONE_BY_ONE.search(text)))
    triples = [*zip(words, words[1:], words[2:], strict=False)]
    return 1 - len(set(triples)) / len(triples) if triples else 0.0


def _overlap(ours: Sequence[str], theirs: Sequence[str], n: int) -> float:
    mine, others = (
        Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
        for words in (ours, theirs)
    )
    return _f1((mine & others).total(), list(mine.elements()), list(others.elements()))


def _f1(n_common: int, ours: Sequence[object], theirs: Sequence[object]) -> float:
    if not n_common:
        return 0.0
    precision, recall = n_common / len(ours), n_common / len(theirs)
    return 200 * precision * recall / (precision + recall)


def _common(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """How long the longest common subsequence is."""
    row = [0] * (len(theirs) + 1)
    for word in ours:
        before = 0
        for place, other in enumerate(theirs, 1):
            above = row[place]
            row[place] = before + 1 if word == other else max(above, row[place - 1])
            before = above
    return row[-1]
