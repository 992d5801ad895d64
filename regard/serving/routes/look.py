"""Our own API: traces, the arithmetic of a cell, heads, changed heads and pictures."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from regard.inspection.scene import View
from regard.inspection.trace import ATTENTIONS
from regard.serving.looking import Sight, head_facts, picture
from regard.serving.refusals import RequestError
from regard.serving.routes.schemas import (
    PROBLEMS,
    AblateAnswer,
    AblateQuestion,
    CellAnswer,
    CellQuestion,
    ExportQuestion,
    HeadAnswer,
    HeadsAnswer,
    SightQuestion,
    TraceQuestion,
)
from regard.serving.service import Service
from regard.serving.translating import check_beam, check_size, check_tokens
from regard.systems import Translator, Writer, ablate, loaded_of
from regard.systems.translation_ablation import Ablation

_TYPES = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "pdf": "application/pdf",
    "html": "text/html; charset=utf-8",
    "json": "application/json",
}
_BYTES: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
_TRACE: dict[str, Any] = {
    "application/json": {"schema": {"type": "object"}},
    "application/octet-stream": _BYTES,
}


def look_routes(service: Service) -> APIRouter:
    """The routes under /api/v1 that look inside."""
    router = APIRouter(prefix="/api/v1", tags=["look"], responses=PROBLEMS)

    @router.post("/trace", response_class=Response, responses={200: {"content": _TRACE}})
    async def trace(request: Request, question: TraceQuestion) -> Response:
        """Every attention on the way from a text to what a model makes of it."""
        sight = _sight(service, question)
        if question.format == "json":
            text = await service.alone(request, lambda: service.traces.of(sight).to_json())
            return Response(text, media_type="application/json")
        is_half = question.precision == "float16"
        written = await service.alone(
            request, lambda: service.traces.of(sight).to_bytes(is_half=is_half)
        )
        return _file(written, "application/octet-stream", "trace.trace")

    @router.post("/arithmetic")
    async def arithmetic(request: Request, question: CellQuestion) -> CellAnswer:
        """The real numbers behind one weight: vectors, products, sum, scale, softmax, context."""
        sight = _sight(service, question)
        found, seen = await service.alone(
            request,
            lambda: service.traces.arithmetic(
                sight,
                question.site,
                question.layer,
                head=question.head,
                row=question.row,
                column=question.column,
            ),
        )
        attention = ATTENTIONS[found.kind]
        _, rows = seen.read(attention.rows)
        _, columns = seen.read(attention.columns)
        numbers = asdict(found)
        return CellAnswer(
            model=sight.name,
            site=numbers.pop("kind"),
            row_token=rows[found.row].text,
            column_token=columns[found.column].text,
            column_tokens=[token.text for token in columns],
            **numbers,
        )

    @router.post("/heads")
    async def heads(request: Request, question: SightQuestion) -> HeadsAnswer:
        """What every head does in a sentence, in numbers."""
        sight = _sight(service, question)
        seen = await service.alone(request, lambda: service.traces.of(sight))
        return HeadsAnswer(
            model=sight.name,
            source=seen.source.text,
            target=seen.target.text,
            heads=[HeadAnswer(**vars(one)) for one in head_facts(seen)],
        )

    @router.post("/ablate")
    async def switch(request: Request, question: AblateQuestion) -> AblateAnswer:
        """Ask the model again with heads switched off, or looking elsewhere."""
        sight = _sight(service, question)

        def changed() -> Ablation:
            return ablate(
                sight.opened,
                sight.source,
                question.heads,
                question.change,
                target=sight.target,
                search=sight.search,
                n_new=sight.n_new,
            )

        found = await service.alone(request, changed)
        return AblateAnswer(
            model=sight.name,
            heads=[head.name for head in found.heads],
            before=found.before.text,
            after=found.after.text,
            has_changed=found.has_changed,
            tokens=list(found.scored_before.pieces),
            changes=list(found.changes),
            change=found.change,
        )

    @router.post(
        "/export",
        response_class=Response,
        responses={200: {"content": {kind.partition(";")[0]: _BYTES for kind in _TYPES.values()}}},
    )
    async def export(request: Request, question: ExportQuestion) -> Response:
        """A picture of a trace as a file."""
        sight = _sight(service, question)
        chosen = question.view.model_dump()
        if chosen["heads"] is not None:
            chosen["heads"] = tuple(chosen["heads"])
        view = View(**chosen)
        kind = question.format
        drawn = await service.alone(request, lambda: picture(service.traces.of(sight), view, kind))
        return _file(drawn, _TYPES[kind], f"attention.{kind}")

    return router


def _sight(service: Service, question: SightQuestion) -> Sight:
    name, opened = service.catalogue.looked_into(question.model)
    bounds = service.settings.bounds
    check_beam(question.beam, bounds)
    is_writer = isinstance(opened, Writer)  # which may begin with nothing, and go on with a line
    if not (question.source.strip() or is_writer):
        raise RequestError(
            "there is nothing to look at: the source sentence is empty", code="empty"
        )
    target = question.target
    if target is not None and not (target if is_writer else target.strip()):
        raise RequestError("the target is empty: give one, or leave it out", code="empty")
    check_size([question.source, target or ""], bounds)
    limit = bounds.looked
    if isinstance(opened, Translator):
        limit = min(limit, opened.limit)
    loaded = loaded_of(opened)
    check_tokens("the source", loaded.source_tokenizer, question.source, limit)
    check_tokens("the target", loaded.target_tokenizer, target or "", limit)
    if question.new is not None and question.new > limit:
        raise RequestError(
            f"{question.new:,} new tokens are too many here: ask for up to {limit:,}",
            status=413,
            code="too-long",
        )
    return Sight(name, opened, question.source, target, question.beam, question.new)


def _file(content: bytes, kind: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=headers)
