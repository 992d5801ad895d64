"""An explanation as a file: its steps as a picture, or as a page of the viewer."""

from pathlib import Path

from regard.inspection.scene import save, write
from regard.inspection.viewer import page
from regard.lessons.explanation import Explanation, explained


def save_explanation(explanation: Explanation, place: Path) -> None:
    """Write one file of the kind that its name ends in."""
    if place.suffix.lower() == ".html":
        write(place, page(start="#/lesson", lesson=explanation.to_lesson()).encode())
    else:
        save(explained(explanation), place)
