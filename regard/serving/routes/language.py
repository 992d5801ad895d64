"""Our own API for models that read one text: stories token by token, and words taken out."""

from collections.abc import AsyncIterator
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from regard.errors import RegardError
from regard.serving.catalogue import Served
from regard.serving.generation import GenerationRequest, GenerationRunner, Reason, TextChunk
from regard.serving.refusals import RequestError
from regard.serving.routes.schemas import (
    PROBLEMS,
    ErrorEvent,
    EventStream,
    Name,
    Place,
    Question,
    ServiceAnswer,
    Text,
    line,
    stream_of,
)
from regard.serving.service import Service
from regard.serving.settings import Bounds
from regard.systems import FoundWord, TextGenerator


class GenerateQuestion(Question):
    """How to go on from a prompt; a temperature of 0 takes the most probable token."""

    model: Name | None = Field(None, description="A name of /api/v1/info; else the first.")
    prompt: Text = ""
    max_tokens: int = Field(100, ge=1, le=1_000_000)
    temperature: float = Field(0.8, ge=0, le=10, allow_inf_nan=False)
    top_k: int = Field(0, ge=0, le=1_000_000, description="Among the K most probable; 0: all.")
    top_p: float = Field(1.0, gt=0, le=1, description="Among the fewest that reach this share.")
    seed: int = Field(1, ge=0, lt=2**63)


class WrittenQuestion(Question):
    """A prompt, and the ids of the tokens that were written after it."""

    model: Name | None = None
    prompt: Text = ""
    tokens: list[Place] = Field(min_length=1, max_length=10_000)
    precision: Literal["float32", "float16"] = "float32"


class FillQuestion(Question):
    """A text with [MASK] where words are missing, and how many words to find for each."""

    model: Name | None = None
    text: Text
    k: int = Field(5, ge=1, le=100)


class FillAnswer(ServiceAnswer):
    """For each [MASK] the words that fit best, best first."""

    model: str
    gaps: tuple[tuple[FoundWord, ...], ...] = Field(
        description="A word as plain text; its token as the vocabulary has it, so that no two are "
        "alike: `▁cat` has a space before it, `cat` (`##cat` in word pieces) goes on from what "
        "stands there, `<0xE4>` is a byte; its probability; and the text with it in its place."
    )


class TokenEvent(ServiceAnswer):
    """A token as it is written: its id, what it adds to the text, its log-probability."""

    event: Literal["token"] = "token"
    id: int
    text: str
    log_probability: float


class GeneratedEvent(ServiceAnswer):
    """The end of a story, and why it is the end."""

    event: Literal["done"] = "done"
    reason: Reason = Field(
        description="`length` where no more was asked for, or no more can be looked at."
    )


_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    }
}


def language_routes(service: Service) -> APIRouter:
    """The routes under /api/v1 of language models."""
    router = APIRouter(prefix="/api/v1", tags=["language"], responses=PROBLEMS)
    bounds = service.settings.bounds

    @router.post(
        "/generate",
        **stream_of(
            *(TokenEvent, GeneratedEvent, ErrorEvent),
            description="One JSON object a line: `token` as each is written, then `done` with the "
            "reason, or `error`.",
        ),
    )
    async def generate(question: GenerateQuestion) -> EventStream:
        """Write on from a prompt, token by token, as far as all of it can be looked at together."""
        writer = service.catalogue.generator(question.model)
        bounds.check_size([question.prompt])
        most = min(question.max_tokens, _room(writer, question.prompt, bounds))
        wanted = GenerationRequest(
            prompt=question.prompt,
            max_tokens=most,
            temperature=question.temperature,
            top_k=question.top_k,
            top_p=question.top_p,
            seed=question.seed,
        )
        events = service.begin(GenerationRunner(writer, 1, has_tokens=True), [wanted])
        return EventStream(_lines(events))

    @router.post("/generate/trace", response_class=Response, responses=_FILE)
    async def look(request: Request, question: WrittenQuestion) -> Response:
        """Every attention behind a story: a trace file of the very tokens that were written."""
        writer = service.catalogue.generator(question.model)
        bounds.check_size([question.prompt])
        _check_tokens(writer, question.tokens, _room(writer, question.prompt, bounds))

        def traced() -> bytes:
            seen = writer.opened.trace_written(question.prompt, question.tokens)
            return seen.to_bytes(is_half=question.precision == "float16")

        written = await service.alone(request, traced)
        return Response(written, media_type="application/octet-stream")

    @router.post("/fill")
    async def fill(request: Request, question: FillQuestion) -> FillAnswer:
        """Find the words that were taken out of a text."""
        encoder = service.catalogue.encoder(question.model)
        bounds.check_size([question.text])
        found = await service.alone(request, lambda: encoder.opened.fill(question.text, question.k))
        return FillAnswer(model=encoder.name, gaps=found.gaps)

    return router


def _check_tokens(writer: Served[TextGenerator], tokens: list[int], most: int) -> None:
    if len(tokens) > most:
        raise RequestError(
            f"{len(tokens):,} tokens after this prompt are too many to look at together: give up "
            f"to {most:,}",
            status=413,
            code="too-long",
        )
    size = len(writer.opened.tokenizer)
    unknown = next((id_ for id_ in tokens if id_ >= size), None)
    if unknown is not None:
        raise RequestError(
            f"there is no token {unknown}: {writer.name} knows {size:,}, counted from 0",
            code="no-such-token",
        )


def _room(writer: Served[TextGenerator], prompt: str, bounds: Bounds) -> int:
    """How many tokens can follow a prompt so that all are seen, and can be looked at, together."""
    n_prompt = len(writer.opened.tokenizer.encode(prompt))
    limit = min(writer.opened.limit, bounds.looked)
    if n_prompt >= limit:
        raise RequestError(
            f"the prompt has {n_prompt:,} tokens, and up to {limit:,} can be looked at together "
            "with what follows: shorten it",
            status=413,
            code="too-long",
        )
    return limit - max(1, n_prompt)


async def _lines(events: AsyncIterator[tuple[int, TextChunk]]) -> AsyncIterator[bytes]:
    try:
        async for _, chunk in events:
            if chunk.token is None:
                assert chunk.reason is not None  # which the last one says
                yield line(GeneratedEvent(reason=chunk.reason))
            else:
                odds = chunk.token.log_probability
                yield line(TokenEvent(id=chunk.token.token, text=chunk.text, log_probability=odds))
    except RegardError as error:
        yield line(ErrorEvent(error=str(error), code=error.code))
