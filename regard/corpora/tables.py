"""The words of a corpus: TOML files beside its modules, whose longer texts are tables."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def read_words(package: str, name: str) -> dict[str, Any]:
    """The TOML file of that name in a package of ours."""
    return tomllib.loads(files(package).joinpath(name).read_text(encoding="utf-8"))


def rows(table: str) -> list[list[str]]:
    """The lines of a table, each cut at its bars."""
    return [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]


def with_tuples(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields of a frozen class: lists, which TOML has, as tuples."""
    return {key: tuple(one) if isinstance(one, list) else one for key, one in fields.items()}
