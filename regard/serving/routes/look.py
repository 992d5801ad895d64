"""Our own API: traces, the arithmetic of a cell, heads, changed heads and pictures."""

from dataclasses import asdict
from typing import Any

import numpy as np
from fastapi import APIRouter
from safetensors.numpy import save as serialise
from starlette.requests import Request
from starlette.responses import Response

from regard.errors import UsageError
from regard.inspection.figures import View
from regard.inspection.trace import ATTENTIONS, Trace
from regard.inspection.trace.schema import TraceDocument
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
from regard.serving.settings import check_tokens, read_input
from regard.serving.traces import TraceRequest, picture
from regard.systems import Ablation

_TYPES = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "pdf": "application/pdf",
    "html": "text/html; charset=utf-8",
    "json": "application/json",
}
_BYTES: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
_VECTORS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": _BYTES}, "description": "A safetensors file."}
}
_TRACE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": _BYTES}, "description": "As JSON, or as a file."}
}


def look_routes(service: Service) -> APIRouter:
    """The routes under /api/v1 that look inside."""
    router = APIRouter(prefix="/api/v1", tags=["look"], responses=PROBLEMS)

    @router.post("/trace", response_model=TraceDocument, responses=_TRACE)
    async def trace(request: Request, question: TraceQuestion) -> Response:
        """Every attention on the way from a text to what a model makes of it."""
        asked = _asked(service, question)

        def seen() -> Trace:
            found = service.traces.of(asked)
            if not question.heads:
                return found
            return asked.opened.retrace(found, question.heads, question.change)

        if question.format == "json":
            text = await service.alone(request, lambda: seen().to_json())
            return Response(text, media_type="application/json")
        is_half = question.precision == "float16"
        written = await service.alone(request, lambda: seen().to_bytes(is_half=is_half))
        return _file(written, "application/octet-stream", "trace.trace")

    @router.post("/arithmetic")
    async def arithmetic(request: Request, question: CellQuestion) -> CellAnswer:
        """The real numbers behind one weight: vectors, products, sum, scale, softmax, context."""
        asked = _asked(service, question)
        found, seen = await service.alone(
            request,
            lambda: service.traces.arithmetic(
                asked,
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
            model=asked.name,
            site=numbers.pop("kind"),
            row_token=rows[found.row].text,
            column_token=columns[found.column].text,
            column_tokens=[token.text for token in columns],
            **numbers,
        )

    @router.post("/vectors", response_class=Response, responses=_VECTORS)
    async def vectors(request: Request, question: SightQuestion) -> Response:
        """Queries, keys and values of every head as one safetensors file."""
        asked = _asked(service, question)
        found = await service.alone(request, lambda: service.traces.vectors(asked))
        return _file(serialise(found), "application/octet-stream", "vectors.safetensors")

    @router.post("/heads")
    async def heads(request: Request, question: SightQuestion) -> HeadsAnswer:
        """What every head does in a sentence, in numbers."""
        asked = _asked(service, question)
        seen = await service.alone(request, lambda: service.traces.of(asked))
        return HeadsAnswer(
            model=asked.name,
            source=seen.source.text,
            target=seen.target.text,
            heads=_heads(seen),
        )

    @router.post("/ablate")
    async def switch(request: Request, question: AblateQuestion) -> AblateAnswer:
        """Ask the model again with heads switched off, or looking elsewhere."""
        asked = _asked(service, question)

        def changed() -> Ablation:
            return asked.opened.ablate(
                asked.source,
                question.heads,
                question.change,
                target=asked.target,
                search=asked.search,
                n_new=asked.n_new,
            )

        found = await service.alone(request, changed)
        return AblateAnswer(
            model=asked.name,
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
        asked = _asked(service, question)
        chosen = question.view.model_dump()
        if chosen["heads"] is not None:
            chosen["heads"] = tuple(chosen["heads"])
        view = View(**chosen)
        ending = question.format

        def made() -> bytes:
            if ending == "html":
                return service.traces.page(asked, view)
            return picture(service.traces.of(asked), view, ending)

        drawn = await service.alone(request, made)
        return _file(drawn, _TYPES[ending], f"attention.{ending}")

    return router


def _asked(service: Service, question: SightQuestion) -> TraceRequest:
    served, bounds = service.catalogue.traced(question.model), service.settings.bounds
    opened, target, limit = served.opened, question.target, bounds.looked
    bounds.check_beam(question.beam)
    if not (question.source.strip() or opened.may_begin_empty):
        raise RequestError(
            "there is nothing to look at: the source sentence is empty", code="empty"
        )
    # What goes on from a text may be a line's end.
    if target is not None and not (target if opened.may_begin_empty else target.strip()):
        raise RequestError("the target is empty: give one, or leave it out", code="empty")
    source = read_input(opened, question.source, bounds, limit, "the source")
    bounds.check_size([target or ""])
    check_tokens("the target", opened.loaded.target_tokenizer, target or "", limit)
    if question.new is not None and question.new > limit:
        raise RequestError(
            f"{question.new:,} new tokens are too many here: ask for up to {limit:,}",
            status=413,
            code="too-long",
        )
    return TraceRequest(served.name, opened, source, target, question.beam, question.new)


def _heads(seen: Trace) -> list[HeadAnswer]:
    """Every head of a trace in numbers, each a mean over its rows."""
    if not seen.sites:
        raise UsageError("this model never looks back at words, so it has no heads to speak of")
    found = []
    for site in seen.sites:
        _, tokens = seen.read(site.attention.columns)
        special = [j for j, token in enumerate(tokens) if token.is_special]
        offsets = () if site.attention.is_across else (("before", -1), ("itself", 0), ("after", 1))
        for head, weights in enumerate(site.weights.astype(np.float64)):
            logs = np.log(np.maximum(weights, 1e-300))
            near = {
                name: float(np.trace(weights, offset)) / len(weights) for name, offset in offsets
            }
            found.append(
                HeadAnswer(
                    kind=site.kind,
                    layer=site.layer,
                    head=head,
                    entropy=float(-(weights * logs).sum(-1).mean()),
                    largest=float(weights.max(-1).mean()),
                    on_special=float(weights[:, special].sum(-1).mean()),
                    is_uniform=site.is_uniform[head],
                    **{"before": None, "itself": None, "after": None, **near},
                )
            )
    return found


def _file(content: bytes, kind: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=headers)
