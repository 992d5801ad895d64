"""An explanation as a file: its steps as a picture, or as a page of the viewer."""

from pathlib import Path

from regard.inspection.figures import FORMATS, checked_path, write
from regard.inspection.viewer import page
from regard.lessons.explanation import Explanation, explained


def checked(place: Path) -> Path:
    """The path, if an explanation can be saved there."""
    return checked_path(place, (*FORMATS, "html"))


def save_explanation(explanation: Explanation, place: Path) -> None:
    """Write one file of the kind that its name ends in."""
    if place.suffix.lower() == ".html":
        write(place, page(start="#/lesson", lesson=explanation.to_lesson()).encode())
    else:
        explained(explanation).save(place)
