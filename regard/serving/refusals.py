"""What is refused over HTTP: one sentence as JSON, with a stable code and a fitting status."""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import JSONResponse

from regard.errors import RegardError, ServiceError, TraceError

OPENAI = "/v1/"  # below it clients expect an object where others expect a sentence

_TITLES = {
    400: "bad-request",
    404: "not-found",
    405: "method",
    413: "too-large",
    422: "invalid",
}


class RequestError(ServiceError):
    """A request that is not taken, the status to say so with, and perhaps when to come again."""

    def __init__(
        self, sentence: str, *, status: int = 400, code: str = "request", retry: int | None = None
    ) -> None:
        super().__init__(sentence)
        self.status, self.retry = status, retry
        self.code = code

    @property
    def headers(self) -> dict[str, str]:
        """What goes with the status."""
        if self.status == 401:
            return {"WWW-Authenticate": "Bearer"}
        if self.status == 408:  # the rest of the request may still come, and belongs to nothing
            return {"Connection": "close"}
        return {} if self.retry is None else {"Retry-After": str(self.retry)}


def status_of(error: RegardError) -> int:
    """What HTTP calls it: almost always the asker can do something about it."""
    if isinstance(error, RequestError):
        return error.status
    return 500 if isinstance(error, TraceError) else 400


def answer(error: RegardError, path: str) -> JSONResponse:
    """The sentence as a response."""
    headers = error.headers if isinstance(error, RequestError) else {}
    return said(str(error), error.code, status_of(error), path, headers)


def said(
    sentence: str, code: str, status: int, path: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """A sentence and its code, in the form that clients of this path read."""
    body: dict[str, Any] = {"error": sentence, "code": code}
    if path.startswith(OPENAI):
        kind = "server_error" if status >= 500 else "invalid_request_error"
        body = {"error": {"message": sentence, "type": kind, "param": None, "code": code}}
    return JSONResponse(body, status, headers)


def is_json(headers: Mapping[str, str]) -> bool:
    """Whether a request says that its body is JSON."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind.startswith("application/") and kind.endswith(("/json", "+json"))


def code_of(status: int) -> str:
    """The code of a refusal that HTTP itself makes."""
    return _TITLES.get(status, "http")


def _is_name(part: int | str) -> bool:
    """Whether it is the asker's word for a place, and not pydantic's for a kind of value."""
    if isinstance(part, int):
        return True
    return part.isidentifier() and part not in {"body", "str", "int", "float", "bool"}


_NO_OBJECT = {"model_attributes_type", "model_type", "dict_type"}


def one_sentence(errors: Sequence[Mapping[str, Any]]) -> str:
    """The first thing that does not fit, where it stands, and how many more there are.

    Where a value may be of several kinds, each has said what is wrong: the one that came furthest
    into the value was meant.
    """
    if not errors:
        return "the request does not fit its schema"
    alike = [one for one in errors if _field(one) == _field(errors[0])]
    meant = max(alike, key=lambda one: len(one.get("loc", ())))
    place = ".".join(str(part) for part in meant.get("loc", ()) if _is_name(part))
    what = str(meant.get("msg", "invalid")).rstrip(".")
    if meant.get("type") in _NO_OBJECT:
        what = "send a JSON object, {…}"
    n_more = len({_field(one) for one in errors}) - 1
    more = f" (and {n_more} more)" if n_more else ""
    return f"{place or 'the body'}: {what[:1].lower()}{what[1:]}{more}"[:400]


def _field(error: Mapping[str, Any]) -> tuple[int | str, ...]:
    """Under which name the value stands."""
    place = tuple(error.get("loc", ()))
    return place[1:2] if place[:1] == ("body",) else place[:1]
