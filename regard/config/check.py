"""From a table of values to a checked recipe, or to one sentence that says what is wrong."""

from collections.abc import Callable, Mapping
from typing import Any, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from regard.config import keys
from regard.config.networks import NETWORKS
from regard.config.schema import Recipe
from regard.config.section import Section
from regard.config.write import shown
from regard.errors import RecipeError

_DEFAULT = "transformer"
Where = Callable[[str], str]  # from a key in full to the place it was given: " in my.toml", or ""


def check(values: Mapping[str, Any], where: Where = lambda key: "") -> Recipe:
    """The recipe these values make."""
    problems: list[str] = []
    kind = _kind(values, where)
    prepared = _prepare(Recipe, values, "", kind, where, problems)
    if not problems:
        if "model" in prepared:
            prepared["model"] |= {"kind": kind}
        try:
            # TOML has types, so nothing is guessed: "4" is not 4, true is not 1.
            return Recipe.model_validate(prepared, strict=True)
        except ValidationError as error:
            problems = _explain(error, values, kind, where)
    raise RecipeError(_one_sentence(problems))


def _kind(values: Mapping[str, Any], where: Where) -> str:
    """The kind of model, on which it depends what may be said of it."""
    model = values.get("model")
    kind = model.get("kind", _DEFAULT) if isinstance(model, Mapping) else _DEFAULT
    if isinstance(kind, str) and kind in NETWORKS:
        return kind
    *first, last = (f"'{one}'" for one in NETWORKS)
    raise RecipeError(
        f"model.kind = {_shown(kind)}{where('model.kind')} is not possible: give "
        f"{', '.join(first)} or {last}"
    )


def _prepare(
    section: type[Section],
    values: Mapping[str, Any],
    above: str,
    kind: str,
    where: Where,
    problems: list[str],
) -> dict[str, Any]:
    """Refuse unknown keys; write what TOML writes differently in Python's way."""
    prepared: dict[str, Any] = {}
    for key, value in values.items():
        full = f"{above}{key}"
        if key not in keys.keys(section):
            full = _first_leaf(full, value)
            problems.append(f"{keys.unknown(full, kind)}{where(full)}")
            continue
        inner = keys.section_at(section, key, kind)
        if inner is None:
            prepared[key] = _in_python(keys.keys(section)[key], value)
        elif isinstance(value, Mapping):
            prepared[key] = _prepare(inner, value, f"{full}.", kind, where, problems)
        else:
            first = next(iter(keys.keys(inner)))
            problems.append(
                f"{full} = {_shown(value)}{where(full)}: {full} is a section, its values are "
                f"set one by one, as {full}.{first}"
            )
    return prepared


def _first_leaf(full: str, value: Any) -> str:
    """A key inside tells more of what was meant than the name of a section that is none."""
    while isinstance(value, Mapping) and value:
        inner, value = next(iter(value.items()))
        full = f"{full}.{inner}"
    return full


def _in_python(annotation: Any, value: Any) -> Any:
    if value == keys.NONE and keys.admits_none(annotation):
        return None
    if get_origin(annotation) is tuple:
        if isinstance(value, list):
            return tuple(value)
        if isinstance(value, str) and get_args(annotation)[0] is str:
            return (value,)  # one file is a list of one
    return value


def _explain(
    error: ValidationError, values: Mapping[str, Any], kind: str, where: Where
) -> list[str]:
    """One sentence for each key that is wrong; a choice of types gives several errors a key."""
    sentences: dict[str, str] = {}
    for details in error.errors():
        key = _key(details, kind)
        if key not in sentences:
            sentences[key] = _sentence(key, details, values, kind, where)
    return list(sentences.values())


def _key(details: ErrorDetails, kind: str) -> str:
    known = set(keys.all_keys(kind))
    path = [str(part) for part in details["loc"]]
    if path[:2] == ["model", kind]:  # pydantic says which of the networks it tried
        del path[1]
    for end in range(len(path), 0, -1):
        if ".".join(path[:end]) in known:
            return ".".join(path[:end])
    return ".".join(path)


def _sentence(
    key: str, details: ErrorDetails, values: Mapping[str, Any], kind: str, where: Where
) -> str:
    if details["type"] == "value_error":  # said by the schema itself, of several keys together
        said = str(details["ctx"]["error"])
        return f"{key}{where(key)}: {said}" if key else said
    given: Any = values
    for part in key.split("."):
        given = given[part]
    may_be = keys.allowed(keys.annotation_of(key, kind))
    return f"{key} = {_shown(given)}{where(key)} is not possible: give {may_be}"


def _shown(value: Any) -> str:
    text = shown(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _one_sentence(problems: list[str]) -> str:
    more = len(problems) - 1
    return f"{problems[0]} (and {more} more)" if more else problems[0]
