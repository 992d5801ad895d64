"""docs/recipes.md lists every key of the schema, with the default it really has."""

import re
import tomllib
from pathlib import Path

import pytest

from regard.config import (
    NETWORKS,
    DataSection,
    TextSection,
    TrainingSection,
    parse_recipe,
    presets,
)

PAGE = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(\w+)` \| (.+?) \| (.+?) \| .*\|$", re.MULTILINE)
SECTIONS = {
    **{f"model` of kind `{kind}": network for kind, network in NETWORKS.items()},
    "text": TextSection,
    "data": DataSection,
    "training": TrainingSection,
}


def rows(section: str) -> dict[str, tuple[str, str]]:
    """Key -> default and allowed, as the page's table of that section has them."""
    bracketed = section.replace("model`", "model]`") if "kind" in section else f"{section}]"
    after = PAGE.split(f"## `[{bracketed}`", 1)[1]
    return {key: (default, allowed) for key, default, allowed in ROW.findall(after.split("## ")[0])}


@pytest.mark.parametrize("section", SECTIONS)
def test_the_page_lists_every_key_with_its_default(section: str) -> None:
    listed = rows(section)
    fields = SECTIONS[section].model_fields
    assert list(listed) == list(fields)
    for key, field in fields.items():
        default = listed[key][0]
        if field.default is None:
            assert default == "–", key
        else:
            shown = tomllib.loads(f"value = {default.strip('`')}")["value"]
            assert shown == (
                list(field.default) if isinstance(field.default, tuple) else field.default
            ), key


@pytest.mark.parametrize("section", SECTIONS)
def test_the_page_lists_every_choice(section: str) -> None:
    for key, (_, allowed) in rows(section).items():
        schema = SECTIONS[section].model_json_schema()["properties"][key]
        options = [schema, *schema.get("anyOf", [])]
        names = {str(name) for one in options for name in one.get("enum", [])}
        names |= {str(one["const"]) for one in options if "const" in one}
        if key == "task":  # every network says which it can learn
            names = {task for network in NETWORKS.values() for task in network.systems}
        assert set(re.findall(r'`"([^"]+)"`', allowed)) == names, key


def test_the_page_lists_every_preset() -> None:
    listed = re.findall(r"^\| `([\w-]+)` \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)
    assert listed == [(one.name, one.model.shape, one.purpose) for one in presets()]


def test_the_example_is_a_recipe() -> None:
    example = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert example
    for text in example:
        assert parse_recipe(text).name == "my-small-model"
