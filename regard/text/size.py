"""How large a vocabulary the data can carry."""

import math
from itertools import pairwise

# (pairs, vocabulary): every token should be seen often enough to be learned. Sennrich and Zhang
# (2019) found about 2,000 merges best for 5,000 to 10,000 sentences and larger vocabularies harmful
# there; 8,000 to 10,000 are usual for 30,000 pairs (Multi30k) up to 200,000 (IWSLT); 32,000 to
# 37,000 for millions (Vaswani et al. 2017). Between these points a straight line is drawn on
# logarithmic axes, as vocabularies grow with a power of the text (Heaps' law).
_ANCHORS = ((2_000, 2_000), (30_000, 8_000), (2_000_000, 32_000))
_WORDS_PER_PAIR = 25.0
_SMALLEST = 400  # four special ids, 256 bytes, and some letters


def choose_vocabulary_size(
    n_pairs: int, words_per_pair: float = _WORDS_PER_PAIR, n_characters: int = 0
) -> int:
    """A sound joint vocabulary for so many pairs; train with ``is_upper_limit=True``.

    Args:
        n_pairs: pairs of the training data.
        words_per_pair: words of both sides together; longer sentences carry more tokens.
        n_characters: different characters in the data. Each needs an id, so thousands of Chinese
            characters raise the answer; those too rare to learn fall back to bytes.
    """
    pairs = max(1.0, n_pairs * words_per_pair / _WORDS_PER_PAIR)
    if pairs <= _ANCHORS[0][0]:
        size = pairs * _ANCHORS[0][1] / _ANCHORS[0][0]
    else:
        size = _ANCHORS[-1][1]
        for (pairs_a, size_a), (pairs_b, size_b) in pairwise(_ANCHORS):
            if pairs_a < pairs <= pairs_b:
                share = math.log(pairs / pairs_a) / math.log(pairs_b / pairs_a)
                size = size_a * (size_b / size_a) ** share
                break
    floor = max(_SMALLEST, 260 + round(1.25 * n_characters))
    size = max(size, floor)
    step = 100 if size < 10_000 else 1_000
    return math.ceil(size / step - 0.5) * step if size > floor else math.ceil(size / step) * step
