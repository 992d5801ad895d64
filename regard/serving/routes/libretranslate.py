"""LibreTranslate's API, so that its clients work unchanged: forms and JSON, a text or a list."""

import json
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request

from regard.decoding import Search
from regard.serving.catalogue import Served
from regard.serving.guard import require_key
from regard.serving.languages import Guess, detect, name_of
from regard.serving.refusals import RequestError, one_sentence
from regard.serving.routes.schemas import PROBLEMS, ServiceAnswer, Text
from regard.serving.service import Service
from regard.serving.translation import (
    TranslationRequest,
    TranslationResult,
    TranslationRunner,
    check_texts,
)
from regard.systems import Translator

AUTO = "auto"
_FIELDS = 1000  # of a form

Code = Annotated[str, StringConstraints(max_length=20)]


class Asking(BaseModel):
    """What both questions have; words that we do not know are let pass, as LibreTranslate does."""

    model_config = ConfigDict(extra="ignore")
    api_key: str | None = None


class LibreTranslateQuestion(Asking):
    """A text or a list, from one language to another; ``auto`` lets the script decide."""

    q: Text | list[Text]
    source: Code
    target: Code
    format: str = "text"
    alternatives: int = Field(0, ge=0, le=10)


class DetectQuestion(Asking):
    """A text, whose language is asked."""

    q: Text


class Detected(ServiceAnswer):
    """A language, and how sure one can be of it, in percent."""

    confidence: float
    language: str


class LibreTranslateAnswer(BaseModel):
    """A text for a text, a list for a list."""

    model_config = ConfigDict(extra="forbid")
    translatedText: str | list[str]  # noqa: N815 - LibreTranslate's words
    detectedLanguage: Detected | list[Detected] | None = None  # noqa: N815
    alternatives: list[str] | list[list[str]] | None = None


class Language(ServiceAnswer):
    """A language one can translate from, and those it can be translated to."""

    code: str
    name: str
    targets: list[str]


class NamedLanguage(ServiceAnswer):
    """A language and what it is called."""

    code: str
    name: str


class LanguageChoice(ServiceAnswer):
    """What one translates between unless something else is said."""

    source: NamedLanguage
    target: NamedLanguage


class FrontendSettings(ServiceAnswer):
    """What LibreTranslate's clients may ask before they begin."""

    charLimit: int  # noqa: N815 - LibreTranslate's words
    apiKeys: bool  # noqa: N815
    keyRequired: bool  # noqa: N815
    suggestions: bool = False
    filesTranslation: bool = False  # noqa: N815
    supportedFilesFormat: list[str] = Field(default_factory=list)  # noqa: N815
    language: LanguageChoice


def _body(schema: type[BaseModel]) -> dict[str, Any]:
    described = {"schema": schema.model_json_schema()}
    kinds = ("application/json", "application/x-www-form-urlencoded")
    return {"requestBody": {"content": dict.fromkeys(kinds, described), "required": True}}


def libretranslate_routes(service: Service) -> APIRouter:
    """LibreTranslate's routes."""
    router = APIRouter(tags=["LibreTranslate"])
    catalogue = service.catalogue

    @router.post(
        "/translate",
        responses=PROBLEMS,
        openapi_extra=_body(LibreTranslateQuestion),
        response_model_exclude_none=True,
    )
    async def translate(request: Request) -> LibreTranslateAnswer:
        """Translate a text, line by line, or a list of texts."""
        asked = await _read(request, LibreTranslateQuestion)
        require_key(service.settings, request.headers, asked.api_key)
        if asked.format not in ("text", ""):
            raise RequestError(f"the format {asked.format[:20]!r} is not served: send text")
        texts = [asked.q] if isinstance(asked.q, str) else asked.q
        service.settings.bounds.check_size(texts)
        guess: Guess | None = None
        source = asked.source
        if source == AUTO:
            guess = _guess(service, " ".join(texts), asked.target)
            source = guess.language
        served = catalogue.between(source, asked.target)
        found = await _translated(service, request, served, texts, 1 + asked.alternatives)
        is_list = not isinstance(asked.q, str)
        best = [lines[0] for lines in found]
        others = [lines[1:] for lines in found]
        detected = (
            None
            if guess is None
            else Detected(confidence=guess.confidence, language=guess.language)
        )
        return LibreTranslateAnswer(
            translatedText=best if is_list else best[0],
            detectedLanguage=[detected] * len(texts) if detected and is_list else detected,
            alternatives=None if not asked.alternatives else (others if is_list else others[0]),
        )

    @router.get("/languages", responses=PROBLEMS)
    async def languages() -> list[Language]:
        """The languages one can translate from and to."""
        codes = dict.fromkeys(code for pair in catalogue.pairs for code in pair)
        return [
            Language(
                code=code,
                name=name_of(code),
                targets=[target for source, target in catalogue.pairs if source == code],
            )
            for code in codes
        ]

    @router.post("/detect", responses=PROBLEMS, openapi_extra=_body(DetectQuestion))
    async def detect_language(request: Request) -> list[Detected]:
        """In which of the served languages a text may be, by its script."""
        asked = await _read(request, DetectQuestion)
        require_key(service.settings, request.headers, asked.api_key)
        service.settings.bounds.check_size([asked.q])
        guesses = detect(asked.q, (code for pair in catalogue.pairs for code in pair))
        return [
            Detected(confidence=one.confidence, language=one.language)
            for one in guesses
            if one.confidence > 0 or one is guesses[0]
        ]

    @router.get("/frontend/settings", responses=PROBLEMS)
    async def settings() -> FrontendSettings:
        """What LibreTranslate's clients may ask before they begin."""
        first = catalogue.pairs[0] if catalogue.pairs else ("", "")
        source, target = (NamedLanguage(code=code, name=name_of(code)) for code in first)
        return FrontendSettings(
            charLimit=service.settings.bounds.characters,
            apiKeys=bool(service.settings.keys),
            keyRequired=bool(service.settings.keys),
            language=LanguageChoice(source=source, target=target),
        )

    return router


def _guess(service: Service, text: str, target: str) -> Guess:
    """The likeliest language from which one can translate to the target."""
    sources = [source for source, other in service.catalogue.pairs if other == target]
    if not sources:
        raise RequestError(f"no model translates to {target[:20]!r}", code="no-such-pair")
    return detect(text, sources)[0]


async def _translated(
    service: Service, request: Request, served: Served[Translator], texts: list[str], n_best: int
) -> list[list[str]]:
    """Of each text its translations, best first; a model reads a line at a time."""
    lines = [f"{text}\n".splitlines() for text in texts]  # a line break at the end ends a line
    flat = [line for text in lines for line in text if line.strip()]
    bounds = service.settings.bounds
    check_texts(served, flat, bounds)
    width = max(5, n_best)
    runner = TranslationRunner(served, Search(width=width, n_best=n_best), service.settings.rows)
    found: list[TranslationResult] = await service.answer(
        request, runner, [TranslationRequest(line) for line in flat]
    )
    left = iter(found)
    return [_joined(text, left, n_best) for text in lines]


def _joined(lines: list[str], found: Any, n_best: int) -> list[str]:
    """The lines of a text again, for each rank; empty ones stay where they were."""
    parts: list[list[str]] = []
    for line in lines:
        if not line.strip():
            parts.append([""] * n_best)
            continue
        texts = [one.text for one in next(found).translations]
        parts.append(texts + [texts[-1]] * (n_best - len(texts)))
    return ["\n".join(part[rank] for part in parts) for rank in range(n_best)]


async def _read(request: Request, schema: type[Any]) -> Any:
    """The question, in whichever of its forms it came."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if media_type == "application/x-www-form-urlencoded":
            # As browsers write it, or with the text as it is, as curl does.
            text = (await request.body()).decode()
            values = parse_qs(text, keep_blank_values=True, max_num_fields=_FIELDS, errors="strict")
            given = _from_form(values)
        elif media_type == "multipart/form-data":
            given = _from_form(await _form(request))
        else:
            given = json.loads(await request.body())
        return schema.model_validate(given)
    except ValidationError as error:
        raise RequestError(one_sentence(error.errors()), status=422, code="invalid") from None
    except (ValueError, RecursionError):
        raise RequestError(
            "the body is neither JSON nor a form that can be read", code="body"
        ) from None


async def _form(request: Request) -> Mapping[str, list[str]]:
    try:
        form = await request.form(max_files=0, max_fields=_FIELDS, max_part_size=1 << 20)
    except (HTTPException, MultiPartException, KeyError, AssertionError) as error:
        raise ValueError from error
    values: dict[str, list[str]] = {}
    for key, value in form.multi_items():
        if not isinstance(value, str):
            raise ValueError("a file is no text")
        values.setdefault(key, []).append(value)
    return values


def _from_form(values: Mapping[str, list[str]]) -> dict[str, Any]:
    """The last value counts; only the text may come several times."""
    given: dict[str, Any] = {key: many[-1] for key, many in values.items()}
    if len(values.get("q", ())) > 1:
        given["q"] = values["q"]
    return given
