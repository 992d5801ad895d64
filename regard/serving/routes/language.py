"""Our own API for models that read one text: stories token by token, and words taken out."""

from collections.abc import AsyncIterator
from typing import Any, Literal

from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from regard.errors import RegardError
from regard.serving.generating import Wish
from regard.serving.refusals import RequestError
from regard.serving.routes.events import EVENTS, line
from regard.serving.routes.schemas import PROBLEMS, Name, Place, Question, Text
from regard.serving.service import Service
from regard.serving.storyteller import Spelled, Storyteller
from regard.serving.telling import Telling, room_for
from regard.serving.translating import check_size
from regard.systems import Writer
from regard.systems.continuation import gone_on, trace_continuation


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


class FoundAnswer(BaseModel):
    """A word that fits, how probable it is, and the text with it in its place."""

    word: str = Field(description="As plain text.")
    token: str = Field(
        description="As the vocabulary has it, so that no two are alike: `▁cat` has a space before "
        "it, `cat` (`##cat` in word pieces) goes on from what stands there, `<0xE4>` is a byte."
    )
    probability: float
    text: str


class FillAnswer(BaseModel):
    """For each [MASK] the words that fit best, best first."""

    model: str
    gaps: list[list[FoundAnswer]]


_STORY: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {EVENTS: {"schema": {"type": "string"}}},
        "description": "One JSON object a line: `token` (its id, what it adds to the text, its "
        "log-probability) as each is written, then `done` with the reason (`stop`, or `length` "
        "where no more was asked for or can be looked at), or `error`.",
    }
}
_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    }
}


def language_routes(service: Service) -> APIRouter:
    """The routes under /api/v1 of language models."""
    router = APIRouter(prefix="/api/v1", tags=["language"], responses=PROBLEMS)
    bounds = service.settings.bounds

    @router.post("/generate", response_class=StreamingResponse, responses=_STORY)
    async def generate(question: GenerateQuestion) -> StreamingResponse:
        """Write on from a prompt, token by token, as far as all of it can be looked at together."""
        writer = service.catalogue.storyteller(question.model)
        check_size([question.prompt], bounds)
        most = min(question.max_tokens, room_for(writer, question.prompt, bounds))
        wish = Wish(
            prompt=question.prompt,
            max_tokens=most,
            temperature=question.temperature,
            top_k=question.top_k,
            top_p=question.top_p,
            seed=question.seed,
        )
        events = service.begin(Telling(writer), [wish])
        return StreamingResponse(_lines(events, most), media_type=EVENTS)

    @router.post("/generate/trace", response_class=Response, responses=_FILE)
    async def look(request: Request, question: WrittenQuestion) -> Response:
        """Every attention behind a story: a trace file of the very tokens that were written."""
        writer = service.catalogue.storyteller(question.model)
        check_size([question.prompt], bounds)
        _check_tokens(writer, question.tokens, room_for(writer, question.prompt, bounds))
        opened = Writer(writer.loaded, writer.model)

        def traced() -> bytes:
            seen = trace_continuation(opened, gone_on(opened, question.prompt, question.tokens))
            return seen.to_bytes(is_half=question.precision == "float16")

        written = await service.alone(request, traced)
        return Response(written, media_type="application/octet-stream")

    @router.post("/fill")
    async def fill(request: Request, question: FillQuestion) -> FillAnswer:
        """Find the words that were taken out of a text."""
        reader = service.catalogue.reader(question.model)
        check_size([question.text], bounds)
        found = await service.alone(request, lambda: reader.finder.fill(question.text, question.k))
        gaps = [[FoundAnswer(**vars(one)) for one in gap] for gap in found]
        return FillAnswer(model=reader.name, gaps=gaps)

    return router


def _check_tokens(writer: Storyteller, tokens: list[int], most: int) -> None:
    if len(tokens) > most:
        raise RequestError(
            f"{len(tokens):,} tokens after this prompt are too many to look at together: give up "
            f"to {most:,}",
            status=413,
            code="too-long",
        )
    size = len(writer.loaded.source_tokenizer)
    unknown = next((id_ for id_ in tokens if id_ >= size), None)
    if unknown is not None:
        raise RequestError(
            f"there is no token {unknown}: {writer.name} knows {size:,}, counted from 0",
            code="no-such-token",
        )


async def _lines(events: AsyncIterator[tuple[int, Any]], most: int) -> AsyncIterator[bytes]:
    n_written = 0
    try:
        async for _, token in events:
            assert isinstance(token, Spelled)
            n_written += 1
            yield line(
                {
                    "event": "token",
                    "id": token.id,
                    "text": token.text,
                    "log_probability": token.log_probability,
                }
            )
        yield line({"event": "done", "reason": "length" if n_written >= most else "stop"})
    except RegardError as error:
        yield line({"event": "error", "error": str(error), "code": error.code})
