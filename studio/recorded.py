"""What the page shows where no model is served: the form of the files that the scripts record."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import Field

from regard.inspection.trace import Kind
from regard.inspection.trace.schema import SiteDocument, TraceDocument
from regard.lessons.explanation import ExplainedStep
from regard.lessons.explanation.blocks import (
    MaskNumbers,
    NormNumbers,
    PositionNumbers,
    ScoreNumbers,
)
from regard.serving.routes.explain import (
    MasksQuestion,
    NormsQuestion,
    PositionsQuestion,
    ScoresQuestion,
)
from regard.serving.routes.runs import CurvesAnswer
from regard.serving.routes.schemas import AblateAnswer, RankedText, ServiceAnswer

DIGITS = 4
Cube = list[list[list[float]]]


class RecordedVectors(ServiceAnswer):
    """The numbers behind the weights of a site, ``score = sum / divisor``.

    Vectors are ``[head][place][dimension]``, sums and scores ``[head][row][column]``.
    """

    kind: Kind
    layer: int
    queries: Cube
    keys: Cube
    values: Cube
    sums: Cube
    divisor: float | None
    scores: Cube
    may_see: list[list[bool]]
    contexts: Cube


def recorded_vectors(kind: Kind, layer: int, numbers: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The numbers of a site as plain data, in few digits."""
    divisor = numbers.get("divisor")
    plain = {name: _short(numbers[name], DIGITS) for name in ("queries", "keys", "values")}
    # Two digits of these are shown.
    plain |= {name: _short(numbers[name], 3) for name in ("sums", "scores", "contexts")}
    return {
        "kind": kind,
        "layer": layer,
        **plain,
        "divisor": None if divisor is None else round(float(divisor[0]), DIGITS),
        "may_see": numbers["may_see"].astype(bool).tolist(),
    }


def _short(values: np.ndarray, digits: int) -> Any:
    return np.round(values.astype(np.float64), digits).tolist()


class RecordedLecture(ServiceAnswer):
    """src/lecture.json: the lectures' worked example, two words that look at each other."""

    words: list[str]
    vectors: RecordedVectors
    weights: Cube


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
    trace: TraceDocument | None = Field(description="None where no text was looked at.")
    moments: list[RecordedMoment]


class SavedLesson(ServiceAnswer):
    """What `regard explain --save x.html` inlines; cells that are no finite numbers are words."""

    topic: str
    title: str
    lead: str
    steps: tuple[ExplainedStep, ...]


class RecordedPositions(ServiceAnswer):
    """An encoding; its first rows are that of fewer places."""

    question: PositionsQuestion
    answer: PositionNumbers


class RecordedMasks(ServiceAnswer):
    """Some of the masks together."""

    question: MasksQuestion
    answer: MaskNumbers


class RecordedNorms(ServiceAnswer):
    """A table, normalised."""

    question: NormsQuestion
    answer: NormNumbers


class RecordedScores(ServiceAnswer):
    """A query and what the scores make of it."""

    question: ScoresQuestion
    answer: ScoreNumbers


class RecordedBlocks(ServiceAnswer):
    """canned.blocks.json: questions that the service would be asked, and its answers."""

    positions: list[RecordedPositions]
    masks: list[RecordedMasks]
    norms: list[RecordedNorms]
    scores: list[RecordedScores]
