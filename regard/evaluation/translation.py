"""BLEU and chrF by sacrebleu, with the signatures that make the numbers comparable."""

from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from regard.errors import DataError


@dataclass(frozen=True)
class Quality:
    """How close outputs come to their references."""

    bleu: float
    chrf: float
    exact: float  # share of outputs equal to the reference
    signature: str


def judge(
    outputs: Sequence[str], references: Sequence[str], *, tokenize: str | None = None
) -> Quality:
    """Measure outputs against one reference each.

    ``tokenize`` is sacrebleu's: "13a" by default, "zh" when the references are Chinese, "none" for
    text that is tokenised already.
    """
    if len(outputs) != len(references):
        raise DataError(
            f"there are {len(outputs)} outputs and {len(references)} references: "
            "each output needs its own reference"
        )
    if not outputs:
        raise DataError("there is nothing to measure: no outputs were given")
    tokenize = tokenize or ("zh" if _is_mostly_chinese(references) else "13a")
    # Without force, sacrebleu warns at every call of text that looks tokenised.
    bleu = BLEU(tokenize=tokenize, force=True)
    score = bleu.corpus_score(list(outputs), [list(references)])
    chrf = CHRF().corpus_score(list(outputs), [list(references)])
    same = sum(out == ref for out, ref in zip(outputs, references, strict=True))
    return Quality(score.score, chrf.score, same / len(outputs), str(bleu.get_signature()))


def _is_mostly_chinese(lines: Sequence[str]) -> bool:
    letters = [char for line in lines[:200] for char in line if char.isalpha()]
    chinese = sum("\u4e00" <= char <= "\u9fff" for char in letters)
    return bool(letters) and chinese > len(letters) / 2
