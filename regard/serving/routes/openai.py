"""OpenAI's completions, so that its clients work unchanged with models that write text."""

import json
import time
import uuid
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from regard.errors import RegardError
from regard.serving.catalogue import Served
from regard.serving.generation import (
    Completion,
    GenerationRequest,
    GenerationRunner,
    Reason,
    TextChunk,
)
from regard.serving.refusals import RequestError
from regard.serving.routes.schemas import OPENAI_PROBLEMS, Name, ServiceAnswer, Text
from regard.serving.service import Service
from regard.systems import TextGenerator

Stop = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Real = Annotated[float, Field(allow_inf_nan=False)]


class StreamOptions(BaseModel):
    """Whether the last event says how many tokens there were."""

    include_usage: bool = False


class CompletionQuestion(BaseModel):
    """What is asked of /v1/completions; words that change nothing here are let pass."""

    model_config = ConfigDict(extra="ignore")
    model: Name
    prompt: Text | list[Text] = ""
    max_tokens: int | None = Field(16, ge=1, le=1_000_000)
    temperature: Real | None = Field(1.0, ge=0, le=2)
    top_p: Real | None = Field(1.0, gt=0, le=1)
    n: int | None = Field(1, ge=1, le=128)
    best_of: int | None = Field(None, ge=1, le=128)
    stop: Stop | list[Stop] | None = None
    seed: int | None = Field(None, ge=-(2**63), lt=2**63)
    echo: bool | None = False
    suffix: str | None = None
    logprobs: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    logit_bias: dict[str, float] | None = None
    stream: bool | None = False
    stream_options: StreamOptions | None = None


class OpenAIModel(ServiceAnswer):
    """A model that writes text."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "regard"


class OpenAIModels(ServiceAnswer):
    """Every model that writes text."""

    object: Literal["list"] = "list"
    data: list[OpenAIModel]


class CompletionChoice(ServiceAnswer):
    """A text, or a piece of one; without a reason it goes on."""

    index: int
    text: str
    logprobs: None = None
    finish_reason: Reason | None


class CompletionUsage(ServiceAnswer):
    """How many tokens were read and written."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class CompletionAnswer(BaseModel):
    """What was written; of a stream, a piece of it, and at its end how many tokens it was."""

    model_config = ConfigDict(extra="forbid")
    id: str
    object: Literal["text_completion"]
    created: int
    model: str
    choices: list[CompletionChoice]
    usage: CompletionUsage | None = None


_COMPLETIONS: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
        "description": "All at once; or with `stream`, events whose data are such objects with a "
        "piece each, then `[DONE]`.",
    }
}


def openai_routes(service: Service) -> APIRouter:
    """OpenAI's routes."""
    router = APIRouter(prefix="/v1", tags=["OpenAI"], responses=OPENAI_PROBLEMS)

    @router.get("/models")
    async def models() -> OpenAIModels:
        """The models that write text."""
        return OpenAIModels(data=[OpenAIModel(id=one.name) for one in service.catalogue.generators])

    @router.get("/models/{name}")
    async def model(name: str) -> OpenAIModel:
        """One of them."""
        return OpenAIModel(id=service.catalogue.generator(name).name)

    @router.post("/completions", response_model=CompletionAnswer, responses=_COMPLETIONS)
    async def completions(request: Request, question: CompletionQuestion) -> Response:
        """Go on from a prompt, or several; with ``stream`` as server-sent events."""
        served = service.catalogue.generator(question.model)
        _refuse_unknown(question)
        wanted = _requests(service, served, question)
        head = {
            "id": f"cmpl-{uuid.uuid4().hex}",
            "object": "text_completion",
            "created": int(time.time()),
            "model": served.name,
        }
        n_prompt = sum(map(len, served.opened.tokenizer.encode_many(_prompts(question))))
        runner = GenerationRunner(served, service.settings.rows)
        echoed = [one.prompt if question.echo else "" for one in wanted]
        if question.stream:
            wants_usage = bool(question.stream_options and question.stream_options.include_usage)
            events = service.begin(runner, wanted)
            stream = _stream(events, head, echoed, n_prompt if wants_usage else None)
            return StreamingResponse(stream, media_type="text/event-stream")
        found: list[Completion] = await service.answer(request, runner, wanted)
        choices = [
            _choice(i, echo + one.text, one.reason)
            for i, (one, echo) in enumerate(zip(found, echoed, strict=True))
        ]
        usage = _usage(n_prompt, sum(one.n_tokens for one in found))
        return JSONResponse({**head, "choices": choices, "usage": usage})

    return router


def _prompts(question: CompletionQuestion) -> list[str]:
    return [question.prompt] if isinstance(question.prompt, str) else question.prompt


def _refuse_unknown(question: CompletionQuestion) -> None:
    for name in ("suffix", "logprobs", "frequency_penalty", "presence_penalty", "logit_bias"):
        if getattr(question, name):
            raise RequestError(f"{name} is not served: leave it out", code="not-served")
    if question.best_of is not None and question.best_of != (question.n or 1):
        raise RequestError("best_of is not served: ask for n texts and choose", code="not-served")


def _requests(
    service: Service, served: Served[TextGenerator], question: CompletionQuestion
) -> list[GenerationRequest]:
    """One for each prompt and each of its n texts; every text has a chance of its own."""
    bounds, n = service.settings.bounds, question.n or 1
    prompts = _prompts(question)
    bounds.check_size([text for text in prompts for _ in range(n)])
    stop = [question.stop] if isinstance(question.stop, str) else question.stop or []
    if len(stop) > 4:
        raise RequestError(f"{len(stop)} words that end a text are too many: give up to 4")
    most = min(question.max_tokens or 16, bounds.new_tokens)
    for text in prompts:
        n_tokens = len(served.opened.tokenizer.encode(text))
        if n_tokens >= (context := served.opened.limit):
            raise RequestError(
                f"the prompt has {n_tokens:,} tokens, and {served.name} sees {context:,} at "
                f"once: shorten it to {context - 1:,} or fewer",
                code="context_length_exceeded",
            )
    seed = question.seed if question.seed is not None else uuid.uuid4().int % 2**31
    return [
        GenerationRequest(
            prompt=text,
            max_tokens=most,
            temperature=1.0 if question.temperature is None else question.temperature,
            top_p=1.0 if question.top_p is None else question.top_p,
            seed=seed + i,
            stop=tuple(stop),
        )
        for text in prompts
        for i in range(n)
    ]


def _choice(index: int, text: str, reason: str | None) -> dict[str, Any]:
    return {"index": index, "text": text, "logprobs": None, "finish_reason": reason}


def _usage(n_prompt: int, n_written: int) -> dict[str, int]:
    return {
        "prompt_tokens": n_prompt,
        "completion_tokens": n_written,
        "total_tokens": n_prompt + n_written,
    }


async def _stream(
    events: AsyncIterator[tuple[int, Any]],
    head: dict[str, Any],
    echoed: list[str],
    n_prompt: int | None,
) -> AsyncIterator[bytes]:
    n_written = 0
    try:
        for i, text in enumerate(echoed):
            if text:
                yield _event({**head, "choices": [_choice(i, text, None)]})
        async for place, chunk in events:
            assert isinstance(chunk, TextChunk)
            n_written += chunk.n_tokens
            yield _event({**head, "choices": [_choice(place, chunk.text, chunk.reason)]})
        if n_prompt is not None:
            yield _event({**head, "choices": [], "usage": _usage(n_prompt, n_written)})
    except RegardError as error:
        yield _event({"error": {"message": str(error), "type": "server_error", "code": error.code}})
    yield b"data: [DONE]\n\n"


def _event(data: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
