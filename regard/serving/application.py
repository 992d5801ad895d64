"""The application: routes, refusals, and the layers that every request passes."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import torch
from fastapi import FastAPI, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from regard import __version__
from regard.errors import RegardError
from regard.serving import metrics as prometheus
from regard.serving.catalogue import Catalogue
from regard.serving.guard import KEY_IN_BODY, KEYED, Guard
from regard.serving.logs import LOGGER
from regard.serving.metrics import Metrics
from regard.serving.queue import BatchQueue
from regard.serving.refusals import answer, code_of, is_json, one_sentence, said
from regard.serving.routes.explain import explain_routes
from regard.serving.routes.language import language_routes
from regard.serving.routes.libretranslate import libretranslate_routes
from regard.serving.routes.look import look_routes
from regard.serving.routes.openai import openai_routes
from regard.serving.routes.runs import run_routes
from regard.serving.routes.schemas import PROBLEMS, HealthAnswer
from regard.serving.routes.translate import translate_routes
from regard.serving.routes.use import use_routes
from regard.serving.service import Service
from regard.serving.settings import Settings
from regard.serving.watch import Watch

_log = logging.getLogger(LOGGER)

RECORDED = Path(__file__).parent / "recorded"
_PAGE = ("regard.inspection", "viewer")
_DESCRIPTION = "Translate with attention models, and look inside them while they do."

_SCHEMES: dict[str, dict[str, str]] = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "Authorization: Bearer KEY, with a key of `regard serve --api-key KEY`.",
    },
    "header": {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "The same key in a header of its own.",
    },
}
_COUNTS: dict[int | str, dict[str, Any]] = {
    **PROBLEMS,
    200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
}


def create_app(catalogue: Catalogue, settings: Settings | None = None) -> ASGIApp:
    """The whole service as one ASGI application; its queue runs while it is served."""
    chosen = settings or Settings()
    metrics = Metrics()
    queue = BatchQueue(
        capacity=chosen.bounds.waiting,
        gather=chosen.gather,
        n_workers=_n_workers(catalogue, chosen),
        on_batch=metrics.batch,
    )
    metrics.watch_queue(lambda: queue.n_waiting)
    service = Service(catalogue, chosen, queue)
    return Watch(Guard(_routed(service, metrics), chosen), metrics)


def openapi() -> dict[str, Any]:
    """OpenAPI's description of the service, whatever it serves."""
    return _routed(Service(Catalogue(), Settings(), BatchQueue()), Metrics()).openapi()


def _n_workers(catalogue: Catalogue, settings: Settings) -> int:
    """A worker for each core, if there are as many sentences; a GPU has one for all."""
    is_on_cpu = all(one.opened.device.type == "cpu" for one in catalogue.models)
    return min(torch.get_num_threads(), settings.rows) if is_on_cpu else 1


def _routed(service: Service, metrics: Metrics) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        service.queue.start()
        yield
        service.queue.close()

    # The usual pages of documentation fetch their programs from elsewhere: only the schema is here.
    app = FastAPI(
        title="Regard",
        version=__version__,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
    )
    for routes in (
        use_routes,
        translate_routes,
        look_routes,
        language_routes,
        run_routes,
        libretranslate_routes,
        openai_routes,
    ):
        app.include_router(routes(service))
    app.include_router(explain_routes())

    @app.get("/health", tags=["service"], responses=PROBLEMS)
    async def health() -> HealthAnswer:
        """Say that the service is there, and what computes."""
        found = (one.opened.kernels for one in service.catalogue.models)
        return HealthAnswer(kernels=next(filter(None, found), None))

    @app.get("/metrics", tags=["service"], response_class=Response, responses=_COUNTS)
    async def counts() -> Response:
        """Counts for Prometheus."""
        return Response(metrics.written(), headers={"Content-Type": prometheus.TYPE})

    _answer_refusals(app)
    _describe_keys(app, are_needed=bool(service.settings.keys))
    app.mount("/", StaticFiles(directory=RECORDED, packages=[_PAGE], html=True), name="page")
    return app


def _answer_refusals(app: FastAPI) -> None:
    """One sentence for whatever is refused, and none of the user's words in it by accident."""

    @app.exception_handler(RegardError)
    async def refused(request: Request, error: RegardError) -> Response:
        return answer(error, request.url.path)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        errors: Any = error.errors()
        if errors and errors[0].get("type") == "json_invalid":
            return said("the body is not valid JSON", "body", 422, request.url.path)
        if errors and errors[0].get("loc") == ("body",) and not is_json(request.headers):
            sentence = "the body is not called JSON: send it with Content-Type: application/json"
            return said(sentence, "body", 422, request.url.path)
        return said(one_sentence(errors), "invalid", 422, request.url.path)

    @app.exception_handler(HTTPException)
    async def refused_by_http(request: Request, error: HTTPException) -> Response:
        status, headers = error.status_code, dict(error.headers or {})
        if status in (404, 405):  # the page's files take every other address, and every method
            known = app.openapi()["paths"].get(request.url.path)
            status = 405 if known else 404
            headers = {"Allow": ", ".join(known).upper()} if known else {}
        sentence = {
            404: "there is nothing at this address: /openapi.json lists what there is",
            405: "this address is not asked in this way: see /openapi.json",
            400: "the body cannot be read: send JSON in UTF-8, less deep and with shorter numbers",
        }.get(status, str(error.detail))
        return said(sentence, code_of(status), status, request.url.path, headers)

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:
        _log.error("failed", extra={"facts": {"error": type(error).__name__}})
        sentence = "something went wrong here, not with the request: the log says where"
        return said(sentence, "internal", 500, request.url.path)


def _describe_keys(app: FastAPI, *, are_needed: bool) -> None:
    """Add the ways to send a key; and to what needs one that it does, if anything does here."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is not None:
            return app.openapi_schema
        schema = plain()
        schema.setdefault("components", {})["securitySchemes"] = _SCHEMES
        for path, operations in schema["paths"].items():
            if are_needed and path.startswith(KEYED):
                for operation in operations.values():
                    operation["security"] = _needed(path)
        return schema

    app.openapi = described  # type: ignore[method-assign]


def _needed(path: str) -> list[dict[str, list[str]]]:
    """Either of the ways; and none of them where the body may hold the key."""
    either: list[dict[str, list[str]]] = [{name: []} for name in _SCHEMES]
    return [*either, {}] if path in KEY_IN_BODY else either
