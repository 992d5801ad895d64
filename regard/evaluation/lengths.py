"""Quality by the length of the source: does a model fall behind where sentences are long?"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from regard.errors import UsageError
from regard.evaluation.measures import build_measure, check_lengths, choose_tokenization


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
