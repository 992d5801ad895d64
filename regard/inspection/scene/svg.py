"""A scene as SVG: real text that can be selected, and nothing that runs or is fetched."""

import re
from collections.abc import Iterator
from html import escape
from zlib import crc32

from regard.inspection.fonts import FAMILIES, embedded_fonts
from regard.inspection.scene.bitmap import data_address, png, shades, veil
from regard.inspection.scene.colours import COLOURS, ramp_table
from regard.inspection.scene.items import Heat, Image, Item, Number, Path, Rectangle, Scene, Text
from regard.inspection.trace.picture import as_png

_MOST_CELLS = 3_000  # of a picture; with more, its matrices are images
# XML has no way at all to write these.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def to_svg(scene: Scene) -> str:
    """The whole file."""
    colours = COLOURS[scene.theme]
    told = sum(item.values.size for item in scene.items if isinstance(item, Heat) and item.tells)
    width, height = number(scene.width), number(scene.height)
    faces, families = embedded_fonts("".join(sorted(_letters(scene))))
    fonts = ",".join(f"'{family}'" for family in (*families, *FAMILIES)) + ",sans-serif"
    drawn = "\n".join(
        line for item in scene.items for line in _item(item, scene.theme, told <= _MOST_CELLS)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" font-family="{fonts}">\n'
        f"<title>{clean(scene.title)}</title>\n"
        f"<style>{faces}</style>\n"
        f'<rect width="100%" height="100%" fill="{colours["ground"]}"/>\n'
        f"{_definitions(scene)}{drawn}\n</svg>\n"
    )


def _letters(scene: Scene) -> set[str]:
    """Every character that is drawn; tips and the title are the viewer's own to show."""
    return {one for item in scene.items if isinstance(item, Text) for one in item.text}


def number(value: Number) -> str:
    """A number as short as it can be, to a hundredth of a pixel."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def clean(text: str) -> str:
    """Text that is nothing but text, whatever it says."""
    return escape(printable(text), quote=True)


def printable(text: str) -> str:
    """Text with a sign for each character that no file can hold."""
    return _FORBIDDEN.sub("\ufffd", text)


def _item(item: Item, theme: str, has_cells: bool) -> Iterator[str]:
    match item:
        case Text():
            yield _text(item, COLOURS[theme])
        case Path():
            yield _path(item, COLOURS[theme])
        case Rectangle():
            yield _rectangle(item, COLOURS[theme])
        case Heat():
            yield from _cells(item, theme) if has_cells and item.tells else [_heat(item, theme)]
        case Image():
            yield from _image(item)


def _closed(tag: str, tip: str) -> str:
    """An element that has a tip, or ends at once."""
    if not tip:
        return f"<{tag}/>"
    return f"<{tag}><title>{clean(tip)}</title></{tag.split(' ', 1)[0]}>"


def _text(item: Text, colours: dict[str, str]) -> str:
    x, y = number(item.x), number(item.y)
    parts = [
        f'<text x="{x}" y="{y}" font-size="{number(item.size)}" fill="{colours[item.colour]}"'
        # Not every program knows dominant-baseline: the middle of a line is a third above its foot.
        f' dy="0.35em" xml:space="preserve"'
    ]
    if item.anchor != "start":
        parts.append(f' text-anchor="{item.anchor}"')
    if item.is_bold:
        parts.append(' font-weight="600"')
    if item.turned:
        parts.append(f' transform="rotate({number(item.turned)} {x} {y})"')
    tip = f"<title>{clean(item.tip)}</title>" if item.tip else ""
    return f"{''.join(parts)}>{tip}{clean(item.text)}</text>"


def _path(item: Path, colours: dict[str, str]) -> str:
    points = [f"{number(x)} {number(y)}" for x, y in item.points]
    letter = "C" if item.is_curve else "L"
    tag = (
        f'path d="M{points[0]}{letter}{" ".join(points[1:])}" fill="none" '
        f'stroke="{colours[item.colour]}" stroke-width="{number(item.width)}"'
    )
    if item.opacity < 1:
        tag += f' stroke-opacity="{number(item.opacity)}"'
    if item.is_dashed:
        tag += ' stroke-dasharray="4 3"'
    return _closed(tag, item.tip)


def _rectangle(item: Rectangle, colours: dict[str, str]) -> str:
    tag = (
        f'rect x="{number(item.x)}" y="{number(item.y)}" width="{number(item.width)}" '
        f'height="{number(item.height)}" fill="{colours[item.fill] if item.fill else "none"}"'
    )
    if item.stroke:
        tag += f' stroke="{colours[item.stroke]}" stroke-width="{number(item.stroke_width)}"'
    if item.opacity < 1:
        tag += f' opacity="{number(item.opacity)}"'
    if item.radius:
        tag += f' rx="{number(item.radius)}"'
    return _closed(tag, item.tip)


def _heat(item: Heat, theme: str) -> str:
    # Cells finer than pixels are blended, others keep their edges.
    edges = "auto" if item.values.shape[1] > item.width else "pixelated"
    tag = (
        f'image x="{number(item.x)}" y="{number(item.y)}" width="{number(item.width)}" '
        f'height="{number(item.height)}" preserveAspectRatio="none" '
        f'style="image-rendering:{edges}" href="{data_address(png(item, theme))}"'
    )
    return _closed(tag, item.tip)


def picture_name(item: Image) -> str:
    """One for the same pixels, however often they are shown; several files may share a page."""
    return f"picture-{crc32(item.pixels.tobytes()):08x}"


def _definitions(scene: Scene) -> str:
    """Every picture once, however often it is shown: always in one size."""
    images = {picture_name(item): item for item in scene.items if isinstance(item, Image)}
    drawn = (
        f'<image id="{name}" width="{number(item.width)}" height="{number(item.height)}" '
        f'preserveAspectRatio="none" href="{data_address(as_png(item.pixels))}"/>'
        for name, item in images.items()
    )
    return f"<defs>{''.join(drawn)}</defs>\n" if images else ""


def _image(item: Image) -> Iterator[str]:
    place = f'x="{number(item.x)}" y="{number(item.y)}"'
    yield _closed(f'use href="#{picture_name(item)}" {place}', item.tip)
    if item.light is not None:
        size = f'width="{number(item.width)}" height="{number(item.height)}"'
        dark = data_address(as_png(veil(item.light)))
        yield _closed(f'image {place} {size} preserveAspectRatio="none" href="{dark}"', item.tip)


def _cells(item: Heat, theme: str) -> Iterator[str]:
    table = ramp_table(theme, item.ramp)
    hexes = ["#" + "".join(f"{round(255 * c):02x}" for c in row) for row in table.tolist()]
    n_rows, n_columns = item.values.shape
    width, height = item.width / max(1, n_columns), item.height / max(1, n_rows)
    places = shades(item).tolist()
    values = item.values.tolist()
    for i in range(n_rows):
        for j in range(n_columns):
            tag = (
                f'rect x="{number(item.x + j * width)}" y="{number(item.y + i * height)}" '
                f'width="{number(width)}" height="{number(height)}" fill="{hexes[places[i][j]]}"'
            )
            yield _closed(tag, f"{item.rows[i]} → {item.columns[j]}: {values[i][j]:.3f}")
