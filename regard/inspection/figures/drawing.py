"""A finished picture and its file: two themes, the house's style, bytes that repeat."""

import io
import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from html import escape, unescape
from importlib.resources import files
from pathlib import Path
from typing import Any

from regard.errors import UsageError, WriteError
from regard.files import write_bytes
from regard.inspection.fonts import FAMILIES, embedded_fonts, quiet_matplotlib, register

FORMATS = ("svg", "png", "pdf")
INCH = 96.0  # pixels

_STYLE = tomllib.loads(files(__package__).joinpath("style.toml").read_text(encoding="utf-8"))
THEMES = ("light", "dark")
_SHARPNESS = 2.0  # dots of a file's images for each pixel
_MOST_DOTS = 5e6  # of a PNG, unless it has more pixels
_LARGE = 1e6  # pixels; more are compressed less, for half of the time went there
# XML has no way at all to write these.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# For a character that no embedded font has.
_FALLBACKS = ("Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", "WenQuanYi Micro Hei")
# Dates and versions would make the bytes differ from day to day.
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def colours_of(theme: str) -> dict[str, str]:
    """The colour of each role, those of heads as "head0", "head1" …"""
    colours = dict(_STYLE[theme]["colours"])
    heads = colours.pop("heads")
    return colours | {f"head{i}": colour for i, colour in enumerate(heads)}


def head_colour(head: int) -> str:
    """The role of a head's colour; the ninth looks like the first."""
    return f"head{head % len(_STYLE['light']['colours']['heads'])}"


@cache
def ramp(theme: str, name: str) -> Any:
    """A colour map from low to high: "weights" from the ground up, "signed" around zero."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(f"{theme} {name}", _STYLE[theme]["ramps"][name])


def checked_path(
    path: str | Path, endings: Sequence[str] = FORMATS, what: str = "a picture"
) -> Path:
    """The path, if a file can be saved there as far as one can tell before it is made."""
    given = Path(path)
    if given.name.lower() in [f".{ending}" for ending in endings]:
        raise UsageError(
            f"{what} cannot be saved as {given.name!r}: give it a name before {given.name}"
        )
    if given.suffix[1:].lower() not in endings:
        allowed = ", ".join(f".{ending}" for ending in endings[:-1])
        raise UsageError(
            f"{what} cannot be saved as {given.name!r}: end its name in {allowed} or .{endings[-1]}"
        )
    try:
        is_folder, has_folder = given.is_dir(), given.parent.is_dir()
    except OSError as error:
        raise UsageError(
            f"{what} cannot be saved there: {error.strerror}; give another path"
        ) from error
    if is_folder:
        raise UsageError(f"{what} cannot be saved as {given}: that is a folder")
    if not has_folder:
        raise UsageError(
            f"{what} cannot be saved in {given.parent}: there is no such folder; make it, or "
            "choose another"
        )
    return given


def write(path: Path, content: bytes) -> Path:
    """Write a file whole or not at all."""
    try:
        write_bytes(path, content, is_shared=True)
    except WriteError as error:
        raise UsageError(f"a picture cannot be saved as {path}: {error.reason}") from error
    return path


@contextmanager
def styled(theme: str = "light") -> Iterator[dict[str, str]]:
    """Matplotlib in the house's style while the block lasts; within, the colours of the theme."""
    colours = colours_of(theme)
    with quiet_matplotlib():
        import matplotlib as mpl

        register()
        coloured = {name: colours[role] for name, role in _STYLE["roles"].items()}
        rules: Any = {**_STYLE["matplotlib"], **coloured, "font.family": list(FAMILIES)}
        with mpl.rc_context(rules):
            yield colours


@dataclass(frozen=True, eq=False)
class DrawnFigure:
    """A finished picture: a matplotlib figure, its title and its theme."""

    figure: Any
    title: str  # for those who hear the picture
    theme: str = "light"

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        width, height = self.figure.get_size_inches()
        return round(width * INCH), round(height * INCH)

    @property
    def texts(self) -> list[str]:
        """Everything that is written on it."""
        return [one.get_text() for axes in self.figure.axes for one in axes.texts]

    def to_bytes(self, file_format: str) -> bytes:
        """The content of a file of that format."""
        if file_format not in FORMATS:
            known = ", ".join(FORMATS)
            raise UsageError(f"a picture cannot be {file_format!r}: choose one of {known}")
        width, height = self.size
        sharpness = min(_SHARPNESS, max(1.0, (_MOST_DOTS / (width * height)) ** 0.5))
        how: dict[str, Any] = {"metadata": _METADATA[file_format], "dpi": INCH * sharpness}
        if file_format == "png":
            how["pil_kwargs"] = {"compress_level": 6 if width * height < _LARGE else 2}
        written = io.BytesIO()
        with styled(self.theme):
            self.figure.savefig(written, format=file_format, **how)
        return self._svg(written.getvalue()) if file_format == "svg" else written.getvalue()

    def save(self, path: str | Path) -> Path:
        """Write it whole or not at all, in the format that its name ends in."""
        place = checked_path(path)
        return write(place, self.to_bytes(place.suffix[1:].lower()))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"image/svg+xml": self.to_bytes("svg").decode(), "text/plain": self.title}

    def _svg(self, written: bytes) -> bytes:
        """The file with its fonts inside, and a title; the address of a grammar is left out."""
        svg = written.decode()
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
        faces, families = embedded_fonts("".join(sorted(set(unescape("".join(texts))))))
        asked, names = (
            ", ".join(f"'{one}'" for one in fonts)
            for fonts in (FAMILIES, (*families, *FAMILIES, *_FALLBACKS))
        )
        names += ", sans-serif"

        def inherit(style: re.Match[str]) -> str:
            """Name the fonts once; older matplotlib's `font: 9px NAMES` has to have them."""
            short = style[0].replace(f"font-family: {asked}", "font-family: inherit")
            return short.replace(asked, names)

        root, rest = svg[svg.index("<svg") :].split(">", 1)
        rest = re.sub(r'(?<= style=")font[^"]*', inherit, rest)
        root += f' role="img" font-family="{names}"'
        style = f"<style>text{{white-space:pre}}{faces}</style>"
        return f"{root}>\n<title>{escape(printable(self.title))}</title>{style}{rest}".encode()


def printable(text: str) -> str:
    """Text in one line, with a sign for each character that no file can hold."""
    return _FORBIDDEN.sub("\ufffd", text).replace("\n", " ")
