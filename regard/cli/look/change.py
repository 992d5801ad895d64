"""What switching heads off changes: the output, and the layer whose attention moved most."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.text import Text

from regard.cli.heat import heat, heat_map, percent
from regard.cli.look.lists import title, weight_map
from regard.cli.terminal import DIM, beside, clean
from regard.inspection.figures.view import View
from regard.inspection.trace import KINDS, MASK, Table, Trace
from regard.text.tokens import in_one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from regard.inspection.heads import Head
    from regard.systems import Ablation

GAP = 4
MOST_NAMED = 4
SOFT = 0.1  # of a row: where nothing moves more, the colours stay pale


@dataclass(frozen=True)
class Change:
    """Heads switched off: what came of it, and traces of the same tokens before and after."""

    ablation: "Ablation"
    before: Trace
    after: Trace

    @property
    def moved(self) -> dict[str, float]:
        """How much of the attention of each site moved, most first."""
        found = self.before.moved(self.after).items()
        return dict(sorted(found, key=lambda one: -one[1]))

    def said_of(self, trace: Trace) -> str:
        """What became of the output, in a sentence."""
        ablation, names = self.ablation, named_heads(trace, self.ablation.heads)
        change = f"log P changes by {ablation.change:+.2f}"
        if not ablation.changes:
            said = f"there is no {MASK} by which to tell what that does"
        elif trace.provenance.is_forced:
            said = f"the given target stays, its {change}"
        elif ablation.has_changed:
            before = in_one_line(ablation.before.text)
            said = f"before it {trace.way.found} “{before}”, whose {change}"
        else:
            said = f"it {trace.way.finds} the same, {change}"
        most = list(self.moved.items())[:MOST_NAMED]
        moved = ", ".join(f"{name} {100 * share:.1f} %" for name, share in most)
        return clean(
            f"switched off {names}: {said} (where they look is still shown; it has no effect); "
            f"attention that moved: {moved or 'none'}"
        )

    def can_show(self, view: View) -> bool:
        """Whether there is a layer to show before and after in this view."""
        return view.form == "matrix" and view.word is None and bool(self._site(view))

    def _site(self, view: View) -> str | None:
        """The site that was asked for, or that moved most of those that may be shown."""
        if view.layer is not None:
            return f"{view.kind(self.before)}.{view.layer}"
        kinds = (view.site,) if view.site else KINDS
        return next((name for name in self.moved if name.partition(".")[0] in kinds), None)

    def lines(self, view: View, width: int) -> list[Text]:
        """The layer before and after, side by side where there is room, and the difference."""
        kind, _, layer = (self._site(view) or "").partition(".")
        seen = replace(view, site=kind, layer=int(layer))
        before, after = (seen.table(trace) for trace in (self.before, self.after))
        return [
            *title(
                self.before, before, f"rows: {before.row_meaning} · columns: looks at · percent"
            ),
            *_both(before, after, width),
            Text(),
            *_named("after - before, in percentage points", _difference(before, after, width)),
        ]


def _both(before: Table, after: Table, width: int) -> list[Text]:
    """Both maps, side by side if each has room in half of the width."""
    for room in ((width - GAP) // 2, width):
        maps = [weight_map(table, room) for table in (before, after)]
        blocks = [_named("before", maps[0].lines), _named("after", maps[1].lines)]
        has_room = not maps[0].n_columns_left_out and all(line.plain for line in maps[0].lines)
        if room < width and has_room:
            return beside(blocks, GAP)
    return [*blocks[0], Text(), *blocks[1]]


def _named(name: str, lines: list[Text]) -> list[Text]:
    head = Text(name, DIM)
    head.pad_right(max((line.cell_len for line in lines), default=0) - head.cell_len)
    return [head, *lines]


def _difference(before: Table, after: Table, width: int) -> list[Text]:
    """What a row looks at more is warm, what it looks at less is cold."""
    change = after.mean - before.mean
    largest = max(SOFT, float(abs(change).max(initial=0.0)))

    def cell(i: int, j: int) -> Text:
        points = float(change[i, j])
        strength = math.copysign(math.sqrt(abs(points) / largest), points)
        said = percent(points)
        return Text(f"+{said}" if points > 0 and said[0].isdigit() else said, heat(strength))

    return heat_map(cell, before.rows, before.columns, width, number=4).lines


def named_heads(trace: Trace, heads: "Sequence[Head]") -> str:
    """The names of heads; where all of a layer or of a kind are meant, its name alone."""
    names: list[str] = []
    for kind in KINDS:
        whole: list[str] = []
        others: list[str] = []
        for layer in trace.layers(kind):
            mine = [head.head for head in heads if (head.kind, head.layer) == (kind, layer)]
            if len(set(mine)) == trace.site(kind, layer).n_heads:
                whole.append(f"{kind}.{layer}")
            else:
                others += [f"{kind}.{layer}.{head}" for head in mine]
        is_all = whole and len(whole) == len(trace.layers(kind))
        names += [kind] if is_all else [*whole, *others]
    return ", ".join(names)
