"""What every picture shares: its fonts, a quiet style, and safe saving."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from regard.errors import UsageError, WriteError
from regard.files import whole_file
from regard.inspection.fonts import FAMILIES, quiet_matplotlib, register

SUFFIXES = (".png", ".svg", ".pdf")

# Dates and versions would make the bytes differ from day to day.
_WITHOUT_DATES: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


_STYLE: dict[Any, Any] = {
    "font.family": list(FAMILIES),
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "svg.hashsalt": "regard",
    "pdf.fonttype": 42,
}


def checked_path(path: str | Path) -> Path:
    """The path, if a picture can be saved there as far as one can tell before drawing it."""
    given = Path(path)
    if given.name.lower() in SUFFIXES:
        raise UsageError(
            f"a picture cannot be saved as {given.name!r}: give it a name before {given.name}"
        )
    if given.suffix.lower() not in SUFFIXES:
        raise UsageError(
            f"a picture cannot be saved as {given.name!r}: "
            f"end its name in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        )
    try:
        is_folder, has_folder = given.is_dir(), given.parent.is_dir()
    except OSError as error:
        raise UsageError(
            f"a picture cannot be saved there: {error.strerror}; give another path"
        ) from error
    if is_folder:
        raise UsageError(f"a picture cannot be saved as {given}: that is a folder")
    if not has_folder:
        raise UsageError(
            f"a picture cannot be saved in {given.parent}: there is no such folder; make it, or "
            "choose another"
        )
    return given


@contextmanager
def canvas(width: float, height: float) -> Iterator[Any]:
    """A figure of that many inches, in the house's style while the block lasts."""
    with quiet_matplotlib():
        import matplotlib as mpl
        from matplotlib.figure import Figure

        register()
        with mpl.rc_context(_STYLE):
            yield Figure(figsize=(width, height), layout="constrained")


def save(figure: Any, path: str | Path, dots_per_inch: int = 200) -> Path:
    """Write the picture whole or not at all."""
    place = checked_path(path)
    suffix = place.suffix.lower()
    try:
        with quiet_matplotlib(), whole_file(place, is_shared=True) as partial:
            figure.savefig(
                partial, format=suffix[1:], dpi=dots_per_inch, metadata=_WITHOUT_DATES[suffix]
            )
    except WriteError as error:
        raise UsageError(f"a picture cannot be saved as {place}: {error.reason}") from error
    return place
