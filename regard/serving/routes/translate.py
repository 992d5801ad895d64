"""Our own API: translating, whole or as it is decoded."""

from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request

from regard.decoding import Search
from regard.errors import RegardError
from regard.serving.refusals import RequestError
from regard.serving.routes.schemas import (
    PROBLEMS,
    AlignmentAnswer,
    ErrorEvent,
    EventStream,
    HypothesisAnswer,
    PartialEvent,
    SentenceAnswer,
    SentenceEvent,
    TranslateAnswer,
    TranslatedEvent,
    TranslateQuestion,
    line,
    stream_of,
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
    router = APIRouter(prefix="/api/v1", tags=["translate"], responses=PROBLEMS)

    @router.post("/translate")
    async def translate(request: Request, question: TranslateQuestion) -> TranslateAnswer:
        """Translate one sentence or many; requests that come together are searched together."""
        runner, asked = _runner(service, question, is_streamed=False)
        found: list[TranslationResult] = await service.answer(request, runner, asked)
        return TranslateAnswer(
            model=runner.served.name, translations=[sentence(one) for one in found]
        )

    @router.post(
        "/translate/stream",
        **stream_of(
            *(PartialEvent, SentenceEvent, TranslatedEvent, ErrorEvent),
            description="One JSON object a line: `partial` (the best unfinished output of a "
            "sentence so far), `sentence` (its translations), `done` or `error`.",
        ),
    )
    async def stream(question: TranslateQuestion) -> EventStream:
        """Translate, and say each output as it is decoded."""
        runner, asked = _runner(service, question, is_streamed=True)
        return EventStream(_lines(service.begin(runner, asked)))

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
                    yield line(PartialEvent(sentence=place, text=text))
                case TranslationResult():
                    yield line(SentenceEvent(sentence=place, **vars(sentence(event))))
        yield line(TranslatedEvent())
    except RegardError as error:
        yield line(ErrorEvent(error=str(error), code=error.code))
