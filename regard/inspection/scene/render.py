"""From a scene to a file: SVG, PNG, PDF or JSON; the same scene gives the same bytes."""

import json
from pathlib import Path as Place
from typing import Any

import numpy as np

from regard.errors import UsageError, WriteError
from regard.files import write_bytes
from regard.inspection.scene.bitmap import data_address
from regard.inspection.scene.items import Image, Scene
from regard.inspection.scene.svg import to_svg
from regard.inspection.trace.picture import as_png

FORMATS = ("svg", "png", "pdf", "html", "json")


def render(scene: Scene, file_format: str) -> bytes:
    """The bytes of a file of that format."""
    match file_format:
        case "svg":
            return to_svg(scene).encode()
        case "png" | "pdf":
            from regard.inspection.scene.drawing import draw

            return draw(scene, file_format)
        case "json":
            return f"{as_json(scene)}\n".encode()
    raise UsageError(f"a picture cannot be {file_format!r}: choose one of svg, png, pdf or json")


def save(scene: Scene, path: str | Place) -> Place:
    """Draw it into a file, of the kind that its name ends in."""
    place = checked_place(path)
    return write(place, render(scene, place.suffix[1:].lower()))


def checked_place(path: str | Place) -> Place:
    """The path, if a picture can be saved there as far as one can tell before drawing it."""
    place = Place(path)
    if place.suffix[1:].lower() not in FORMATS:
        endings = ", ".join(f".{kind}" for kind in FORMATS[:-1])
        raise UsageError(
            f"a picture cannot be saved as {place.name!r}: end its name in {endings} or "
            f".{FORMATS[-1]}"
        )
    if place.is_dir():
        raise UsageError(f"a picture cannot be saved as {place}: that is a folder")
    if not place.parent.is_dir():
        raise UsageError(
            f"a picture cannot be saved in {place.parent}: there is no such folder; make it, or "
            "choose another"
        )
    return place


def write(place: Place, content: bytes) -> Place:
    """Write the file whole or not at all."""
    try:
        write_bytes(place, content, is_shared=True)
    except WriteError as error:
        raise UsageError(f"a picture cannot be saved as {place}: {error.reason}") from error
    return place


def as_json(scene: Scene) -> str:
    """Every item with all its numbers."""
    items = []
    for item in scene.items:
        said: dict[str, Any] = {"kind": type(item).__name__.lower(), **vars(item)}
        for name, value in said.items():
            if isinstance(item, Image) and name == "pixels":
                said[name] = data_address(as_png(item.pixels))
            elif isinstance(value, np.ndarray):
                said[name] = np.round(value.astype(np.float64), 6).tolist()
        items.append(said)
    head = {name: getattr(scene, name) for name in ("width", "height", "title", "theme")}
    return json.dumps({**head, "items": items}, ensure_ascii=False, separators=(",", ":"))
