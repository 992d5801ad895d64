"""Writing a recipe as TOML, so that reading it gives the same recipe."""

from typing import Any

import tomli_w

from regard.config.keys import NONE
from regard.config.schema import Recipe
from regard.config.section import Section


def write_recipe(recipe: Recipe) -> str:
    """Every value as TOML, also those that are the default today and may be another tomorrow."""
    return tomli_w.dumps(_table(recipe))


def _table(section: Section) -> dict[str, Any]:
    """TOML has no null: a key that holds nothing is left out, or says so where that is unusual."""
    table: dict[str, Any] = {}
    for key, field in type(section).model_fields.items():
        value = getattr(section, key)
        if isinstance(value, Section):
            table[key] = _table(value)
        elif isinstance(value, tuple):
            table[key] = list(value)
        elif value is not None:
            table[key] = value
        elif field.default is not None:
            table[key] = NONE
    return table


def shown(value: Any) -> str:
    """A value in a sentence: as a recipe has it, not as Python has it."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(shown, value))}]"
    return repr(value) if isinstance(value, str) else str(value)
