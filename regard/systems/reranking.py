"""The drawn answer that tells most: candidates ranked by mutual information with what was said."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from regard.decoding import Sampling, Search
from regard.errors import UsageError
from regard.systems.results import Scored
from regard.systems.translation import Translation, Translator

DRAWN = Sampling(temperature=0.7, top_p=0.9)
_NO_REPEAT = 3  # tokens: a candidate in which so many come twice is the last choice


@dataclass(frozen=True)
class Reranking:
    """Of ``n`` drawn answers the one with the most of ``log p(answer | said) - λ log p(answer)``.

    What fits everything is as probable when nothing was said: ``log p(answer)`` is the model's
    own, after a source without a word (MMI-antiLM of Li et al. 2016). Both count by length to the
    power ``alpha`` of the search.
    """

    n: int = 20
    weight: float = 0.95  # λ, chosen on validation data: docs/dialogue.md

    def __post_init__(self) -> None:
        if self.n < 2 or not 0 <= self.weight <= 1:
            raise UsageError(
                f"choosing among candidates = {self.n} with information = {self.weight:g} is not "
                "possible: give 2 candidates or more, and an information from 0 to 1"
            )

    def best(
        self, translator: Translator, sources: Sequence[str], search: Search, *, first: int = 0
    ) -> Iterator[Translation]:
        """The best answer to each; what is drawn depends on its number, from ``first`` on."""
        drawing = replace(search, width=1, n_best=self.n, sampling=search.sampling or DRAWN)
        found = translator.translate_each(sources, drawing, first=first)
        for source, answers in zip(sources, found, strict=True):
            different = list({one.tokens: one for one in answers}.values())
            given = translator.score_translations([(source, one.tokens) for one in different])
            alone = translator.score_translations([("", one.tokens) for one in different])
            worths = [
                (not _repeats(one.tokens), self.worth(p, q, search.alpha))
                for one, p, q in zip(different, given, alone, strict=True)
            ]
            yield different[max(range(len(different)), key=worths.__getitem__)]

    def worth(self, given: Scored, alone: Scored, alpha: float = 1.0) -> float:
        """What an answer is ranked by, scored after what was said, and after nothing."""
        told = given.log_probability - self.weight * alone.log_probability
        return told / math.pow(len(given.tokens), alpha)


def _repeats(tokens: Sequence[int]) -> bool:
    parts = [tuple(tokens[i : i + _NO_REPEAT]) for i in range(len(tokens) - _NO_REPEAT + 1)]
    return len(set(parts)) < len(parts)
