"""What decoding needs of a model, and nothing more: every search here serves every model."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from regard.shapes import Float, Int, Source, Tensor

State = TypeVar("State")


@runtime_checkable
class Step(Protocol[State]):
    """A model that writes one token at a time, for many rows at once.

    A state is a value: ``step`` gives a new one and leaves the old one usable. Rows are cheap to
    take and to drop: searches do both at every step.
    """

    def start(self, source: Source) -> State:
        """Read the source; nothing is written yet."""
        ...

    def step(self, state: State, tokens: Int[Tensor, "R"]) -> tuple[Float[Tensor, "R V"], State]:
        """Take one more token a row, and give the logits of the next.

        Log-probabilities up to a constant a row: the search normalises. It may write on them.
        """
        ...

    def reorder(self, state: State, rows: Int[Tensor, "N"]) -> State:
        """Take these rows, in this order; a row may be taken twice or not at all."""
        ...


class Complete(NamedTuple):
    """An output without the token that ends it, and what it is ranked by."""

    tokens: tuple[int, ...]
    log_probability: float
    score: float


Ended = list[tuple[int, list[Complete]]]  # sources whose search is over, and their best outputs


@dataclass(frozen=True)
class BeamQuestion:
    """What a beam search is asked, in numbers; lengths count the token that ends an output."""

    width: int
    n_best: int
    least: int  # tokens of an output
    no_repeat: int  # no n-gram of this many tokens twice in an output; 0: as it comes
    longest: Int[np.ndarray, "B"]  # tokens of the outputs
    prefixes: Int[np.ndarray, "B P"]  # how they must begin; padding where they are free
    penalties: Float[np.ndarray, "L"]  # what a log-probability is divided by, at each length
    padding: int
    begin: int  # the token before an output, and the one after it
    end: int

    @property
    def most(self) -> int:
        """Tokens of the longest output."""
        return len(self.penalties) - 1


@runtime_checkable
class SearchesItself(Protocol):
    """A model that runs a beam search by itself: the same outputs as step by step, far sooner."""

    def beams(self, source: Source, asked: BeamQuestion) -> Iterator[Ended] | None:
        """Sources whose search has just ended, now and then none; ``None``: go step by step."""
        ...
