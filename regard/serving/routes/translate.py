"""Our own API: what is served, and translating with it, whole or as it is decoded."""

import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from starlette.requests import Request

from regard import __version__
from regard.decoding import Search
from regard.errors import RegardError
from regard.inspection.heads import n_heads
from regard.serving.catalogue import Served
from regard.serving.refusals import RequestError
from regard.serving.routes.schemas import (
    PROBLEMS,
    AlignmentAnswer,
    HypothesisAnswer,
    InfoAnswer,
    ModelAnswer,
    SentenceAnswer,
    TranslateAnswer,
    TranslateQuestion,
)
from regard.serving.service import Service
from regard.serving.translating import Asked, Found, Partial, Translating, check_texts

EVENTS = "application/x-ndjson"


def translate_routes(service: Service) -> APIRouter:
    """The routes under /api/v1 that translate."""
    router = APIRouter(prefix="/api/v1", tags=["translate"])

    @router.get("/info", responses=PROBLEMS)
    async def info() -> InfoAnswer:
        """Say which models are served, and how much one may ask for."""
        models = [_model(one) for one in service.catalogue.translators]
        models += [ModelAnswer(name=one.name, does="write") for one in service.catalogue.writers]
        limits = {name: float(value) for name, value in vars(service.settings.bounds).items()}
        return InfoAnswer(version=__version__, models=models, limits=limits)

    @router.post("/translate", responses=PROBLEMS)
    async def translate(request: Request, question: TranslateQuestion) -> TranslateAnswer:
        """Translate one sentence or many; requests that come together are searched together."""
        runner, asked = _asked(service, question, is_heard=False)
        found: list[Found] = await service.answer(request, runner, asked)
        return TranslateAnswer(
            model=runner.served.name, translations=[sentence(one) for one in found]
        )

    @router.post(
        "/translate/stream",
        response_class=StreamingResponse,
        responses={
            **PROBLEMS,
            200: {
                "content": {EVENTS: {"schema": {"type": "string"}}},
                "description": "One JSON object a line: `partial` (the best unfinished output of a "
                "sentence so far), `sentence` (its translations), `done` or `error`.",
            },
        },
    )
    async def stream(question: TranslateQuestion) -> StreamingResponse:
        """Translate, and say each output as it is decoded."""
        runner, asked = _asked(service, question, is_heard=True)
        return StreamingResponse(_lines(service.begin(runner, asked)), media_type=EVENTS)

    return router


def _asked(
    service: Service, question: TranslateQuestion, *, is_heard: bool
) -> tuple[Translating, list[Asked]]:
    served = service.catalogue.translator(question.model)
    texts = [question.text] if isinstance(question.text, str) else question.text
    bounds = service.settings.bounds
    if question.beam > bounds.beam:
        raise RequestError(
            f"a beam of {question.beam} is too wide here: ask for up to {bounds.beam}", code="beam"
        )
    search = Search(width=question.beam, n_best=question.n_best, alpha=question.alpha)
    check_texts(served, texts, bounds)
    if question.alignments and not served.has_alignments:
        raise RequestError(f"{served.name} never looks back at its source: it has no alignments")
    asked = [Asked(text, question.alignments, is_heard) for text in texts]
    return Translating(served, search, service.settings.rows), asked


def sentence(found: Found) -> SentenceAnswer:
    """The translations of a sentence as JSON has them."""
    alignments = found.alignments or (None,) * len(found.translations)
    return SentenceAnswer(
        hypotheses=[
            HypothesisAnswer(
                text=one.text,
                score=one.score,
                log_probability=one.log_probability,
                tokens=list(one.pieces),
                alignment=None
                if alignment is None
                else AlignmentAnswer(
                    source_words=list(alignment.source_words),
                    target_words=list(alignment.target_words),
                    matrix=[list(row) for row in alignment.matrix],
                    links=list(alignment.links),
                    layer=alignment.layer,
                ),
            )
            for one, alignment in zip(found.translations, alignments, strict=True)
        ],
        unknown=list(found.translations[0].unknown),
    )


async def _lines(events: AsyncIterator[tuple[int, Any]]) -> AsyncIterator[bytes]:
    try:
        async for place, event in events:
            match event:
                case Partial(text):
                    yield _line({"event": "partial", "sentence": place, "text": text})
                case Found():
                    answer = sentence(event).model_dump()
                    yield _line({"event": "sentence", "sentence": place, **answer})
        yield _line({"event": "done"})
    except RegardError as error:
        yield _line({"event": "error", "error": str(error), "code": error.code})


def _line(event: dict[str, Any]) -> bytes:
    return f"{json.dumps(event, ensure_ascii=False, allow_nan=False)}\n".encode()


def _model(served: Served) -> ModelAnswer:
    loaded = served.loaded
    model = loaded.translator
    heads: dict[str, list[int]] = {}
    for site in model.sites:
        heads.setdefault(site.kind, []).append(n_heads(model, site))
    source, target = served.pair or (None, None)
    return ModelAnswer(
        name=served.name,
        does="translate",
        source_language=source,
        target_language=target,
        kind=loaded.recipe.model.kind,
        recipe=loaded.recipe.name,
        parameters=sum(one.numel() for one in model.parameters()),
        vocabulary=len(loaded.target_tokenizer),
        heads=heads,
    )
