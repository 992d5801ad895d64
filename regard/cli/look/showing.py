"""What was seen on the screen: a heading, the map or list, and what it leaves out."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from rich.console import Console
from rich.text import Text

from regard.cli.heat import HeatMap
from regard.cli.look.change import Change
from regard.cli.look.lists import (
    cell_maps,
    looks_of_a_word,
    looks_of_rows,
    steps,
    title,
    weight_map,
)
from regard.cli.searching import write_utf8
from regard.cli.terminal import DIM, clean, open_console, print_lines
from regard.errors import UsageError
from regard.inspection.figures.pictures import path_of
from regard.inspection.figures.view import View, check_across, pictured
from regard.inspection.trace import Side, Table, Trace
from regard.text.tokens import in_one_line

_NOTE = "#d9682c"
_MOST_REPEATS = 60
LOST = 0.005  # of a row's weight; less is not worth a word


@dataclass(frozen=True)
class TerminalView:
    """Lines that fit the console they are made for."""

    console: Console
    lines: list[Text]

    @classmethod
    def of(cls, trace: Trace, view: View, change: Change | None = None) -> "TerminalView":
        """The view as lines, or a sentence that says why it cannot be.

        Of a change the map shows the layer that moved most, unless another is asked for.
        """
        if view.form not in FORMS:
            raise UsageError(
                f"--view {view.form} is drawn into a file: add --save {view.form}.svg, or choose "
                f"{', '.join(FORMS[:-1])} or {FORMS[-1]} for the terminal"
            )
        console = open_console()
        note = [] if change is None else [Text(change.said_of(trace), _NOTE)]
        lines = [*_heading(trace), *note, Text()]
        if change is not None and change.can_show(view):
            lines += change.lines(view, console.width)
        else:
            lines += _FORMS[view.form](trace, view, console.width)
        width = max(20, console.width)
        return cls(console, [part for line in lines for part in line.wrap(console, width)])

    def write(self) -> None:
        """Print them."""
        print_lines(self.console, self.lines)


def write_json(trace: Trace) -> None:
    """Print the whole trace for other programs, alone on standard output."""
    write_utf8()
    print(trace.to_json())  # noqa: T201


def _heading(trace: Trace) -> list[Text]:
    """What was given and what came of it, how probable that is, and who says so."""
    origin = trace.provenance
    how = " · the target was given" if origin.is_forced else ""
    sure = f"log P {trace.log_probability:.2f} · " if trace.steps and trace.unit == "word" else ""
    said = [Text(clean(in_one_line(trace.source.text)), "bold")]
    if trace.steps and trace.unit != "place":
        last = trace.target.labels(trace.target.tokens[-1:], merges=False)[0].text
        came = in_one_line(trace.output) or last  # which may be </s>, or a space
        said.append(Text.assemble(("→ ", "#d9682c"), (clean(came), "bold")))
    said.append(Text(clean(f"{sure}{origin.model} ({origin.recipe}){how}"), DIM))
    said += [Text(clean(line), DIM) for line in _repeats(trace)]
    return said


def _repeats(trace: Trace) -> list[str]:
    """How often each word was thought about, where a model repeats its layer as it needs."""
    lines = []
    sides: tuple[Side, ...] = ("source", "target")
    for side in sides:
        sentence, tokens = trace.read(side)
        depths = trace.depths.get(side, ())[:_MOST_REPEATS]
        labels = sentence.labels(tokens, merges=False)
        said = " · ".join(f"{one.text} {n}" for one, n in zip(labels, depths, strict=False))
        more = " …" if len(tokens) > len(depths) else ""
        lines += [f"repeats of the layer, {side}: {said}{more}"] if depths else []
    return lines


def _matrix(trace: Trace, view: View, width: int) -> list[Text]:
    table = view.table(trace)
    if isinstance(view.word, str | int):
        row = table.row(view.word)
        return [
            *title(trace, table, f"row {row}, {table.row_meaning}: “{table.rows[row].text}”"),
            *looks_of_a_word(table, row, width),
            *_notes(trace, view, table, width, row),
        ]
    drawn = weight_map(table, width)
    return [
        *title(trace, table, f"rows: {table.row_meaning} · columns: looks at · percent"),
        *drawn.lines,
        *_left_out(drawn),
        *_notes(trace, view, table, width),
    ]


def _lines(trace: Trace, view: View, width: int) -> list[Text]:
    table = view.table(trace)
    row = None if view.word is None else table.row(view.word)
    return [
        *title(trace, table, f"rows: {table.row_meaning} · then: looks at · percent"),
        *looks_of_rows(table, width, view.top_k, row),
        *_notes(trace, view, table, width, row),
    ]


def _alignment(trace: Trace, view: View, width: int) -> list[Text]:
    """As `Translator.align` sees it: </s> is left out, and rows are whole again."""
    check_across(trace, "alignment")
    table = replace(view, site="cross").table(trace).without_special()
    table = replace(table, weights=table.mean[None]).made_whole()
    drawn = weight_map(table, width, marks_largest=True)
    return [
        *title(trace, table, f"rows: {table.row_meaning} · columns: source · percent"),
        *drawn.lines,
        *_left_out(drawn),
        Text(),
        Text("</s> is left out, and what is left of a row is made to add up to 100 %", DIM),
    ]


def _pictures(trace: Trace, view: View, width: int) -> list[Text]:
    picture, table = pictured(trace, view)
    return [
        *title(trace, table, f"{table.row_meaning} → cells: row,column (from 0) · percent"),
        *looks_of_rows(table, width, view.top_k, None),
        *cell_maps(table, picture.grid, width),
        *_notes(trace, view, table, width),
    ]


def _gazes(trace: Trace, view: View, width: int) -> list[Text]:
    """A line a glimpse: where it was, and what was believed after it."""
    lines = [Text("glimpse: x, y in pixels · what was believed then", DIM), Text()]
    room = max(len(one.beliefs[0][0]) for one in path_of(trace))
    for number, one in enumerate(path_of(trace), start=1):
        beliefs = [f"{clean(name):<{room}} {100 * share:3.0f} %" for name, share in one.beliefs[:3]]
        place = f"{number:>3}: {one.x:5.1f}, {one.y:5.1f}"
        lines.append(Text.assemble(place, "   ", (beliefs[0], "bold"), "   "))
        lines[-1].append("   ".join(beliefs[1:]), DIM)
        lines[-1].truncate(max(20, width))
    sides = " and ".join(f"{side:g} × {side:g}" for side in path_of(trace)[0].sides)
    return [*lines, Text(), Text(f"each saw {sides} pixels around it", DIM)]


_FORMS: dict[str, Callable[[Trace, View, int], list[Text]]] = {
    "matrix": _matrix,
    "lines": _lines,
    "strip": steps,
    "alignment": _alignment,
    "pictures": _pictures,
    "gazes": _gazes,
}
FORMS = tuple(_FORMS)


def _left_out(drawn: HeatMap) -> list[Text]:
    parts = [
        f"{n:,} {what}"
        for n, what in (
            (drawn.n_rows_left_out, "more rows"),
            (drawn.n_columns_left_out, "more columns"),
        )
        if n
    ]
    if not parts:
        return []
    return [Text(f"… and {' and '.join(parts)}: --word chooses a row, --save x.html has all", DIM)]


def _notes(
    trace: Trace, view: View, table: Table, width: int, row: int | None = None
) -> list[Text]:
    """What the eye could be deceived by: hidden weight, and heads that look nowhere."""
    notes = []
    if view.hides_special:
        kept = table.mean.sum(-1)
        kept = kept if row is None else kept[row : row + 1]
        kept = kept[kept > 0]  # a first step of some models looks at nothing yet
        lost = 1 - float(kept.mean()) if kept.size else 0.0
        site = trace.site(table.kind, table.layer)
        if site.sums_to_one and lost >= LOST:
            share = "on average " if row is None else ""
            hidden = trace.way.hidden or table.attention.hidden
            notes.append(f"{share}{100 * lost:.0f} % lies on {hidden}: --special shows it")
    if trace.site(table.kind, table.layer).is_one_hot:
        notes.append("hard attention: every row looks at one place alone, the most probable one")
    if not trace.site(table.kind, table.layer).sums_to_one:
        notes.append("a row of this attention need not add up to 100 %")
    even = [head for head in table.heads if trace.site(table.kind, table.layer).is_uniform[head]]
    if even:
        said = ", ".join(map(str, even))
        notes.append(f"head{'s' if len(even) > 1 else ''} {said}: nearly the same everywhere")
    return [Text(), *(Text(note, DIM) for note in notes)] if notes else []
