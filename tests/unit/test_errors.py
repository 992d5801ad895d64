"""One tree of refusals, drawn as it is."""

import inspect

import pytest

from regard import errors
from regard.errors import MissingExtraError, RegardError

KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, RegardError) and kind is not RegardError
]


def test_the_drawing_shows_every_kind() -> None:
    assert errors.__doc__ is not None
    for kind in KINDS:
        assert f"── {kind.__name__} " in errors.__doc__


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_sentence_and_a_code_of_its_own(kind: type[RegardError]) -> None:
    assert kind.__doc__
    assert kind.code == kind.code.lower()
    assert " " not in kind.code
    assert [other.code for other in KINDS].count(kind.code) == 1
    assert kind.code != RegardError.code


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not MissingExtraError])
def test_text_is_what_was_said(kind: type[RegardError]) -> None:
    assert str(kind("what, and what to do next")) == "what, and what to do next"


def test_a_missing_extra_says_how_to_install_it() -> None:
    error = MissingExtraError("serving over HTTP", "serve")
    assert str(error).startswith("serving over HTTP needs ")
    assert "pip install '.[serve]'" in str(error)
    assert error.extra == "serve"
