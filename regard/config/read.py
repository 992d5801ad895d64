"""Reading recipes: a preset by name or a file of one's own, with values changed by hand."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from regard.config.check import check
from regard.config.presets import ENDING, preset_text
from regard.config.schema import Recipe
from regard.errors import RecipeError

EXTENDS = "extends"


def read_recipe(name_or_path: str | Path, overrides: Iterable[str] = ()) -> Recipe:
    """The recipe of that preset or file, changed by overrides such as ``model.n_layers=4``.

    A file may begin with ``extends = "transformer-small"`` (or another file, beside itself), and
    then says only what is different.
    """
    values, where = _with_base(name_or_path, Path(), ())
    return _finish(values, where, overrides)


def parse_recipe(text: str, where: str = "the recipe", overrides: Iterable[str] = ()) -> Recipe:
    """The recipe a TOML text holds; ``where`` names the text in messages."""
    values = _parse(text, where)
    if EXTENDS in values:
        values, where = _extended(values, where, Path(), ())
    return _finish(values, where, overrides)


def _finish(values: dict[str, Any], where: str, overrides: Iterable[str]) -> Recipe:
    changed: dict[str, Any] = {}
    for override in overrides:
        changed = _merged(changed, _parse_override(override))
    by_hand = set(_leaves(changed))
    return check(
        _changed(values, changed),
        lambda key: "" if any(_touches(one, key) for one in by_hand) else f" in {where}",
    )


def _with_base(
    name_or_path: str | Path, beside: Path, above: tuple[str, ...]
) -> tuple[dict[str, Any], str]:
    """The values of a recipe and of all it extends, and its name for messages."""
    if not _is_path(name_or_path):
        name = str(name_or_path)
        return _parse(preset_text(name), f"the preset {name}"), f"the preset {name}"
    path = beside / name_or_path
    if str(path) in above:
        raise RecipeError(
            f"{above[0]} extends itself ({' -> '.join((*above, str(path)))}): "
            f"take one {EXTENDS} out"
        )
    where = str(path)
    values = {"name": path.stem, **_parse(_text(path), where)}
    if EXTENDS in values:
        values, where = _extended(values, where, path.parent, (*above, str(path)))
    return values, where


def _extended(
    values: dict[str, Any], where: str, beside: Path, above: tuple[str, ...]
) -> tuple[dict[str, Any], str]:
    base_name = values.pop(EXTENDS)
    if not isinstance(base_name, str):
        raise RecipeError(
            f"{EXTENDS} = {base_name} in {where} is not possible: give the name of a preset, "
            "or of a recipe file"
        )
    base, _ = _with_base(base_name, beside, above)
    # What the base is for, and the base's name, are not what this recipe is for.
    return _changed({**base, "name": "unnamed", "purpose": ""}, values), where


def _is_path(name_or_path: str | Path) -> bool:
    text = str(name_or_path)
    return isinstance(name_or_path, Path) or text.endswith(ENDING) or "/" in text or "\\" in text


def _text(path: Path) -> str:
    if path.is_dir():
        raise RecipeError(f"{path} is a folder: give a recipe file, whose name ends in {ENDING}")
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise RecipeError(
            f"there is no recipe file {path}: give the path of one, or the name of a preset "
            "(`regard recipes` lists them)"
        ) from error
    except UnicodeDecodeError as error:
        raise RecipeError(
            f"{path} is not UTF-8 text (byte {error.start} is in the way): save it as UTF-8"
        ) from error
    except OSError as error:
        raise RecipeError(f"the recipe file {path} cannot be read: {error.strerror}") from error


def _parse(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # an integer may have too many digits to be one
        said = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", str(error))
        reason = said[1] if said else str(error)
        line = (said and said[2]) or text.count("\n") + (not text.endswith("\n"))
        raise RecipeError(f"{where}, line {line} is not TOML: {reason}") from error


def _parse_override(override: str) -> dict[str, Any]:
    key, equals, written = override.partition("=")
    parts = [part.strip() for part in key.split(".")]
    if not equals or not all(parts):
        raise RecipeError(
            f"{override!r} changes nothing: write it as key=value, as in model.n_layers=4"
        )
    value = _parse_value(written.strip())
    for part in reversed(parts):
        value = {part: value}
    assert isinstance(value, dict)
    return value


def _parse_value(written: str) -> Any:
    """A TOML value; what is none is text, so that quotes may be left out."""
    try:
        parsed = tomllib.loads(f"value = {written}")
    except (ValueError, RecursionError):
        return written
    return parsed["value"] if len(parsed) == 1 else written


def _changed(recipe: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The recipe with changes: a number of layers alone is that of encoder and decoder."""
    model, changed = recipe.get("model"), changes.get("model")
    if isinstance(model, dict) and isinstance(changed, Mapping) and "n_layers" in changed:
        model = {key: value for key, value in model.items() if key != "n_decoder_layers"}
        recipe = {**recipe, "model": model}
    return _merged(recipe, changes)


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """The values of both tables; where both have one, that of the table above."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        is_table = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[key] = _merged(old, value) if is_table else value  # type: ignore[arg-type]
    return merged


def _leaves(values: Mapping[str, Any], above: str = "") -> Iterable[str]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{above}{key}.")
        else:
            yield f"{above}{key}"


def _touches(given: str, key: str) -> bool:
    """Whether a value given by hand is part of what is wrong at ``key``."""
    return f"{given}.".startswith(f"{key}.") or f"{key}.".startswith(f"{given}.")
