"""What of a trace is to be seen, and how."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from regard.errors import UsageError
from regard.inspection.figures.drawing import THEMES
from regard.inspection.trace import KINDS, MASK, READINGS, Table, Trace, TracedPicture, table

FORMS = (
    "lines",
    "matrix",
    "grid",
    "alignment",
    "positions",
    "strip",
    "overview",
    "pictures",
    "gazes",
)
_MOST_PLACES = 24  # of a drawn picture that are shown beside each other


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
    if trace.picture is None:
        return "lines"
    return "gazes" if trace.picture.gazes else "pictures"


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


def check_steps(trace: Trace) -> None:
    """Refuse to tell steps where nothing was predicted."""
    if not trace.steps:
        raise UsageError(
            f"nothing was to be found in this text: write {MASK} where a word is missing, or "
            "choose lines, matrix or grid"
        )


def pictured(trace: Trace, view: View) -> tuple[TracedPicture, Table]:
    """The picture of a trace, and the weights of all words or one; refuses a trace of text."""
    if trace.picture is None:
        origin = trace.provenance
        raise UsageError(
            f"the pictures view shows where a model looked in a picture, and {origin.model} "
            f"({origin.kind}) read a text: choose lines, matrix, grid or strip"
        )
    found = view.table(trace, "cross")
    if view.word is not None:
        row = found.row(view.word)
        found = _only(found, [row])
    elif trace.unit == "place" and len(found.rows) > _MOST_PLACES:
        middles = trace.picture.middles
        found = _only(found, [i for i, one in enumerate(found.rows) if one.text in middles])
    return trace.picture, found


def _only(table: Table, rows: list[int]) -> Table:
    """Some rows of a table."""
    return replace(table, rows=tuple(table.rows[i] for i in rows), weights=table.weights[:, rows])


def pathed(trace: Trace) -> TracedPicture:
    """The picture of a trace over which a model moved; refuses others."""
    if trace.picture is None or not trace.picture.gazes:
        origin = trace.provenance
        raise UsageError(
            f"the gazes view shows how a model moved over a picture, and {origin.model} "
            f"({origin.kind}) did not: choose another view"
        )
    return trace.picture


def named(of: Table) -> str:
    """The site of a table, as a title says it."""
    name = of.attention.name
    return f"{name[:1].upper()}{name[1:]}, layer {of.layer}"


def named_heads(heads: Sequence[int], n_heads: int) -> str:
    """Which heads a picture is of."""
    if len(heads) == 1:
        return f"head {heads[0]}"
    if len(heads) == n_heads:
        return f"all {n_heads} heads"
    return f"heads {', '.join(str(head) for head in heads)}"


def mean_of(of: Table, trace: Trace) -> str:
    """Which heads a matrix is the mean of."""
    named = named_heads(of.heads, trace.site(of.kind, of.layer).n_heads)
    return f"mean of {named}" if len(of.heads) > 1 else named


def _check(what: str, given: str, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise UsageError(f"there is no {what} {given!r}: choose one of {', '.join(allowed)}")
