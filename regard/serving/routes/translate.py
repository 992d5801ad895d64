"""Our own API: what is served, and translating with it, whole or as it is decoded."""

from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from starlette.requests import Request

from regard import __version__
from regard.decoding import Search
from regard.errors import RegardError
from regard.folder import LoadedModel
from regard.inspection.heads import n_heads
from regard.inspection.trace import Does
from regard.serving.catalogue import Served
from regard.serving.generation import GptStreamer, TextStreamer
from regard.serving.refusals import RequestError
from regard.serving.routes.schemas import (
    EVENTS,
    PROBLEMS,
    AlignmentAnswer,
    HypothesisAnswer,
    InfoAnswer,
    ModelAnswer,
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

    @router.get("/info", responses=PROBLEMS)
    async def info() -> InfoAnswer:
        """Say which models are served, and how much one may ask for."""
        models = [_model(one) for one in service.catalogue.translators]
        models += [_writer(one) for one in service.catalogue.writers]
        models += [_facts(one.name, "fill", one.finder.loaded) for one in service.catalogue.readers]
        models.sort(key=lambda one: service.catalogue.names.index(one.name))
        limits = dict(vars(service.settings.bounds))
        return InfoAnswer(version=__version__, models=models, limits=limits)

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
    if question.alignments and not served.has_alignments:
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


def _model(served: Served) -> ModelAnswer:
    source, target = served.pair or (None, None)
    facts = _facts(served.name, "translate", served.loaded)
    return facts.model_copy(update={"source_language": source, "target_language": target})


def _writer(writer: TextStreamer) -> ModelAnswer:
    if isinstance(writer, GptStreamer):
        return _facts(writer.name, "write", writer.loaded)
    return ModelAnswer(name=writer.name, does="write")


def _facts(name: str, does: Does, loaded: LoadedModel) -> ModelAnswer:
    model = loaded.model
    heads: dict[str, list[int]] = {}
    for site in model.sites:
        heads.setdefault(site.kind, []).append(n_heads(model, site))
    return ModelAnswer(
        name=name,
        does=does,
        kind=loaded.recipe.model.kind,
        recipe=loaded.recipe.name,
        parameters=model.n_parameters,
        vocabulary=len(loaded.target_tokenizer),
        heads=heads,
    )
