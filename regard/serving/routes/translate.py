"""Our own API: translating, whole or as it is decoded."""

from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from starlette.requests import Request

from regard.decoding import Search
from regard.errors import RegardError
from regard.serving.refusals import RequestError
from regard.serving.routes.schemas import (
    EVENTS,
    PROBLEMS,
    AlignmentAnswer,
    HypothesisAnswer,
    SentenceAnswer,
    TranslateAnswer,
    TranslateQuestion,
    line,
)
from regard.serving.service import Service
from regard.serving.translation import (
    PartialTranslation,
    TranslationRequest,
    TranslationResult,
    TranslationRunner,
    check_texts,
)


def translate_routes(service: Service) -> APIRouter:
    """The routes under /api/v1 that translate."""
    router = APIRouter(prefix="/api/v1", tags=["translate"])

    @router.post("/translate", responses=PROBLEMS)
    async def translate(request: Request, question: TranslateQuestion) -> TranslateAnswer:
        """Translate one sentence or many; requests that come together are searched together."""
        runner, asked = _runner(service, question, is_streamed=False)
        found: list[TranslationResult] = await service.answer(request, runner, asked)
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
        runner, asked = _runner(service, question, is_streamed=True)
        return StreamingResponse(_lines(service.begin(runner, asked)), media_type=EVENTS)

    return router


def _runner(
    service: Service, question: TranslateQuestion, *, is_streamed: bool
) -> tuple[TranslationRunner, list[TranslationRequest]]:
    served = service.catalogue.translator(question.model)
    texts = [question.text] if isinstance(question.text, str) else question.text
    bounds = service.settings.bounds
    bounds.check_beam(question.beam)
    if question.n_best > bounds.beam:
        raise RequestError(
            f"{question.n_best} translations of a sentence are too many here: ask for up to "
            f"{bounds.beam}",
            code="beam",
        )
    search = Search(width=question.beam, n_best=question.n_best, alpha=question.alpha)
    check_texts(served, texts, bounds)
    if question.alignments and served.opened.models[0].aligning is None:
        raise RequestError(f"{served.name} never looks back at its source: it has no alignments")
    asked = [TranslationRequest(text, is_streamed) for text in texts]
    return TranslationRunner(served, search, service.settings.rows, question.alignments), asked


def sentence(found: TranslationResult) -> SentenceAnswer:
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
                case PartialTranslation(text):
                    yield line({"event": "partial", "sentence": place, "text": text})
                case TranslationResult():
                    answer = sentence(event).model_dump()
                    yield line({"event": "sentence", "sentence": place, **answer})
        yield line({"event": "done"})
    except RegardError as error:
        yield line({"event": "error", "error": str(error), "code": error.code})
