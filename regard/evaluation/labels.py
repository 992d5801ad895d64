"""How good labels are: accuracy, precision, recall and F1 of each, and who is taken for whom.

Spans of tagged words are counted as conlleval does (Tjong Kim Sang and Buchholz 2000). Tags say
"B-PER" where a span begins, "I-PER" where it goes on, "O" outside; "E-" and "S-", where a span ends
or stands alone, are understood too. A span that goes on without having begun, or as another type,
begins there. It is found if its type, its beginning and its end are right.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from regard.errors import SizeError

OUTSIDE = "O"
_TAG = re.compile(r"([BIES])-(.+)", re.DOTALL)


@dataclass(frozen=True)
class OfLabel:
    """How well one label (or one type of span) is found."""

    label: str
    n_gold: int
    n_given: int
    n_right: int

    @property
    def precision(self) -> float:
        """Of those that were given, how many are right; 0 if none was given."""
        return self.n_right / self.n_given if self.n_given else 0.0

    @property
    def recall(self) -> float:
        """Of those that there are, how many were found; 0 if there are none."""
        return self.n_right / self.n_gold if self.n_gold else 0.0

    @property
    def f1(self) -> float:
        """``2 P R / (P + R)``, the harmonic mean."""
        both = self.n_gold + self.n_given
        return 2 * self.n_right / both if both else 0.0


@dataclass(frozen=True)
class LabelQuality:
    """How good the labels of held-out examples are."""

    accuracy: float
    macro_f1: float  # mean of the labels' F1, over those that occur
    span_f1: float | None = None  # of tags such as B-PER and I-PER: of whole spans

    @property
    def f1(self) -> float:
        """Of spans where there are some, else the mean over labels."""
        return self.macro_f1 if self.span_f1 is None else self.span_f1

    @property
    def curves(self) -> dict[str, float]:
        """What is worth a curve over a run, by the names people know."""
        return {"accuracy": self.accuracy, "F1": self.f1}

    @property
    def summary(self) -> str:
        """The numbers in a line."""
        text = f"accuracy {self.accuracy:.2%}, macro F1 {100 * self.macro_f1:.2f}"
        return text if self.span_f1 is None else f"{text}, span F1 {100 * self.span_f1:.2f}"


@dataclass(frozen=True)
class TreeQuality(LabelQuality):
    """How good dependency trees are: ``accuracy`` is that of the relations."""

    uas: float = 0.0  # share of words with the right governor
    las: float = 0.0  # and with the right relation to it

    @property
    def curves(self) -> dict[str, float]:
        """What is worth a curve over a run, by the names people know."""
        return {"UAS": self.uas, "LAS": self.las}

    @property
    def summary(self) -> str:
        """The numbers in a line."""
        return f"UAS {100 * self.uas:.2f}, LAS {100 * self.las:.2f}"


def universal(relation: str) -> str:
    """A relation without its subtype, as shared tasks compare them: ``nsubj`` of ``nsubj:pass``."""
    return relation.partition(":")[0]


def check_labels(given: Sequence[object], gold: Sequence[object]) -> None:
    """Refuse what cannot be compared one by one."""
    if len(given) != len(gold) or not gold:
        raise SizeError(
            f"{len(given)} labels cannot be compared with {len(gold)}: give one for each, and some"
        )


def accuracy(given: Sequence[str], gold: Sequence[str]) -> float:
    """The share of labels that are right."""
    check_labels(given, gold)
    return sum(a == b for a, b in zip(given, gold, strict=True)) / len(gold)


def accuracy_among(given: Sequence[Sequence[str]], gold: Sequence[str]) -> float:
    """The share of examples whose right label is among those given for it."""
    check_labels(given, gold)
    return sum(b in a for a, b in zip(given, gold, strict=True)) / len(gold)


def by_label(given: Sequence[str], gold: Sequence[str]) -> list[OfLabel]:
    """How well each label that was given or should have been is found, in their order."""
    check_labels(given, gold)
    right = Counter(a for a, b in zip(given, gold, strict=True) if a == b)
    return counted(Counter(given), Counter(gold), right)


def counted(given: Counter[str], gold: Counter[str], right: Counter[str]) -> list[OfLabel]:
    """Each label from the counts: how often it was given, should have been, and was right."""
    return [OfLabel(one, gold[one], given[one], right[one]) for one in sorted({*gold, *given})]


def macro_f1(found: Sequence[OfLabel]) -> float:
    """The mean of the labels' F1: a rare label counts as much as a common one."""
    return sum(one.f1 for one in found) / len(found) if found else 0.0


def micro_f1(found: Sequence[OfLabel]) -> float:
    """F1 of all together."""
    sums = (sum(getattr(one, key) for one in found) for key in ("n_gold", "n_given", "n_right"))
    return OfLabel("", *sums).f1


def confusion(given: Sequence[str], gold: Sequence[str], labels: Sequence[str]) -> list[list[int]]:
    """How often each label (a row) was taken for each (a column)."""
    check_labels(given, gold)
    counts = Counter(zip(gold, given, strict=True))
    return [[counts[row, column] for column in labels] for row in labels]


@dataclass(frozen=True)
class Span:
    """Words ``start`` to ``end``, which is not part of it, are of a type."""

    type: str
    start: int
    end: int


def tells_spans(tags: Iterable[str]) -> bool:
    """Whether these are tags of spans: all "O" or "B-...", "I-...", and some are not "O"."""
    inside = set(tags) - {OUTSIDE}
    return bool(inside) and all(_TAG.fullmatch(tag) for tag in inside)


def spans(tags: Sequence[str]) -> list[Span]:
    """The spans of one sentence, in order."""
    found: list[Span] = []
    begun: tuple[str, int] | None = None  # its type, and where
    for place, tag in enumerate([*tags, OUTSIDE]):
        part = _TAG.fullmatch(tag)
        letter, of_type = (part[1], part[2]) if part else (OUTSIDE, "")
        if begun is not None and (letter in "OBS" or of_type != begun[0]):
            found.append(Span(begun[0], begun[1], place))
            begun = None
        if letter != OUTSIDE and begun is None:
            begun = of_type, place
        if letter in "ES" and begun is not None:
            found.append(Span(begun[0], begun[1], place + 1))
            begun = None
    return found


def by_type(given: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> list[OfLabel]:
    """How well the spans of each type are found, over sentences."""
    counters: list[Counter[str]] = [Counter(), Counter(), Counter()]
    for one, other in zip(given, gold, strict=True):
        sides = set(spans(one)), set(spans(other))
        for counter, found in zip(counters, (*sides, sides[0] & sides[1]), strict=True):
            counter.update(span.type for span in found)
    return counted(*counters)
