"""Measures of captions against several references: BLEU-1 to 4, ROUGE-L and CIDEr-D.

The numbers are those of COCO's tools (``pycocoevalcap``), times 100: counts are summed over all
pictures before BLEU divides them, its length is compared with that of the closest reference, and
CIDEr-D weighs an n-gram by how few pictures have it in their references.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from regard.counting import counted
from regard.errors import DataError
from regard.evaluation.measures import USUAL, build_measure

Words = Sequence[str]
Gram = tuple[str, ...]
LONGEST_GRAM = 4
# COCO's tools add these so that nothing is divided by 0: what has no match scores nearly 0.
_MATCHED, _COUNTED = 1e-15, 1e-9
_BETA = 1.2  # of ROUGE-L: recall counts a little more than precision
_SIGMA = 6.0  # of CIDEr-D: how many words of difference in length are forgiven


@dataclass(frozen=True)
class CaptionQuality:
    """How near captions come to what people wrote of the same pictures, from 0 to 100 and above."""

    bleu: tuple[float, ...]  # BLEU-1 to 4 with brevity penalty
    unpenalised: tuple[float, ...]  # the same without
    rouge_l: float
    cider_d: float  # 100 is about how near people come to each other on COCO; at most 1,000
    n_words: float  # of a caption, on average

    @property
    def scores(self) -> Mapping[str, float]:
        """Every number, by name."""
        found = {f"bleu_{n}": score for n, score in enumerate(self.bleu, 1)}
        found |= {f"bleu_{n}_unpenalised": score for n, score in enumerate(self.unpenalised, 1)}
        return found | {"rouge_l": self.rouge_l, "cider_d": self.cider_d, "n_words": self.n_words}


def judge_captions(
    captions: Sequence[Words], references: Sequence[Sequence[Words]]
) -> CaptionQuality:
    """Measure captions, in words, against one or more references each."""
    if len(captions) != len(references):
        raise DataError(
            f"{counted(len(captions), 'caption')} cannot be measured against the references of "
            f"{counted(len(references), 'picture')}: each picture needs its own caption"
        )
    if not captions or not all(references):
        raise DataError("there is nothing to measure: each picture needs one or more references")
    penalised, unpenalised = bleu(captions, references)
    return CaptionQuality(
        penalised,
        unpenalised,
        rouge_l(captions, references),
        cider_d(captions, references),
        fmean(map(len, captions)),
    )


def bleu(
    captions: Sequence[Words], references: Sequence[Sequence[Words]]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """BLEU-1 to 4 (Papineni et al. 2002), with brevity penalty and without.

    ``BLEU-n = BP (p₁ ⋯ pₙ)^(1/n)``, where pₖ is the share of k-grams that a reference has too,
    each counted no more often than in the reference that has most of it.
    """
    matched, made = [0] * LONGEST_GRAM, [0] * LONGEST_GRAM
    n_words = n_closest = 0
    for caption, others in zip(captions, references, strict=True):
        most: Counter[Gram] = Counter()
        for other in others:
            most |= _grams(other)
        for gram, n in _grams(caption).items():
            made[len(gram) - 1] += n
            matched[len(gram) - 1] += min(n, most[gram])
        n_words += len(caption)
        n_closest += min((abs(len(one) - len(caption)), len(one)) for one in others)[1]
    product, scores = 1.0, []
    for n in range(LONGEST_GRAM):
        product *= (matched[n] + _MATCHED) / (made[n] + _COUNTED)
        scores.append(100 * product ** (1 / (n + 1)))
    ratio = (n_words + _MATCHED) / (n_closest + _COUNTED)
    # So short that the exponent has no number: the penalty leaves nothing.
    penalty = math.exp(max(1 - 1 / ratio, -700.0)) if ratio < 1 else 1.0
    return tuple(penalty * score for score in scores), tuple(scores)


def chrf(captions: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """chrF (Popović 2015) by sacrebleu: n-grams of characters, the best of all references."""
    most = max(map(len, references))
    sides = [[(*others, *[others[0]] * most)[n] for others in references] for n in range(most)]
    score: float = build_measure("chrf", USUAL).corpus_score(list(captions), sides).score
    return score


def rouge_l(captions: Sequence[Words], references: Sequence[Sequence[Words]]) -> float:
    """ROUGE-L (Lin 2004): what order and words a caption shares with a reference, on average.

    ``F = (1 + β²) P R / (R + β² P)`` with β = 1.2, where P and R are the length of the longest
    common subsequence over that of the caption and of the reference, each the best of all.
    """

    def of_one(caption: Words, others: Sequence[Words]) -> float:
        shared = [_common(caption, other) for other in others]
        precision = max(shared) / max(len(caption), 1)
        recall = max(n / max(len(one), 1) for n, one in zip(shared, others, strict=True))
        if not precision:
            return 0.0
        return (1 + _BETA**2) * precision * recall / (recall + _BETA**2 * precision)

    return 100 * fmean(map(of_one, captions, references))


def _common(one: Words, other: Words) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for word in one:
        before = 0
        for place, own in enumerate(other, 1):
            above = row[place]
            row[place] = before + 1 if word == own else max(above, row[place - 1])
            before = above
    return row[-1]


def cider_d(captions: Sequence[Words], references: Sequence[Sequence[Words]]) -> float:
    """CIDEr-D (Vedantam et al. 2015): cosines of n-grams weighted by how telling they are.

    The weight of an n-gram is how often it stands there times ``log(N / N_g)``, where N_g of all N
    pictures have it in a reference. Repetitions beyond the reference's count for nothing, and
    ``exp(-(l - l')² / 2σ²)`` punishes another length.
    """
    of_references = [[_grams(one) for one in others] for others in references]
    n_pictures = Counter(
        gram for others in of_references for gram in {gram for one in others for gram in one}
    )
    log_all = math.log(len(references))

    def weigh(grams: Counter[Gram]) -> tuple[dict[Gram, float], list[float], int]:
        weights = {
            gram: n * (log_all - math.log(max(1, n_pictures[gram]))) for gram, n in grams.items()
        }
        squares = [0.0] * LONGEST_GRAM
        for gram, weight in weights.items():
            squares[len(gram) - 1] += weight**2
        # As in COCO's tools the length is the number of pairs of words.
        n_pairs = sum(n for gram, n in grams.items() if len(gram) == 2)
        return weights, [math.sqrt(one) for one in squares], n_pairs

    scores = []
    for caption, others in zip(captions, of_references, strict=True):
        mine = weigh(_grams(caption))
        scores.append(fmean(_likeness(mine, weigh(other)) for other in others))
    return 1000 * fmean(scores)


def _likeness(
    mine: tuple[dict[Gram, float], list[float], int],
    other: tuple[dict[Gram, float], list[float], int],
) -> float:
    """The clipped cosine of two captions, averaged over the lengths of n-grams."""
    weights, norms, n_pairs = mine
    of_other, norms_of_other, n_pairs_of_other = other
    shared = [0.0] * LONGEST_GRAM
    for gram, weight in weights.items():
        if gram in of_other:
            shared[len(gram) - 1] += min(weight, of_other[gram]) * of_other[gram]
    forgiven = math.exp(-((n_pairs - n_pairs_of_other) ** 2) / (2 * _SIGMA**2))
    cosines = [
        value / (norm * norm_of_other) if norm and norm_of_other else value
        for value, norm, norm_of_other in zip(shared, norms, norms_of_other, strict=True)
    ]
    return forgiven * fmean(cosines)


def _grams(words: Words) -> Counter[Gram]:
    """All n-grams of one to four words."""
    return Counter(
        tuple(words[start : start + n])
        for n in range(1, LONGEST_GRAM + 1)
        for start in range(len(words) - n + 1)
    )
