"""Our own API for every model: what is served, and using it for what it does."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse

from regard import __version__
from regard.inspection.heads import n_heads
from regard.serving.catalogue import Served
from regard.serving.queue import Item
from regard.serving.refusals import RequestError
from regard.serving.routes.schemas import (
    PROBLEMS,
    InfoAnswer,
    Input,
    ModelAnswer,
    Name,
    Question,
    ServiceAnswer,
)
from regard.serving.service import Service
from regard.serving.settings import read_input
from regard.systems import (
    Answer,
    FilledText,
    OpenedModel,
    TaggedText,
    TextLabel,
    Translation,
    WrittenText,
)
from regard.systems.captions import Caption
from regard.systems.glimpse_results import PictureLabel
from regard.systems.parsing import ParsedText
from regard.systems.summaries import Summary


class UseQuestion(Question):
    """Inputs for a model, whatever it does: texts, or PNG and JPEG files in base64.

    For a model that judges texts in pairs, an input is a list of two.
    """

    model: Name | None = Field(None, description="A name of /api/v1/info; else the first.")
    inputs: list[Input | list[Input]] = Field(min_length=1, max_length=10_000)


UseResult = (
    Translation
    | Caption
    | Answer
    | WrittenText
    | FilledText
    | TaggedText
    | ParsedText
    | TextLabel
    | PictureLabel
    | Summary
)  # what ``use`` of the opened models gives


class UseAnswer(ServiceAnswer):
    """A result for each input, in their order; what it holds depends on what the model does."""

    model: str
    does: str
    results: list[UseResult]


@dataclass(frozen=True, eq=False)
class UseRunner:
    """Uses a model for what it does, with a few inputs at a time: the rest can be cancelled."""

    served: Served[OpenedModel]
    rows: ClassVar[int] = 8
    is_shared: ClassVar[bool] = False

    @property
    def key(self) -> Hashable:
        """The same model."""
        return ("use", self.served.name)

    def run(self, items: Sequence[Item]) -> None:
        """Answer each with its result as plain data."""
        found = self.served.opened.use([item.payload for item in items])
        for item, result in zip(items, found, strict=True):
            item.answer(result.to_dict())


def use_routes(service: Service) -> APIRouter:
    """The routes under /api/v1 that ask no model for anything of its own."""
    router = APIRouter(prefix="/api/v1", tags=["use"], responses=PROBLEMS)

    @router.get("/info")
    async def info() -> InfoAnswer:
        """Say which models are served, and how much one may ask for."""
        models = [_described(one) for one in service.catalogue.models]
        return InfoAnswer(version=__version__, models=models, limits=service.settings.bounds)

    @router.post("/use", response_model=UseAnswer)
    async def use(request: Request, question: UseQuestion) -> JSONResponse:
        """Translate, write, fill, classify or tag: what the model is for, as usual."""
        served, bounds = service.catalogue.model(question.model), service.settings.bounds
        parts = [[one] if isinstance(one, str) else one for one in question.inputs]
        _check_parts(served, parts)
        if served.opened.reads != "pictures":
            bounds.check_size([text for part in parts for text in part])
        inputs = [
            [read_input(served.opened, text, bounds, bounds.tokens, f"input {i}") for text in part]
            for i, part in enumerate(parts)
        ]
        payloads = [one[0] if len(one) == 1 else tuple(one) for one in inputs]
        results = await service.answer(request, UseRunner(served), payloads)
        # As the library says it: which of the kinds of results it is, nobody has to guess again.
        return JSONResponse({"model": served.name, "does": served.does, "results": results})

    return router


def _check_parts(served: Served[OpenedModel], parts: Sequence[Sequence[str]]) -> None:
    n = served.opened.n_texts
    for i, part in enumerate(parts):
        if len(part) != n:
            raise RequestError(
                f"input {i} has {len(part)} parts, and {served.name} reads {n} together: give "
                f"{'a list of them' if n > 1 else 'one text'}"
            )


def _described(served: Served[OpenedModel]) -> ModelAnswer:
    loaded, model = served.opened.loaded, served.opened.model
    source, target = served.pair or (None, None)
    heads: dict[str, list[int]] = {}
    for site in model.sites:
        heads.setdefault(site.kind, []).append(n_heads(model, site))
    return ModelAnswer(
        name=served.name,
        does=served.does,
        reads=served.opened.reads,
        source_language=source,
        target_language=target,
        kind=loaded.recipe.model.kind,
        recipe=loaded.recipe.name,
        parameters=model.n_parameters,
        vocabulary=len(loaded.target_tokenizer),
        heads=heads,
    )
