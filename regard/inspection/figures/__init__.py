"""Pictures as files, on matplotlib: ``figure(trace, view).save("x.svg")``, and plain values too.

Everything gives back a ``DrawnFigure``, which writes SVG (real text), PNG and PDF; the same input
gives the same bytes.
"""

from collections.abc import Callable

from regard.inspection.figures.animation import animation
from regard.inspection.figures.canvas import Canvas
from regard.inspection.figures.cards import document, draw_strip
from regard.inspection.figures.curves import Curve, Plot, curves, draw_positions, positions
from regard.inspection.figures.drawing import FORMATS, DrawnFigure, checked_path, write
from regard.inspection.figures.heat import alignment, draw_alignment, draw_grid, draw_matrix, table
from regard.inspection.figures.lines import draw_lines, draw_overview, panels
from regard.inspection.figures.pictures import Gaze, draw_gazes, draw_pictures, gazes
from regard.inspection.figures.view import FORMS, View, usual_form
from regard.inspection.trace import Trace

__all__ = [
    "FORMATS",
    "FORMS",
    "Canvas",
    "Curve",
    "DrawnFigure",
    "Gaze",
    "Plot",
    "View",
    "alignment",
    "animation",
    "checked_path",
    "curves",
    "document",
    "figure",
    "gazes",
    "panels",
    "positions",
    "table",
    "write",
]

_FORMS: dict[str, Callable[[Trace, View], DrawnFigure]] = {
    "lines": draw_lines,
    "matrix": draw_matrix,
    "grid": draw_grid,
    "alignment": draw_alignment,
    "positions": draw_positions,
    "strip": draw_strip,
    "overview": draw_overview,
    "pictures": draw_pictures,
    "gazes": draw_gazes,
}


def figure(trace: Trace, view: View | None = None) -> DrawnFigure:
    """What the view shows of a trace."""
    chosen = view or View(usual_form(trace))
    return _FORMS[chosen.form](trace, chosen)
