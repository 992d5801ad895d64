"""What was seen, as a file: a picture, the page with all of them, or the numbers."""

from pathlib import Path

from regard.errors import UsageError
from regard.inspection.scene import FORMATS, View, checked_place, layout, page, write
from regard.inspection.scene import save as save_scene
from regard.inspection.trace import Trace

ENDINGS = (*FORMATS, "trace")


def checked(place: Path, option: str = "--save") -> Path:
    """The path an option gave, if such a file can be written, in a folder that is there."""
    ending = place.suffix[1:].lower()
    if ending not in ENDINGS:
        allowed = ", ".join(f".{kind}" for kind in ENDINGS[:-1])
        raise UsageError(
            f"{option} {place.name!r} has no known ending: end the name in {allowed} or "
            f".{ENDINGS[-1]}"
        )
    # A trace goes where a picture could go.
    checked_place(place.with_suffix(".svg") if ending == "trace" else place)
    return place


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
            save_scene(layout(trace, view), place)
