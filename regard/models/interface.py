"""What decoding needs of a model, and nothing more: every search here serves every model."""

from collections.abc import Iterator
from typing import Protocol, TypeVar, runtime_checkable

from regard.engine import BeamQuestion, Ended
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


@runtime_checkable
class SearchesItself(Protocol):
    """A model that runs a beam search by itself: the same outputs as step by step, far sooner."""

    def beams(self, source: Source, asked: BeamQuestion) -> Iterator[Ended] | None:
        """Sources whose search has just ended, now and then none; ``None``: go step by step."""
        ...
