"""Recipes: TOML presets that say everything a run does, and what they may say."""

from regard.config.network import Network
from regard.config.networks import NETWORKS, ModelSection, TransformerSection
from regard.config.open_values import known, undecided
from regard.config.presets import preset_names, preset_text, presets
from regard.config.read import parse_recipe, read_recipe
from regard.config.schema import (
    DataSection,
    Recipe,
    TextSection,
    TrainingSection,
)
from regard.config.teaching import FIXED, Lesson, parse_lesson
from regard.config.write import shown, write_recipe

__all__ = [
    "FIXED",
    "NETWORKS",
    "DataSection",
    "Lesson",
    "ModelSection",
    "Network",
    "Recipe",
    "TextSection",
    "TrainingSection",
    "TransformerSection",
    "known",
    "parse_lesson",
    "parse_recipe",
    "preset_names",
    "preset_text",
    "presets",
    "read_recipe",
    "shown",
    "undecided",
    "write_recipe",
]
