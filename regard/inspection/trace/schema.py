"""What a trace says of itself: the header of its file, and all of it as one JSON document.

Declared once: the file is read with these models, and the JSON Schema that other programs (and the
page's types) rely on is made of them.
"""

from pydantic import BaseModel, ConfigDict, Field

from regard.inspection.trace.picture import Box
from regard.inspection.trace.trace import Provenance, TracedStep
from regard.inspection.trace.ways import Does, Kind
from regard.text.tokens import Sentence

FORMAT = 2  # raised when a trace of today could be misread by Regard of yesterday


class SiteHeader(BaseModel):
    """One place where the model attends."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Kind
    layer: int = Field(description="From 0, of its kind.")
    is_uniform: tuple[bool, ...] = Field(
        description="Of each head, whether it hardly prefers anything."
    )
    sums_to_one: bool = Field(description="Not where a window fades out (Luong's local-p).")


class PictureHeader(BaseModel):
    """A picture as the source: the source's tokens are its cells, row by row."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    grid: tuple[int, int] = Field(description="Rows and columns of cells.")
    gazes: tuple[tuple[float, ...], ...] = Field(
        (),
        description="Of a model that moves over the picture, for each look: x, y and the sides of "
        "what it saw, in pixels.",
    )


class TraceHeader(BaseModel):
    """What a trace file says beside its arrays."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    format: int = Field(ge=1, le=FORMAT, description="1: of texts; 2: of a picture.")
    source: Sentence
    target: Sentence
    sites: tuple[SiteHeader, ...]
    steps: tuple[TracedStep, ...]
    provenance: Provenance
    aligning: int | None = Field(
        description="The cross layer that best tells which word came from which."
    )
    depths: dict[str, tuple[int, ...]] = Field(description="Repetitions that each token took.")
    does: Does = "translate"
    picture: PictureHeader | None = None
    crc32: int | None = Field(
        None, description="Of all else; a JSON document and files of before have none."
    )


class SiteDocument(SiteHeader):
    """One place where the model attends, with its weights."""

    rows: str | None = Field(
        None, description="What a row is, in words; a document that the page wrote has none."
    )
    columns: str | None = Field(None, description="What a column is, in words.")
    weights: tuple[tuple[tuple[float, ...], ...], ...] = Field(
        description="weights[head][row][column]"
    )


class PictureDocument(PictureHeader):
    """A picture with its pixels."""

    boxes: tuple[Box, ...] = Field(
        description="Left, top, right and bottom of each cell, in pixels; the last two excluded."
    )
    png: str = Field(pattern=r"^[A-Za-z0-9+/]+=*$", description="A PNG file in base64.")


class TraceDocument(TraceHeader):
    """A trace as JSON, weights included: six digits each."""

    sites: tuple[SiteDocument, ...]
    picture: PictureDocument | None = None
    positions: tuple[tuple[float, ...], ...] | None = Field(
        None, description="What is added for each place."
    )
