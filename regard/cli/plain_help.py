"""Help in plain words: an option takes N, TEXT or PATH, and defaults are all written alike.

Typer shows types of Python's (``<list[str]>``, ``<bool>``), and sets defaults that are said in
words in brackets of their own.
"""

from pathlib import Path
from types import MethodType
from typing import Any, get_args

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

_TAKES = {int: "N", float: "NUMBER", str: "TEXT", Path: "PATH"}


def _takes(param: TyperOption | TyperArgument, ctx: Any) -> str | None:
    """What stands beside a parameter's name; a switch takes nothing."""
    if isinstance(param, TyperOption) and param.metavar is not None:
        return param.metavar
    annotation: Any = param.type_descriptor.annotation
    parts = get_args(annotation) or (annotation,)  # of a list, what it holds
    return " ".join(_TAKES[part] for part in parts if part in _TAKES) or None


def _default(param: TyperOption | TyperArgument, **asked: Any) -> str:
    """The default as it is shown, whether it is a value or said in words."""
    if isinstance(param.show_default, str):
        return param.show_default
    kind: Any = type(param)
    return str(kind._get_default_string(param, **asked))


class PlainCommand(TyperCommand):
    """A verb with plain help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its parameters, which say in plain words what they take."""
        return _plain(super().get_params(ctx))


class PlainGroup(TyperGroup):
    """Verbs under one name, with plain help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its parameters, which say in plain words what they take."""
        return _plain(super().get_params(ctx))


def _plain(params: list[Any]) -> list[Any]:
    for param in params:
        if isinstance(param, TyperOption | TyperArgument):
            # Typer makes its parameters itself, and asks each how it is to be shown.
            param.display_type_rich = MethodType(_takes, param)  # type: ignore[method-assign]
            param._get_default_string = MethodType(_default, param)  # type: ignore[method-assign]
    return params
