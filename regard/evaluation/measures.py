"""The measures of translation by sacrebleu, built the same way wherever they are used."""

from collections.abc import Sequence
from typing import Any, Literal, get_args

from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from regard.counting import counted
from regard.errors import DataError, UsageError

Measure = Literal["bleu", "chrf", "ter"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
IS_BETTER_LOW: tuple[Measure, ...] = ("ter",)  # edits: fewer are better

CHINESE, USUAL = "zh", "13a"


class _Chrf(CHRF):
    """chrF whose scores are all of one type.

    sacrebleu mixes float and float32 where a resample has no match at all, and cannot average them.
    """

    def _compute_f_score(self, statistics: Any) -> float:
        return float(super()._compute_f_score(statistics))


class _Ter(TER):
    """TER whose scores are all of one type; sacrebleu mixes them where all references are empty."""

    def _compute_score_from_stats(self, stats: Any) -> Any:
        score = super()._compute_score_from_stats(stats)
        score.score = float(score.score)
        return score


def build_measure(name: str, tokenize: str) -> Metric:
    """One measure; Chinese text has no spaces, so TER counts its characters as words."""
    match name:
        case "bleu":
            # Without force, sacrebleu warns at every call of text that looks tokenised.
            return BLEU(tokenize=tokenize, force=True)
        case "chrf":
            return _Chrf()
        case "ter":
            is_chinese = tokenize == CHINESE
            return _Ter(normalized=is_chinese, asian_support=is_chinese)
    raise UsageError(f"there is no measure {name!r}: choose among {', '.join(MEASURES)}")


def choose_tokenization(references: Sequence[str]) -> str:
    """How BLEU cuts text into words: by character where the references are mostly Chinese."""
    letters = [char for line in references[:200] for char in line if char.isalpha()]
    chinese = sum("\u4e00" <= char <= "\u9fff" for char in letters)
    return CHINESE if letters and chinese > len(letters) / 2 else USUAL


def check_lengths(outputs: Sequence[str], references: Sequence[str]) -> None:
    """Refuse what cannot be measured."""
    if len(outputs) != len(references):
        raise DataError(
            f"{counted(len(outputs), 'output')} cannot be measured against "
            f"{counted(len(references), 'reference')}: each output needs its own reference"
        )
    if not outputs:
        raise DataError("there is nothing to measure: no outputs were given")


def share_equal(outputs: Sequence[str], references: Sequence[str]) -> float:
    """The share of outputs that are their reference, letter by letter."""
    same = sum(out == ref for out, ref in zip(outputs, references, strict=True))
    return same / len(outputs)
