"""What of a trace is to be seen, and how."""

from dataclasses import dataclass

from regard.errors import UsageError
from regard.inspection.scene.colours import THEMES
from regard.inspection.trace import KINDS, READINGS, Table, Trace, table

FORMS = ("lines", "matrix", "grid", "alignment", "positions", "strip", "overview", "pictures")


@dataclass(frozen=True)
class View:
    """A form of picture, and the choices that it leaves; None is what is usual there.

    ``word`` is a row, by number (from 0) or text. ``top_k`` is how many columns of each row and
    head are drawn as lines. ``reading`` labels the decoder's rows by the word that is predicted or
    by the word that was just read.
    """

    form: str = "lines"
    site: str | None = None
    layer: int | None = None
    heads: tuple[int, ...] | None = None
    word: int | str | None = None
    merges: bool = True
    hides_special: bool = False
    reading: str | None = None
    top_k: int | None = None
    theme: str = "light"

    def __post_init__(self) -> None:
        _check("view", self.form, FORMS)
        if self.site is not None:
            _check("site", self.site, KINDS)
        _check("theme", self.theme, THEMES)
        if self.reading is not None:
            _check("reading", self.reading, READINGS)
        if self.top_k is not None and self.top_k < 1:
            raise UsageError(f"top_k = {self.top_k} shows nothing: give 1 or more")

    def kind(self, trace: Trace) -> str:
        """Which attention it is about: the one asked for, or what is usual for this trace."""
        return self.site or trace.usual_site

    def table(self, trace: Trace, kind: str | None = None) -> Table:
        """The weights it is about, between the rows and columns that it shows."""
        found = table(
            trace,
            kind or self.kind(trace),
            self.layer,
            heads=self.heads,
            reading=self.reading,
            merges=self.merges,
        )
        return found.without_special() if self.hides_special else found


def usual_form(trace: Trace) -> str:
    """The form of a file unless another is asked for."""
    if not trace.sites:
        return "strip"
    return "lines" if trace.picture is None else "pictures"


def check_across(trace: Trace, form: str) -> None:
    """Refuse a picture of two sentences where there is one text alone."""
    if trace.way.is_across and trace.picture is None:
        return
    origin = trace.provenance
    has, others = "has one text alone", "lines, matrix, grid or strip"
    if trace.picture is not None:
        has, others = "read a picture", "pictures, lines, matrix, grid or strip"
    raise UsageError(
        f"the {form} view shows a source beside its translation, and {origin.model} "
        f"({origin.kind}) {has}: choose {others}"
    )


def _check(what: str, given: str, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise UsageError(f"there is no {what} {given!r}: choose one of {', '.join(allowed)}")
