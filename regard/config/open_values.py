"""Values a recipe leaves open ("auto"): which they are, and refusing what is still open."""

from collections.abc import Iterator
from typing import Literal, TypeVar

from regard.config.schema import Recipe
from regard.config.section import Auto, Section
from regard.errors import RecipeError

Value = TypeVar("Value", bound=float)
AUTO: Literal["auto"] = "auto"


def known(value: Value | Auto, key: str) -> Value:
    """The value itself, which a recipe that went through ``derive`` has."""
    if value == AUTO:
        raise RecipeError(
            f"{key} is still 'auto': it is chosen when the data is known; give a value to do "
            "without data"
        )
    return value


def undecided(recipe: Recipe) -> tuple[str, ...]:
    """The keys that are still "auto"."""
    return tuple(_undecided(recipe, ""))


def _undecided(section: Section, above: str) -> Iterator[str]:
    for key in type(section).model_fields:
        value = getattr(section, key)
        if isinstance(value, Section):
            yield from _undecided(value, f"{above}{key}.")
        elif value == AUTO and _may_be_auto(section, key):
            yield f"{above}{key}"


def _may_be_auto(section: Section, key: str) -> bool:
    """A recipe may be named "auto"; that decides nothing."""
    return type(section).model_fields[key].annotation is not str
