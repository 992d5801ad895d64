"""How large a vocabulary the data can carry, and how much of it characters may take."""

import math
from collections.abc import Mapping
from itertools import accumulate, pairwise

# (pairs, vocabulary): every token should be seen often enough to be learned. Sennrich and Zhang
# (2019) found about 2,000 merges best for 5,000 to 10,000 sentences and larger vocabularies harmful
# there; 4,000 serve the 30,000 short pairs of Multi30k better than the usual 8,000, and take less
# time; 10,000 are usual for 200,000 (IWSLT), 32,000 to 37,000 for millions (Vaswani et al. 2017).
# Between these points, and below the first, a straight line is drawn on logarithmic axes, as
# vocabularies grow with a power of the text (Heaps' law).
_ANCHORS = (
    (500, 1_000),
    (2_000, 2_000),
    (30_000, 4_000),
    (200_000, 10_000),
    (2_000_000, 32_000),
)
_WORDS_PER_PAIR = 25.0
_SMALLEST = 400  # four special ids, 256 bytes, and some letters
_ALWAYS_THERE = 260
_ALPHABET = 80  # letters and signs of a language that is written with an alphabet
# Pieces of several characters, where thousands of characters would leave no ids for them: with none
# an English word is spelt.
_MERGES = 2_500

_COVERAGE = 0.9995  # of the text, by the characters of the vocabulary: as sentencepiece advises
_LEAST_COVERAGE = 0.98  # sentencepiece takes no less
_RARE = 3  # times: what is seen less often cannot be learned, and is spelt in bytes


def choose_vocabulary_size(
    n_pairs: int, words_per_pair: float = _WORDS_PER_PAIR, n_characters: int = 0
) -> int:
    """A sound joint vocabulary for so many pairs; train with ``is_upper_limit=True``.

    Args:
        n_pairs: pairs of the training data.
        words_per_pair: words of both sides together; longer sentences carry more tokens.
        n_characters: characters that need an id (``needed_characters``). Thousands of Chinese
            ones raise the answer, so that pieces of several characters have room beside them.
    """
    pairs = max(1.0, n_pairs * words_per_pair / _WORDS_PER_PAIR)
    size = _carried(pairs)
    merges = max(0.0, min(_MERGES, size - _ALWAYS_THERE - _ALPHABET))
    floor = max(_SMALLEST, _ALWAYS_THERE + n_characters + merges)
    step = 100 if max(size, floor) < 10_000 else 1_000
    return step * max(math.ceil(size / step - 0.5), math.ceil(floor / step))


def needed_characters(counts: Mapping[str, int]) -> int:
    """How many characters need an id: all but rare ones, which can be spelt in bytes."""
    often = sum(1 for n in counts.values() if n >= _RARE)
    return min(_covering(counts, _COVERAGE), max(often, _covering(counts, _LEAST_COVERAGE)))


def choose_coverage(counts: Mapping[str, int], size: int) -> float:
    """The share of a text that the characters of a vocabulary of this size should cover.

    Where those that cover 99.95 % would take more than half of the ids, they get half, and the
    other half is left to longer pieces; characters that are needed are never given up.
    """
    n_usual = _covering(counts, _COVERAGE)
    n = max(needed_characters(counts), (size - _ALWAYS_THERE) // 2)
    if n >= n_usual:
        return _COVERAGE
    often_first = sorted(counts.values(), reverse=True)
    share = (sum(often_first[:n]) - 0.5) / sum(often_first)
    return max(_LEAST_COVERAGE, share)


def _covering(counts: Mapping[str, int], share: float) -> int:
    """How many characters, the most frequent first, make up this share of a text."""
    wanted = share * sum(counts.values())
    often_first = sorted(counts.values(), reverse=True)
    return sum(1 for n in accumulate(often_first, initial=0) if n < wanted)


def _carried(pairs: float) -> float:
    """The size that so many pairs can carry, of languages written with an alphabet."""
    if pairs >= _ANCHORS[-1][0]:
        return float(_ANCHORS[-1][1])
    lines = list(pairwise(_ANCHORS))
    (pairs_a, size_a), (pairs_b, size_b) = next(line for line in lines if pairs <= line[1][0])
    share = math.log(pairs / pairs_a) / math.log(pairs_b / pairs_a)
    return float(size_a * (size_b / size_a) ** share)
