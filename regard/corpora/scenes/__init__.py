"""Pictures of coloured shapes and signs with captions; every content word knows its object."""

from regard.corpora.scenes.corpus import PAIRS, VERSION, Scenes
from regard.corpora.scenes.drawing import draw_scene
from regard.corpora.scenes.layout import SIDE, is_scene, parse_scene

__all__ = ["PAIRS", "SIDE", "VERSION", "Scenes", "draw_scene", "is_scene", "parse_scene"]
