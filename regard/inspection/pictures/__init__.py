"""Still pictures: the same numbers always give the same bytes."""

from regard.inspection.pictures.alignment import draw_alignment
from regard.inspection.pictures.canvas import SUFFIXES, canvas, checked_path, save
from regard.inspection.pictures.lines import draw_lines
from regard.inspection.pictures.positions import draw_positions

__all__ = [
    "SUFFIXES",
    "canvas",
    "checked_path",
    "draw_alignment",
    "draw_lines",
    "draw_positions",
    "save",
]
