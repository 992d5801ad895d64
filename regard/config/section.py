"""What every part of a recipe is: frozen values under known keys."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Auto = Literal["auto"]
Share = Annotated[float, Field(ge=0.0, lt=1.0)]
Count = Annotated[int, Field(ge=1, le=10**9)]

# Sizes of a network have bounds that no network comes near: a slip of the pen, or a damaged file,
# is refused before memory is asked for.
Layers = Annotated[int, Field(ge=1, le=1_000)]
Width = Annotated[int, Field(ge=1, le=1 << 16)]
Places = Annotated[int, Field(ge=1, le=1 << 20)]


class Section(BaseModel):
    """A part of a recipe: unknown keys are refused, values never change."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
