"""What using a model gives back: small frozen values that show themselves in a line."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from regard.errors import UsageError, shortened
from regard.inspection.heads import Head

_LONGEST = 80  # characters of a text that are shown


class Result:
    """A frozen dataclass that shows what matters in one line, and is plain data where wanted."""

    shows: ClassVar[tuple[str, ...]] = ()  # the fields of its repr; all where none are named

    def to_dict(self) -> dict[str, Any]:
        """All fields as numbers, strings, lists and dicts."""
        plain: dict[str, Any] = asdict(self)  # type: ignore[call-overload]
        return plain

    def __repr__(self) -> str:
        names = self.shows or tuple(one.name for one in fields(self))  # type: ignore[arg-type]
        shown = ", ".join(f"{name}={_shown(getattr(self, name))}" for name in names)
        return f"{type(self).__name__}({shown})"


def _shown(value: object) -> str:
    if isinstance(value, str):
        return repr(shortened(value, _LONGEST))
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, tuple | list | Mapping) and len(value) > 4:
        return f"<{len(value)}>"
    return repr(value)


@dataclass(frozen=True, repr=False)
class Output(Result):
    """A text that a model wrote, token by token (without <EOS>), and how probable it is."""

    shows: ClassVar[tuple[str, ...]] = ("text", "log_probability")

    text: str
    tokens: tuple[int, ...]
    pieces: tuple[str, ...]
    log_probability: float

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, repr=False)
class Scored(Result):
    """A target, token by token with <EOS>, and the log-probability the model gives to each."""

    shows: ClassVar[tuple[str, ...]] = ("log_probability", "pieces")

    tokens: tuple[int, ...]
    pieces: tuple[str, ...]
    log_probabilities: tuple[float, ...]
    n_left_out: int = 0  # tokens beyond the limit, of source and target

    @property
    def log_probability(self) -> float:
        """``log P(target | source) = Σ log P(yᵢ | y₁ … yᵢ₋₁, source)``."""
        return math.fsum(self.log_probabilities)

    @property
    def per_token(self) -> float:
        """The mean over the tokens."""
        return self.log_probability / len(self.log_probabilities)


@dataclass(frozen=True, repr=False)
class Ablation(Result):
    """What a model makes with all heads as they are, and with some changed, and what they cost.

    ``scored_before`` and ``scored_after`` are of the old output: token by token and <EOS>, how
    probable it was, and how probable it is now.
    """

    shows: ClassVar[tuple[str, ...]] = ("source", "change", "before", "after")

    source: str
    heads: tuple[Head, ...]
    before: Output
    after: Output
    scored_before: Scored
    scored_after: Scored

    @property
    def has_changed(self) -> bool:
        """Whether the model now writes something else."""
        return self.before.tokens != self.after.tokens

    @property
    def changes(self) -> tuple[float, ...]:
        """``Δ log P(yᵢ | y₁ … yᵢ₋₁, source)`` of each token of the old output, and of <EOS>."""
        both = zip(
            self.scored_before.log_probabilities, self.scored_after.log_probabilities, strict=True
        )
        return tuple(after - before for before, after in both)

    @property
    def change(self) -> float:
        """``Δ log P(old output | source)``: below zero, the heads spoke for it."""
        return math.fsum(self.changes)

    def __str__(self) -> str:
        names = ", ".join(head.name for head in self.heads)
        return (
            f"{self.source}\nbefore  {self.before.text}\nafter   {self.after.text}\n"
            f"{self.change:+.3f} nats for the old output, by a change of {names}"
        )


def check_options(given: Mapping[str, Any], known: type, of: str) -> None:
    """Refuse options that are not among the known ones."""
    names = list(known.__annotations__)
    unknown = next((name for name in given if name not in names), None)
    if unknown is not None:
        raise UsageError(f"{of} has no option {unknown}: choose among {', '.join(names)}")
