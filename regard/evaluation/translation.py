"""BLEU and chrF by sacrebleu, with the signatures that make the numbers comparable."""

from collections.abc import Sequence
from dataclasses import dataclass

from regard.evaluation.measures import (
    build_measure,
    check_lengths,
    choose_tokenization,
    share_equal,
)


@dataclass(frozen=True)
class Quality:
    """How close outputs come to their references."""

    bleu: float
    chrf: float
    exact: float  # share of outputs equal to the reference
    signature: str  # of BLEU
    ter: float | None = None  # translation edit rate; less is better


def judge(
    outputs: Sequence[str],
    references: Sequence[str],
    *,
    tokenize: str | None = None,
    with_ter: bool = False,
) -> Quality:
    """Measure outputs against one reference each.

    ``tokenize`` is sacrebleu's: "13a" by default, "zh" when the references are Chinese, "none" for
    text that is tokenised already. TER searches for moved phrases, which takes long for long
    sentences: it is measured only ``with_ter``.
    """
    check_lengths(outputs, references)
    tokenize = tokenize or choose_tokenization(references)
    scores = {}
    measures = ("bleu", "chrf", "ter") if with_ter else ("bleu", "chrf")
    built = {name: build_measure(name, tokenize) for name in measures}
    for name, measure in built.items():
        scores[name] = measure.corpus_score(list(outputs), [list(references)]).score
    return Quality(
        scores["bleu"],
        scores["chrf"],
        share_equal(outputs, references),
        str(built["bleu"].get_signature()),
        scores.get("ter"),
    )
