"""What a search can be told, checked when it is said."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from regard.decoding.hypothesis import Hypothesis
from regard.errors import UsageError
from regard.special import EOS

PENALTIES = ("wu", "power")
WIDEST = 1000  # a beam: wider ones find nothing better, and fill the memory


@dataclass(frozen=True)
class Limits:
    """How long an output may become: ``factor · source length + extra``, never above ``most``."""

    factor: float = 2.0
    extra: int = 10
    most: int = 1024
    least: int = 0

    def __post_init__(self) -> None:
        if self.least > self.most:
            raise UsageError(
                f"outputs of least = {self.least} and most = {self.most} tokens are not possible: "
                f"make least {self.most} or less, or most {self.least} or more"
            )

    def longest(self, n_source: int) -> int:
        """The most tokens, <EOS> included, for a source of this many tokens."""
        return max(1, min(self.most, int(self.factor * n_source) + self.extra))


@dataclass(frozen=True)
class Sampling:
    """Draw the next token by chance instead of searching for the best output.

    Probabilities are those of ``logits / temperature``, among the ``top_k`` most probable tokens
    (0: all) and the fewest that together reach ``top_p`` (Holtzman et al. 2020).
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 1

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise UsageError(
                f"a temperature of {self.temperature:g} is not possible: choose a number above 0, "
                "or search with a beam of 1 for the most probable token"
            )
        if self.top_k < 0 or not 0 < self.top_p <= 1:
            raise UsageError(
                f"sampling from top_k = {self.top_k} and top_p = {self.top_p:g} is not possible: "
                "top_k is 0 (all) or more, top_p is above 0 and at most 1"
            )


@dataclass(frozen=True)
class Search:
    """Every choice of a search.

    Complete hypotheses are ranked by ``log P / penalty(length)``, which is
    ``((5 + length) / 6)^alpha`` ("wu", Wu et al. 2016) or ``length^alpha`` ("power"); a length
    counts <EOS>. With ``sampling``, the ``n_best`` outputs are drawn by chance instead.
    """

    width: int = 5
    n_best: int = 1
    alpha: float = 1.0
    penalty: str = "wu"
    limits: Limits = field(default_factory=Limits)
    no_repeat: int = 0  # no n-gram of this many tokens twice in an output; 0: as it comes
    sampling: Sampling | None = None

    def __post_init__(self) -> None:
        if self.width < 1 or self.n_best < 1 or not self.alpha >= 0:
            raise UsageError(
                f"a search of width = {self.width}, n_best = {self.n_best} and alpha = "
                f"{self.alpha:g} is not possible: width and n_best are 1 or more, alpha is 0 or "
                "more"
            )
        if self.width > WIDEST:
            raise UsageError(
                f"a beam of {self.width:,} is too wide: choose a width of {WIDEST:,} or less"
            )
        if self.n_best > self.width and self.sampling is None:
            raise UsageError(
                f"a beam of {self.width} cannot give the {self.n_best} best outputs: make the beam "
                f"{self.n_best} or wider"
            )
        if self.penalty not in PENALTIES:
            raise UsageError(
                f"there is no length penalty {self.penalty!r}: choose {' or '.join(PENALTIES)}"
            )
        if self.no_repeat < 0:
            raise UsageError(
                f"no_repeat = {self.no_repeat} is not possible: give the size of the n-grams that "
                "must not come twice, or 0"
            )

    def penalised(self, length: int) -> float:
        """What the log-probability of a hypothesis of this length is divided by."""
        base = (5.0 + length) / 6.0 if self.penalty == "wu" else float(length)
        return float(base**self.alpha)

    def hypothesis(self, written: Sequence[int], total: float) -> Hypothesis:
        """What was written between <BOS> and the first <EOS>, with its score."""
        tokens = tuple(written[1 : written.index(EOS)])
        return Hypothesis(tokens, total, total / self.penalised(len(tokens) + 1))
