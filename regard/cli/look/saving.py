"""What was seen, as a file: a picture, the page with all of them, or the numbers."""

from pathlib import Path

from regard.inspection.figures import FORMATS, View, checked_path, figure, write
from regard.inspection.scene import page
from regard.inspection.trace import Trace

ENDINGS = (*FORMATS, "html", "json", "trace")


def checked(place: Path, option: str = "--save") -> Path:
    """The path an option gave, if such a file can be written, in a folder that is there."""
    return checked_path(place, ENDINGS, f"the file of {option}")


def save(trace: Trace, view: View, place: Path) -> None:
    """Write one file of the kind that its name ends in."""
    match place.suffix[1:].lower():
        case "html":
            write(place, page(trace, view).encode())
        case "json":
            write(place, f"{trace.to_json()}\n".encode())
        case "trace":
            trace.save(place)
        case _:
            figure(trace, view).save(place)
