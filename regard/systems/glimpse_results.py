"""What a model of glimpses tells of a picture, and how good it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from regard.counting import counted
from regard.systems.evaluation import ScoreTable, TabledScores
from regard.systems.results import Result


@dataclass(frozen=True, repr=False)
class Glimpse(Result):
    """One look: its middle and the sides of its patches in pixels, and what was believed then."""

    shows: ClassVar[tuple[str, ...]] = ("x", "y", "beliefs")

    x: float
    y: float
    sides: tuple[int, ...]
    beliefs: tuple[tuple[str, float], ...]  # labels and probabilities, the likeliest first


@dataclass(frozen=True, repr=False)
class PictureLabel(Result):
    """What a picture shows, how probable that is, and the glimpses that told it."""

    shows: ClassVar[tuple[str, ...]] = ("label", "probability")

    label: str
    probability: float
    others: tuple["PictureLabel", ...] = ()  # the next likeliest, where several were asked for
    glimpses: tuple[Glimpse, ...] = ()

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class PlacesMeasured:
    """How good the network is with glimpses at certain places."""

    places: str
    error: float  # share of pictures whose label is wrong
    inside: float | None = None  # share of glimpses from the third on that fall on the object


@dataclass(frozen=True, repr=False)
class GlimpseEvaluation(TabledScores):
    """How often labels are wrong, and how often with other places than those it has learned."""

    model: str
    images: str
    n_pictures: int
    n_glimpses: int
    measured: tuple[PlacesMeasured, ...]  # the first is the model as it is

    @property
    def scores(self) -> Mapping[str, float]:
        """Error and accuracy of the model, and the error of each control by its name."""
        own, *others = self.measured
        found = {"error": own.error, "accuracy": 1 - own.error}
        if own.inside is not None:
            found["inside"] = own.inside
        names = (f"error_{one.places.replace(' ', '_')}" for one in others)
        return found | dict(zip(names, (one.error for one in others), strict=True))

    def table(self) -> ScoreTable:
        """A row for the places it has learned, and for each control."""
        has_boxes = self.measured[0].inside is not None
        return ScoreTable(
            f"{self.model} on {self.images}: {counted(self.n_pictures, 'picture')}, "
            f"{counted(self.n_glimpses, 'glimpse')} each",
            ("places", "error", *(["on the object"] if has_boxes else [])),
            [
                (
                    one.places,
                    f"{100 * one.error:.2f} %",
                    *([] if one.inside is None else [f"{100 * one.inside:.1f} %"]),
                )
                for one in self.measured
            ],
        )
