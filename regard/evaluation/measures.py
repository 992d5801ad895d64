"""Measures of outputs: BLEU, chrF and TER by sacrebleu, exact match, diversity, by length."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
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


@dataclass(frozen=True)
class Quality:
    """How close outputs come to their references."""

    bleu: float
    chrf: float
    exact: float  # share of outputs equal to the reference
    signature: str  # of BLEU
    ter: float | None = None  # translation edit rate; less is better

    @property
    def curves(self) -> dict[str, float]:
        """What is worth a curve over a run, by the names people know."""
        return {"BLEU": self.bleu, "chrF": self.chrf}

    @property
    def summary(self) -> str:
        """The numbers in a line."""
        return f"BLEU {self.bleu:.2f}, chrF {self.chrf:.2f}"


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


@dataclass(frozen=True)
class OfLength:
    """A measure over the sentences whose source has ``shortest`` to ``longest`` words."""

    shortest: int
    longest: int
    n_sentences: int
    score: float


def measure_by_length(
    outputs: Sequence[str],
    references: Sequence[str],
    n_words: Sequence[int],
    *,
    measure: str = "bleu",
    n_parts: int = 4,
    tokenize: str | None = None,
) -> list[OfLength]:
    """Measure parts of about equally many sentences, from short sources to long ones.

    ``n_words`` are the lengths of the sources. Sentences of one length are never parted, so there
    may be fewer parts than asked for.
    """
    check_lengths(outputs, references)
    if len(n_words) != len(outputs):
        raise UsageError(f"{len(outputs)} outputs need as many lengths, not {len(n_words)}")
    metric = build_measure(measure, tokenize or choose_tokenization(references))
    found = []
    for part in _parts(n_words, n_parts):
        score = metric.corpus_score([outputs[i] for i in part], [[references[i] for i in part]])
        lengths = [n_words[i] for i in part]
        found.append(OfLength(min(lengths), max(lengths), len(part), score.score))
    return found


def _parts(n_words: Sequence[int], n_parts: int) -> list[list[int]]:
    """Places by length, cut where the length changes, nearest to equal parts."""
    if n_parts < 1:
        raise UsageError(f"sentences cannot be parted into {n_parts}: give 1 or more")
    order = sorted(range(len(n_words)), key=lambda i: n_words[i])
    changes = [0] + [i for i in range(1, len(order)) if n_words[order[i]] != n_words[order[i - 1]]]
    wanted = [len(order) * k / n_parts for k in range(1, n_parts)]
    cuts = sorted({min(changes, key=lambda at: abs(at - one)) for one in wanted} | {0, len(order)})
    return [order[start:end] for start, end in pairwise(cuts)]


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
