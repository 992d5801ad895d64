"""Pictures of a trace: ``layout(trace, view)`` gives a scene, ``render`` draws it.

Layout is pure and knows no file format; drawing knows no attention.
"""

from regard.inspection.figures.view import FORMS, View
from regard.inspection.scene.items import Heat, Item, Path, Rectangle, Scene, Text
from regard.inspection.scene.layout import layout
from regard.inspection.scene.render import FORMATS, checked_place, render, save, write

__all__ = [
    "FORMATS",
    "FORMS",
    "Heat",
    "Item",
    "Path",
    "Rectangle",
    "Scene",
    "Text",
    "View",
    "checked_place",
    "layout",
    "render",
    "save",
    "write",
]
