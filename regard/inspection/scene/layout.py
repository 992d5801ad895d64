"""From a trace and a view to a scene: pure, so that the same two always give the same picture."""

from collections.abc import Callable

from regard.inspection.figures.view import View, usual_form
from regard.inspection.scene.items import Scene
from regard.inspection.scene.lines import lines
from regard.inspection.scene.matrix import alignment, grid, matrix
from regard.inspection.scene.overview import overview
from regard.inspection.scene.pictures import pictures
from regard.inspection.scene.positions import positions
from regard.inspection.scene.strip import strip
from regard.inspection.trace import Trace

_FORMS: dict[str, Callable[[Trace, View], Scene]] = {
    "lines": lines,
    "matrix": matrix,
    "grid": grid,
    "alignment": alignment,
    "positions": positions,
    "strip": strip,
    "overview": overview,
    "pictures": pictures,
}


def layout(trace: Trace, view: View | None = None) -> Scene:
    """Everything of a picture but the drawing."""
    chosen = view or View(usual_form(trace))
    return _FORMS[chosen.form](trace, chosen)
