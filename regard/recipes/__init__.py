"""Recipes: TOML presets that say everything a run does, and what they may say."""

from regard.recipes.derive import Facts, derive, known, undecided
from regard.recipes.network import Network
from regard.recipes.networks import NETWORKS, ModelSection, TransformerSection
from regard.recipes.presets import preset_names, preset_text, presets
from regard.recipes.read import parse_recipe, read_recipe
from regard.recipes.schema import (
    DataSection,
    Recipe,
    TextSection,
    TrainingSection,
)
from regard.recipes.write import shown, write_recipe

__all__ = [
    "NETWORKS",
    "DataSection",
    "Facts",
    "ModelSection",
    "Network",
    "Recipe",
    "TextSection",
    "TrainingSection",
    "TransformerSection",
    "derive",
    "known",
    "parse_recipe",
    "preset_names",
    "preset_text",
    "presets",
    "read_recipe",
    "shown",
    "undecided",
    "write_recipe",
]
