"""The keys a recipe knows, and what each may hold, in words: both read from the schema."""

import types
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Le, Lt
from pydantic.fields import FieldInfo

from regard.config.networks import NETWORKS
from regard.config.schema import Recipe
from regard.config.section import Section

NONE = "none"  # TOML has no null: this word stands for it where a key may hold nothing


@cache
def keys(section: type[Section]) -> dict[str, Any]:
    """Each key of a section and its annotation."""
    hints = get_type_hints(section, include_extras=True)
    return {name: hints[name] for name in section.model_fields}


def section_at(section: type[Section], key: str, kind: str) -> type[Section] | None:
    """The section that stands under this key, if it is one; that of the model is of a kind."""
    if section is Recipe and key == "model":
        return NETWORKS[kind]
    annotation = keys(section).get(key)
    is_section = isinstance(annotation, type) and issubclass(annotation, Section)
    return annotation if is_section else None


def all_keys(kind: str, section: type[Section] = Recipe, above: str = "") -> Iterator[str]:
    """Every key in full that a recipe for a model of this kind has: ``model.n_layers``, …"""
    for key in keys(section):
        inner = section_at(section, key, kind)
        if inner:
            yield from all_keys(kind, inner, f"{above}{key}.")
        else:
            yield f"{above}{key}"


def unknown(key: str, kind: str) -> str:
    """What to say of a key that does not exist."""
    known = list(all_keys(kind))
    section, _, last = key.rpartition(".")
    others = [other for other in NETWORKS if key in all_keys(other)]
    if others:
        has = ", ".join(keys(NETWORKS[kind]))
        *most, last_kind = others
        of = f"{', '.join(most)} and {last_kind}" if most else last_kind
        return f"there is no {key} in a model of kind {kind}: it is for {of}; {kind} has {has}"
    # The right word in the wrong section is likelier than a wrong word.
    elsewhere = [one for one in known if one.rpartition(".")[2] == last]
    close = elsewhere or get_close_matches(key, known, n=1, cutoff=0.75)
    if close:
        return f"there is no {key}; did you mean {close[0]}?"
    siblings = ", ".join(
        one.rpartition(".")[2] for one in known if one.rpartition(".")[0] == section
    )
    if section and siblings:
        return f"there is no {key}; {section} has {siblings}"
    return f"there is no {key}; a recipe has {', '.join(keys(Recipe))}"


def annotation_of(key: str, kind: str) -> Any:
    """The annotation of a key given in full."""
    section: type[Section] = Recipe
    *above, last = key.split(".")
    for part in above:
        inner = section_at(section, part, kind)
        assert inner is not None
        section = inner
    return keys(section)[last]


def admits_none(annotation: Any) -> bool:
    """Whether a key of this annotation may hold nothing."""
    return type(None) in get_args(annotation)


def allowed(annotation: Any) -> str:
    """What a key of this annotation may hold, in words."""
    *first, last = _choices(annotation)
    return f"{', '.join(first)} or {last}" if first else last


def _choices(annotation: Any) -> list[str]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return [choice for one in arguments for choice in _choices(one)]
    if origin is Literal:
        return [f"'{one}'" for one in arguments]
    if origin is tuple:
        size = "" if arguments[-1] is Ellipsis else f" of {len(arguments)}"
        return [f"a list{size}, each {allowed(arguments[0])}"]
    if origin is Annotated:
        return [f"{allowed(arguments[0])}{_limits(arguments[1:])}"]
    return [_NAMES[annotation]]


_NAMES = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    type(None): f"'{NONE}'",
}


def _limits(metadata: tuple[Any, ...]) -> str:
    said = []
    for one in metadata:
        match one:
            case FieldInfo():
                said.append(_limits(tuple(one.metadata)).strip())
            case Ge(ge=limit):
                said.append(f"of at least {limit}")
            case Gt(gt=limit):
                said.append(f"above {limit}")
            case Lt(lt=limit):
                said.append(f"below {limit}")
            case Le(le=limit):
                said.append(f"of at most {limit}")
    text = " and ".join(said)
    return f" {text}" if text else ""
