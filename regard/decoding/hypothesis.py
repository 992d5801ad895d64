"""What a search gives back, and how hypotheses of different length are compared."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Hypothesis:
    """One way to go on from a source: its tokens (without <EOS>) and how probable they are."""

    tokens: tuple[int, ...]
    log_probability: float
    score: float  # the log-probability after the length penalty: what the search ranks by


@dataclass(frozen=True)
class Limits:
    """How long an output may become: ``factor · source length + extra``, never above ``most``."""

    factor: float = 2.0
    extra: int = 10
    most: int = 1024
    least: int = 0

    def longest(self, n_source: int) -> int:
        """The most tokens, <EOS> included, for a source of this many tokens."""
        return max(1, min(self.most, int(self.factor * n_source) + self.extra))


def length_penalty(length: int, alpha: float) -> float:
    """``((5 + length) / 6)^α`` (Wu et al. 2016); α = 0 compares plain log-probabilities."""
    return float(((5.0 + length) / 6.0) ** alpha)
