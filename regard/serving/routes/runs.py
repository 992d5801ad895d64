"""Our own API: runs as they train, and what their heads looked at on the way."""

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse

from regard.errors import ModelFolderError
from regard.inspection.trace.schema import TraceDocument
from regard.serving.refusals import RequestError
from regard.serving.routes.schemas import PROBLEMS, Input, Name, Question, ServiceAnswer, Text
from regard.serving.runs import Standing
from regard.serving.service import Service

Column = list[float | None]


class RunAnswer(ServiceAnswer):
    """A run, and how it stands."""

    name: str
    state: Literal["preparing", "training", "quiet", "finished", "stopped"]
    recipe: str | None
    kind: str | None
    measure: str | None = Field(description="What the best weights are best by.")
    update: int
    updates: int | None = Field(description="How many there will be; null of a budget of time.")
    minutes: float | None = Field(description="The budget of time, where the run has one.")
    epoch: int
    seconds: float
    silent: float = Field(description="Seconds since it last wrote anything.")
    reason: str | None = Field(description="Why it is over.")
    chosen: str | None = Field(description="Which weights were kept.")
    moments: list[int | None] = Field(
        description="Updates whose weights are there to look at; null are those the folder holds."
    )


class RunsAnswer(ServiceAnswer):
    """Every run that is there now."""

    runs: list[RunAnswer]


class StepsAnswer(ServiceAnswer):
    """Curves, a list each; every tenth update, or means of more of them."""

    update: Column
    seconds: Column
    loss: Column
    learning_rate: Column
    gradient_norm: Column
    tokens_per_second: Column = Field(
        description="Target tokens; of a BERT all that it reads, of which it counts the share that "
        "is masked; of a model that tells labels its labels."
    )


class ValidationAnswer(ServiceAnswer):
    """What was measured on held-out data."""

    update: int
    seconds: float | None
    loss: float | None
    perplexity: float | None
    bits_per_character: float | None
    bleu: float | None
    chrf: float | None
    is_best: bool


class CurvesAnswer(ServiceAnswer):
    """What has happened since the cursor; all of it where ``is_whole``."""

    run: RunAnswer
    cursor: str
    is_whole: bool
    steps: StepsAnswer
    validations: list[ValidationAnswer]


class MomentQuestion(Question):
    """A text to look at, and the update whose weights look; without one those the folder holds."""

    run: Name
    update: Annotated[int, Field(ge=0, le=10**9)] | None = None
    source: Input
    target: Text | None = None


class MomentAnswer(ServiceAnswer):
    """A trace, and what the model itself wrote then, if it translates."""

    run: str
    update: int | None
    output: str | None
    trace: TraceDocument


def run_routes(service: Service) -> APIRouter:
    """The routes under /api/v1/runs."""
    router = APIRouter(prefix="/api/v1/runs", tags=["runs"], responses=PROBLEMS)
    runs = service.catalogue.runs

    @router.get("")
    def every() -> RunsAnswer:
        """The runs that are being trained, or were."""
        found = [runs.standing(name, folder) for name, folder in runs.all().items()]
        return RunsAnswer(runs=[described(one) for one in found])

    @router.get("/curves")
    def curves(
        run: Annotated[str, Query(max_length=200)],
        since: Annotated[str, Query(max_length=80, description="The last answer's cursor.")] = "",
    ) -> CurvesAnswer:
        """Loss, learning rate and speed of a run, and its validations; ask again while it goes."""
        standing = runs.standing(run, runs.of(run))
        steps, validations, is_whole = standing.history.since(since)
        per_second = [one and one * standing.n_read for one in steps["tokens_per_second"]]
        return CurvesAnswer(
            run=described(standing),
            cursor=standing.history.cursor,
            is_whole=is_whole,
            steps=StepsAnswer(**steps | {"tokens_per_second": per_second}),
            validations=[ValidationAnswer(**one) for one in validations],
        )

    @router.post("/moment", response_model=MomentAnswer)
    async def moment(request: Request, question: MomentQuestion) -> JSONResponse:
        """What a model looked at when it had been trained so far."""
        folder, bounds = runs.of(question.run), service.settings.bounds

        def look() -> dict[str, Any]:
            asked = question.update, question.source, question.target
            try:
                then = service.moments.of(folder, *asked, bounds)
            except ModelFolderError as error:  # where it lies is nobody's business
                raise RequestError(str(error).replace(str(folder), question.run)) from error
            return {
                "run": question.run,
                "update": question.update,
                "output": then.output,
                "trace": json.loads(then.trace.to_json()),
            }

        # The trace's own text, not checked again: it may hold a million weights.
        return JSONResponse(await service.alone(request, look))

    return router


def described(one: Standing) -> RunAnswer:
    """A run as it is told."""
    finished, recipe = one.history.finished or {}, one.recipe
    return RunAnswer(
        name=one.name,
        state=one.state,
        recipe=recipe.name if recipe else None,
        kind=recipe.model.kind if recipe else None,
        measure=recipe.training.measure if recipe else None,
        update=one.history.update,
        updates=one.updates,
        minutes=one.minutes,
        epoch=one.history.epoch,
        seconds=one.history.seconds,
        silent=one.silent,
        reason=finished.get("reason"),
        chosen=finished.get("chosen") or None,
        moments=list(one.moments),
    )
