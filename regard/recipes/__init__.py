"""Recipes: TOML presets that say everything a run does, and what they may say."""

from regard.recipes.schema import (
    DataSection,
    ModelSection,
    Recipe,
    TextSection,
    TrainingSection,
)

__all__ = ["DataSection", "ModelSection", "Recipe", "TextSection", "TrainingSection"]
