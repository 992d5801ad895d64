"""The Recurrent Attention Model: keys of a network that looks at a picture glimpse by glimpse."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from regard.config.network import Network
from regard.config.section import Auto
from regard.counting import counted


class GlimpsesSection(Network):
    """The Recurrent Attention Model: a picture, looked at glimpse by glimpse (Mnih et al. 2014)."""

    systems: ClassVar[Mapping[str, str]] = {"glimpses": "glimpses"}
    measures: ClassVar[tuple[str, ...]] = ("accuracy", "f1")
    compares: ClassVar[str] = "labels"
    is_of_pairs: ClassVar[bool] = False

    kind: Literal["ram"] = "ram"
    tie: Literal["none"] = "none"  # there are no words
    dropout: Annotated[float, Field(ge=0.0, le=0.0)] = 0.0  # it has none
    size: Annotated[int, Field(ge=8, le=1024)] | Auto = "auto"  # pixels each way, as the data have
    # 3, or 1 of grey; as the training data have it.
    colours: Annotated[int, Field(ge=1, le=3)] | Auto = "auto"
    n_glimpses: Annotated[int, Field(ge=1, le=64)] = 6
    patch: Annotated[int, Field(ge=2, le=64)] = 8  # pixels each way of what is seen sharply
    n_scales: Annotated[int, Field(ge=1, le=6)] = 1  # each shows twice as much, as coarsely
    core: Literal["rnn", "lstm"] = "rnn"
    d_hidden: Annotated[int, Field(ge=2, le=1 << 16)] = 256
    deviation: Annotated[float, Field(gt=0.0, le=1.0)] = 0.1  # of places drawn, -1 to 1 being all
    # Of those drawn by one who expects to be right; as any other unless it is said.
    least_deviation: Annotated[float, Field(gt=0.0, le=1.0)] | Auto = "auto"
    # Where it looks: learned, or to compare with as it was first, anywhere, or fixed places.
    locator: Literal["learned", "frozen", "random", "centre", "raster"] = "learned"
    baseline: Literal["learned", "average", "none"] = "learned"  # of REINFORCE
    locator_sees: Literal["state", "glimpse"] = "state"  # the core's alone, or what was seen too
    # The glimpse whose belief it learns by, or all, or as much by what each tells alone.
    feedback: Literal["last", "every", "alone"] = "last"
    # The share of a run until which early glimpses have half of the loss; it falls to none then.
    early_until: Annotated[float, Field(ge=0.0, le=1.0)] = 1.0
    labels: tuple[str, ...] = ()  # found in the training data

    @property
    def width(self) -> int:
        """``d_hidden``."""
        return self.d_hidden

    @property
    def shape(self) -> str:
        """Glimpses and widths, in words."""
        scales = f"{self.n_scales} × " if self.n_scales > 1 else ""
        seen = f"{counted(self.n_glimpses, 'glimpse')} of {scales}{self.patch} × {self.patch}"
        return f"{seen} pixels, {self.core.upper()} of {self.d_hidden}"

    @model_validator(mode="after")
    def _glimpses_fit(self) -> Self:
        if self.colours == 2:
            raise ValueError("colours = 2 are none: choose 3, or 1 for grey")
        if self.size != "auto" and self.patch > self.size:
            raise ValueError(
                f"patch = {self.patch} is more than the picture, size = {self.size}: choose less"
            )
        if self.feedback == "last" and self.early_until != 1:
            raise ValueError(
                f"early_until = {self.early_until} is of the loss of early glimpses, and feedback "
                "= last has none: leave it out, or choose another feedback"
            )
        if len(set(self.labels)) < len(self.labels) or len(self.labels) == 1:
            raise ValueError(
                "labels has to name two or more different labels: leave it out, and they are found "
                "in the training data"
            )
        return self
