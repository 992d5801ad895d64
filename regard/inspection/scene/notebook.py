"""How a trace shows itself in a notebook: whichever of the three the notebook can show."""

from typing import Any

from regard.inspection.scene.layout import layout
from regard.inspection.scene.page import frame, page
from regard.inspection.scene.svg import to_svg
from regard.inspection.scene.view import View
from regard.inspection.trace import Trace


def mimebundle(trace: Trace) -> dict[str, Any]:
    """The page in a frame, the picture it opens with, and two lines of text."""
    view = View() if trace.sites else View(form="strip")
    scene = layout(trace, view)
    return {
        "text/html": frame(page(trace, view), min(900, int(scene.height) + 170)),
        "image/svg+xml": to_svg(scene),
        "text/plain": str(trace),
    }
