"""What was seen, as a file: a picture, the viewer with everything in it, or the numbers."""

from dataclasses import replace
from pathlib import Path

from regard.inspection.figures import FORMATS, View, animation, checked_path, figure, write
from regard.inspection.viewer import ViewedTrace, page

ENDINGS = (*FORMATS, "gif", "html", "json", "trace")


def checked(place: Path, option: str = "--save") -> Path:
    """The path an option gave, if such a file can be written, in a folder that is there."""
    return checked_path(place, ENDINGS, f"the file of {option}")


def save(viewed: ViewedTrace, view: View, place: Path) -> None:
    """Write one file of the kind that its name ends in."""
    trace = viewed.trace
    match place.suffix[1:].lower():
        case "html":
            write(place, _page(viewed, view).encode())
        case "gif":
            write(place, animation(trace, view))
        case "json":
            write(place, f"{trace.to_json()}\n".encode())
        case "trace":
            trace.save(place)
        case _:
            figure(trace, view).save(place)


def _page(viewed: ViewedTrace, view: View) -> str:
    """The viewer; where heads were switched off, it opens at the switchboard with them off."""
    if not viewed.retraces or not viewed.trace.way.is_across:
        return page(viewed, view=view)
    ((heads, (before, _)),) = viewed.retraces.items()
    theme = "&theme=dark" if view.theme == "dark" else ""
    # Beside the switches stands what the whole model wrote.
    return page(replace(viewed, trace=before), start=f"#/switchboard?off={heads}{theme}")
