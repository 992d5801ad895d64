"""What the page shows where no model is served: the form of the files that the scripts record."""

from pydantic import Field

from regard.inspection.trace import Kind
from regard.inspection.trace.schema import SiteDocument, TraceDocument
from regard.serving.routes.runs import CurvesAnswer
from regard.serving.routes.schemas import AblateAnswer, RankedText, ServiceAnswer


class RecordedVectors(ServiceAnswer):
    """The vectors of every head of a site, ``[head][place][dimension]``."""

    kind: Kind
    layer: int
    queries: list[list[list[float]]]
    keys: list[list[list[float]]]
    values: list[list[list[float]]]


class RecordedSentence(ServiceAnswer):
    """canned.NAME.json: a sentence, and what can be asked of it."""

    name: str
    trace: TraceDocument
    hypotheses: list[RankedText]
    sites: list[RecordedVectors]
    ablations: dict[str, AblateAnswer] = Field(description="By the head that is switched off.")


class RecordedMoment(ServiceAnswer):
    """What the heads looked at after an update, and what the model wrote then."""

    update: int | None
    output: str | None
    sites: list[SiteDocument]


class RecordedTraining(ServiceAnswer):
    """canned.training.json: curves of runs, and the heads of one of them on the way."""

    runs: list[CurvesAnswer]
    run: str = Field(description="The run whose moments these are.")
    trace: TraceDocument
    moments: list[RecordedMoment]
