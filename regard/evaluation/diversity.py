"""How much outputs differ from one another: who always says "I don't know" is right too often."""

from collections import Counter
from collections.abc import Iterable, Sequence

from regard.errors import UsageError


def distinct(sentences: Iterable[Sequence[str]], n: int) -> float:
    """distinct-n (Li et al. 2016): different n-grams over all n-grams, of sentences in words.

    It falls with the amount of text, so only outputs for the same inputs compare.
    """
    if n < 1:
        raise UsageError(f"an n-gram of {n} words is not possible: give 1 or more")
    grams = [
        tuple(words[start : start + n])
        for words in sentences
        for start in range(len(words) - n + 1)
    ]
    return len(set(grams)) / len(grams) if grams else 0.0


def most_frequent(outputs: Iterable[str]) -> tuple[str, float]:
    """The output that is given most often (the first of equals), and its share of all."""
    counts = Counter(outputs)
    if not counts:
        raise UsageError("there is nothing to count: no outputs were given")
    ((text, n),) = counts.most_common(1)
    return text, n / counts.total()
