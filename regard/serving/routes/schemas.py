"""What our own API is asked, and what it says: pydantic models, which OpenAPI documents."""

import json
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal

from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from regard.inspection.trace import Kind
from regard.serving.settings import Bounds
from regard.systems.opened import Reads

Text = Annotated[str, StringConstraints(max_length=100_000)]
Input = Annotated[str, StringConstraints(max_length=4_000_000)]  # a text, or a file in base64
Name = Annotated[str, StringConstraints(max_length=200)]
Place = Annotated[int, Field(ge=0, le=1_000_000)]
Many = Annotated[int, Field(ge=1, le=1_000_000)]  # how many are allowed, the service's bounds say


EVENTS = "application/x-ndjson"  # a stream of events: a JSON object a line


class EventStream(StreamingResponse):
    """Events as they come."""

    media_type = EVENTS


def stream_of(*events: type[BaseModel], description: str) -> dict[str, Any]:
    """What a route is told that answers with a stream of these, a JSON object a line."""
    items = [{"$ref": f"#/components/schemas/{event.__name__}"} for event in events]
    told = {"schema": {"type": "string"}, "itemSchema": {"oneOf": items}}
    return {
        "response_class": StreamingResponse,  # of no media type: refusals are JSON
        "response_model": reduce(or_, events),  # so that OpenAPI has their schemas
        "responses": {200: {"content": {EVENTS: told}}},
        "response_description": description,
    }


def line(event: BaseModel) -> bytes:
    """One event of a stream."""
    told = event.model_dump(mode="json")
    return f"{json.dumps(told, ensure_ascii=False, allow_nan=False)}\n".encode()


class Question(BaseModel):
    """A body whose every word is known."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ServiceAnswer(BaseModel):
    """An answer that says all that is declared, and nothing else."""

    model_config = ConfigDict(extra="forbid", json_schema_serialization_defaults_required=True)


class Problem(ServiceAnswer):
    """Why a request was not taken, in one sentence, and a code that does not change."""

    error: str
    code: str


class ErrorEvent(ServiceAnswer):
    """The end of a stream that could not go on."""

    event: Literal["error"] = "error"
    error: str
    code: str


class OpenAIRefusal(ServiceAnswer):
    """Why a request was not taken, as OpenAI's clients read it."""

    message: str
    type: Literal["invalid_request_error", "server_error"]
    param: str | None
    code: str


class OpenAIProblem(ServiceAnswer):
    """The same sentence and code, in an object."""

    error: OpenAIRefusal


def _problems(model: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """Everything that may be answered instead of what was asked for."""
    return {
        status: {"model": model, "description": description}
        for status, description in {
            400: "The request does not make sense.",
            401: "An API key is needed.",
            403: "This page or name may not ask.",
            404: "There is no such model.",
            405: "This address is not asked in this way.",
            408: "The request did not arrive in time.",
            413: "Too much for one request.",
            422: "The body does not fit its schema.",
            429: "Too many wait: come again after Retry-After seconds.",
            500: "Something went wrong here.",
            503: "Stopping, or not done in time, or too many connections.",
        }.items()
    }


PROBLEMS = _problems(Problem)
OPENAI_PROBLEMS = _problems(OpenAIProblem)


class SearchQuestion(Question):
    """How translations are searched for."""

    model: Name | None = Field(None, description="A name of /api/v1/info; else the first.")
    beam: Many = Field(5, description="Width of the beam; 1 is greedy search.")
    alpha: float = Field(1.0, ge=0, le=10, allow_inf_nan=False, description="Length penalty.")
    n_best: Many = Field(1, description="How many translations of each sentence.")


class TranslateQuestion(SearchQuestion):
    """One sentence or many."""

    text: Text | list[Text]
    alignments: bool = Field(False, description="Add which word came from which.")


class AlignmentAnswer(ServiceAnswer):
    """``matrix[j][i]``: how much target word j looked at source word i."""

    source_words: list[str]
    target_words: list[str]
    matrix: list[list[float]]
    links: list[tuple[int, int]]
    layer: int


class RankedText(ServiceAnswer):
    """A text that a search found, and how it ranks among others."""

    text: str
    score: float
    log_probability: float


class HypothesisAnswer(RankedText):
    """One translation."""

    tokens: list[str]
    alignment: AlignmentAnswer | None = None


class SentenceAnswer(ServiceAnswer):
    """The translations of one sentence, best first, and its words that the model does not know."""

    hypotheses: list[HypothesisAnswer]
    unknown: list[str]


class TranslateAnswer(ServiceAnswer):
    """As many as there were sentences, in their order."""

    model: str
    translations: list[SentenceAnswer]


class PartialEvent(ServiceAnswer):
    """The best unfinished output of a sentence so far."""

    event: Literal["partial"] = "partial"
    sentence: int
    text: str


class SentenceEvent(SentenceAnswer):
    """The translations of a sentence, when all of it is decoded."""

    event: Literal["sentence"] = "sentence"
    sentence: int


class TranslatedEvent(ServiceAnswer):
    """The end of a stream: every sentence was told."""

    event: Literal["done"] = "done"


class SightQuestion(Question):
    """A text to look at, and what to read as the model's answer; else its own is found.

    The answer is a translation, what comes after the text, or the text without its [MASK]s.
    """

    model: Name | None = None
    source: Input
    target: Text | None = None
    beam: Many = Field(5, description="Width of the beam of a translation.")
    new: int | None = Field(
        None, ge=1, le=1_000, description="Tokens that a language model writes on; else one."
    )


class TraceQuestion(SightQuestion):
    """A trace as JSON or as a file; float16 halves the file, for programs that only show it."""

    format: Literal["json", "safetensors"] = "json"
    precision: Literal["float32", "float16"] = "float32"
    heads: list[Name] = Field(
        [],
        max_length=1000,
        description="Heads to change, as for `ablate`: the trace is of the tokens that the model "
        "writes without the change, so that its cells are the same.",
    )
    change: Literal["off", "uniform", "argmax"] = "off"


class CellQuestion(SightQuestion):
    """One weight: the query of a row and the key of a column, in one head."""

    site: Kind | None = Field(
        None, description="What there is, if it is not said: cross, or else the first of these."
    )
    layer: Place = 0
    head: Place = 0
    row: Place = 0
    column: Place = 0


class CellAnswer(ServiceAnswer):
    """How the weight came about; ``score = sum / divisor`` where these are there."""

    model: str
    site: Kind
    layer: int
    head: int
    row: int
    column: int
    row_token: str
    column_token: str
    column_tokens: list[str]
    formula: str
    query: list[float]
    key: list[float]
    products: list[float] | None
    sum: float | None
    divisor: float | None
    score: float
    scores: list[float]
    may_see: list[bool]
    weights: list[float]
    values: list[list[float]]
    context: list[float]


class HeadAnswer(ServiceAnswer):
    """What a head does in this sentence, each number a mean over its rows."""

    kind: Kind
    layer: int
    head: int
    entropy: float  # in nats
    largest: float  # of the weights of a row
    on_special: float  # of the weight: on <s> and </s>
    before: float | None  # on the token before, its own, and the one after; not across languages
    itself: float | None
    after: float | None
    is_uniform: bool


class HeadsAnswer(ServiceAnswer):
    """Every head."""

    model: str
    source: str
    target: str
    heads: list[HeadAnswer]


class AblateQuestion(SightQuestion):
    """Heads to change, as in ``cross.1.0`` or, for all of a layer, ``cross.1``."""

    heads: list[Name] = Field(min_length=1, max_length=1000)
    change: Literal["off", "uniform", "argmax"] = "off"


class AblateAnswer(ServiceAnswer):
    """What the model wrote before and after, and what each old token lost in log-probability."""

    model: str
    heads: list[str]
    before: str
    after: str
    has_changed: bool
    tokens: list[str]
    changes: list[float]
    change: float


class ViewQuestion(Question):
    """What of a trace is seen."""

    form: Literal[
        "lines", "matrix", "grid", "alignment", "positions", "strip", "overview", "pictures"
    ] = "lines"
    site: Kind | None = None
    layer: Place | None = None
    heads: list[Place] | None = None
    word: Place | Name | None = None
    merges: bool = True
    hides_special: bool = False
    reading: Literal["predicting", "reading"] | None = None
    top_k: Annotated[int, Field(ge=1, le=1000)] | None = None
    theme: Literal["light", "dark"] = "light"


class ExportQuestion(SightQuestion):
    """A picture of a trace, or the page with all of them (html), or its numbers (json)."""

    format: Literal["svg", "png", "pdf", "html", "json"] = "svg"
    view: ViewQuestion = Field(default_factory=ViewQuestion)


class ModelAnswer(ServiceAnswer):
    """A served model."""

    name: str
    does: str = Field(description="What it is for: translate, write, fill, classify, tag, ...")
    reads: Reads = Field(
        "texts", description="What it is given: texts, pictures in base64, or seeds to draw from."
    )
    source_language: str | None = None
    target_language: str | None = None
    kind: str | None = None
    recipe: str | None = None
    parameters: int | None = None
    vocabulary: int | None = None
    heads: dict[str, list[int]] = Field(
        default_factory=dict, description="For each kind of attention, the heads of its layers."
    )


class InfoAnswer(ServiceAnswer):
    """What is served, and how much one may ask for."""

    version: str
    models: list[ModelAnswer]
    limits: Bounds


class HealthAnswer(ServiceAnswer):
    """The service is there, and its C++ kernels are for these instructions (null: none)."""

    status: Literal["ok"] = "ok"
    kernels: str | None
