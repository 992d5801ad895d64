"""What became of labelled examples that were read, and what a user should know of them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from regard.counting import counted, noun
from regard.data import Classified, Tagged

_MOST_NAMED = 12  # labels that are shown with their counts

Examples = Sequence[Classified | Tagged]


@dataclass(frozen=True)
class LabelAccount:
    """How many examples were read, and how often which label."""

    n_read: int
    n_kept: int
    n_held_out: int
    counts: Counter[str]

    def line(self) -> str:
        """All of it in one line."""
        common = [f"{name} {n:,}" for name, n in self.counts.most_common(_MOST_NAMED)]
        more = ", ..." if len(self.counts) > _MOST_NAMED else ""
        text = f"{counted(self.n_read, 'example')} read, {self.n_kept:,} kept"
        if self.n_read > self.n_kept:
            text += f"; dropped: {self.n_read - self.n_kept:,} duplicate"
        labels = f"{counted(len(self.counts), 'label')}: {', '.join(common)}{more}"
        return f"{text}; {self.n_held_out:,} to validate on; {labels}"

    def rows(self) -> list[tuple[str, int, str, str]]:
        """Only what is equal to another example is dropped, and that needs no example."""
        return []


@dataclass(frozen=True)
class Split:
    """Examples to learn from and to validate on, which are kept apart from them or named."""

    learned: Examples
    held: Examples
    is_named: bool

    def notes(self) -> list[str]:
        """What a user should know of where they come from."""
        if not self.held:
            return [
                "no validation files were named, and there are too few examples to hold some out: "
                "the weights of the end will be kept"
            ]
        if not self.is_named:
            return [
                f"no validation files were named: {counted(len(self.held), 'example')} "
                f"{noun(len(self.held), 'is', 'are')} held out"
            ]
        known = {one.texts for one in self.learned}
        n = sum(one.texts in known for one in self.held)
        if not n:
            return []
        return [
            f"{n:,} of {len(self.held):,} validation texts ({n / len(self.held):.1%}) are also in "
            "the training data: validation will look better than it is"
        ]


def notes_on(counts: Counter[str], n_cut: int, context: int, init: str | None) -> list[str]:
    """What a user should know of the labels, of long texts, and of what is begun from."""
    notes = []
    if init is None:
        notes.append("no --init was given: the encoder begins from nothing")
    if rare := sorted(label for label, n in counts.items() if n == 1):
        shown = ", ".join(map(repr, rare[:5])) + (", ..." if len(rare) > 5 else "")
        have = noun(len(rare), "has", "have")
        notes.append(f"{shown} {have} one example only")
    if n_cut:
        texts = f"{counted(n_cut, 'text')} {noun(n_cut, 'is', 'are')}"
        notes.append(f"{texts} longer than the {counted(context, 'token')} the model sees")
    return notes
