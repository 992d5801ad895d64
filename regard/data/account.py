"""What became of the pairs that were read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from regard.counting import counted, noun

REASONS = {
    "empty": "one side is empty",
    "too long": "more tokens than max_length on one side",
    "ratio": "one side longer than max_ratio times the other",
    "duplicate": "the same pair was seen before",
}
"""Why a pair is dropped."""


@dataclass(frozen=True)
class Account:
    """How many pairs were read, kept, and dropped for which reason, with a few examples."""

    n_read: int
    n_kept: int
    dropped: Mapping[str, int] = field(default_factory=dict)
    examples: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    n_held_out: int = 0
    n_overlap: int = 0

    def line(self) -> str:
        """All of it in one line."""
        text = f"{counted(self.n_read, 'pair')} read, {self.n_kept:,} kept"
        if parts := [f"{n:,} {reason}" for reason, n in self.dropped.items() if n]:
            text += f"; dropped: {', '.join(parts)}"
        if self.n_overlap:
            are = noun(self.n_overlap, "is", "are")
            text += (
                f"; {counted(self.n_overlap, 'validation pair')} {are} also in the training data"
            )
        return text

    def rows(self) -> list[tuple[str, int, str, str]]:
        """One row a reason: its name, how many, what it means, and an example."""
        return [
            (reason, n, REASONS[reason], " ||| ".join(self.examples.get(reason, ((),))[0]))
            for reason, n in self.dropped.items()
            if n
        ]

    def warning(self) -> str | None:
        """A sentence about validation pairs inside the training data, if there are any."""
        if not self.n_overlap:
            return None
        share = self.n_overlap / max(1, self.n_held_out)
        return (
            f"{self.n_overlap:,} of {self.n_held_out:,} validation pairs ({share:.1%}) are also in "
            "the training data: validation will look better than it is. Take them out of one."
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values for a file."""
        return {
            "n_read": self.n_read,
            "n_kept": self.n_kept,
            "dropped": dict(self.dropped),
            "examples": {reason: [list(p) for p in ps] for reason, ps in self.examples.items()},
            "n_held_out": self.n_held_out,
            "n_overlap": self.n_overlap,
        }

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> "Account":
        """What ``to_json`` gave."""
        examples = {r: tuple((s, t) for s, t in ps) for r, ps in saved["examples"].items()}
        return cls(**{**saved, "examples": examples})
