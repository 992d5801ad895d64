"""Words and lines between them, as thick as one looks at the other: the lectures' picture."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from regard.errors import UsageError
from regard.inspection.figures.canvas import BODY, HEADING, MARGIN, SMALL, Anchor, Box, Canvas
from regard.inspection.figures.drawing import DrawnFigure, head_colour
from regard.inspection.figures.view import View, check_across, named, named_heads
from regard.inspection.looking import Looking
from regard.inspection.trace import Kind, Label, Table, Trace
from regard.shapes import Bool, Float

_ROW, _GAP, _NARROW = 26.0, 240.0, 150.0
_LEAST = 0.02  # of the attention; thinner lines are not seen
_THICK = 9.0
_MOST_LINES = 6_000  # more are neither seen nor drawn quickly
_LOUD = 0.1
_LONGEST = 360.0  # pixels of a word
_ARC = 120.0
_LEAST_ARC, _MOST_ARCS = 0.06, 1_500  # of each kind
_SIDES: dict[Kind, tuple[str, Anchor]] = {
    "encoder": ("head2", "end"),
    "cross": ("head0", "middle"),
    "decoder": ("head1", "start"),
}


@dataclass(frozen=True, eq=False)
class _Column:
    """Words one below another, in the middle of ``n`` lines; ``x`` is the edge they stand at."""

    words: Sequence[Label]
    x: float
    top: float
    n: int
    anchor: Anchor

    @property
    def ys(self) -> Float[np.ndarray, " n"]:
        """The middle of every line."""
        n = len(self.words)
        return self.top + (np.arange(n) + 0.5 + (self.n - n) / 2) * _ROW

    def draw(self, canvas: Canvas, quiet: Set[int] = frozenset(), focus: int | None = None) -> None:
        """Write the words, those beside the point more softly."""
        for i, (word, y) in enumerate(zip(self.words, self.ys.tolist(), strict=True)):
            is_bold = i == focus
            colour = "soft" if word.is_special else "ink"
            if i in quiet:
                colour = "faint" if focus is not None else "soft"
            text = Canvas.shortened(word.text, _LONGEST, is_bold=is_bold)
            canvas.text(self.x, y, text, BODY, colour, self.anchor, is_bold=is_bold)

    def boxes(self, among: Sequence[int]) -> list[Box]:
        """Around some words of a column on the right."""
        texts = {i: Canvas.shortened(self.words[i].text, _LONGEST) for i in among}
        return [
            (self.x - 5, self.ys[i] - 11, Canvas.text_width(text) + 10, 22.0)
            for i, text in texts.items()
        ]


def draw_lines(trace: Trace, view: View) -> DrawnFigure:
    """Lines from each row (or the one chosen) to the columns it looks at, a colour a head."""
    found = view.table(trace)
    site = trace.site(found.kind, found.layer)
    focus = None if view.word is None else found.row(view.word)
    usual = max(1, _MOST_LINES // max(1, len(found.rows) * len(found.heads)))
    top_k = min(len(found.columns), view.top_k or usual)
    few = f" · the {top_k} strongest of each row and head" if top_k < len(found.columns) else ""
    canvas = Canvas(view.theme)
    heads = named_heads(found.heads, site.n_heads)
    canvas.heading(named(found), f"{heads} · thicker = more attention{few}")
    top = HEADING + 30.0
    if len(found.heads) > 1:
        top = _head_names(canvas, found.heads, top - 14) + 26
    _looks(canvas, MARGIN, top, found, focus, top_k=top_k)
    even = [str(head) for head in found.heads if site.is_uniform[head]]
    if even:
        heads = f"head{'s' if len(even) > 1 else ''} {', '.join(even)}"
        canvas.note(f"{heads}: almost the same weight everywhere")
    return canvas.finished()


def panels(
    looks: Sequence[tuple[str, Looking]], title: str = "", theme: str = "light"
) -> DrawnFigure:
    """What the word in focus (or every word) looks at, a titled panel each, side by side.

    A box is around a word that it truly belongs to.
    """
    if not looks:
        raise UsageError("there is nothing to draw: give at least one panel of words")
    canvas = Canvas(theme)
    canvas.heading(title or "Who looks at whom", "thicker = more attention")
    tallest = max(max(len(one.rows), len(one.columns)) for _, one in looks)
    x, top = MARGIN, HEADING + 30 + 17.0 * max(name.count("\n") + 1 for name, _ in looks)
    for name, one in looks:
        for i, line in enumerate(name.split("\n")):
            canvas.text(x, HEADING + 18 + 17.0 * i, line, SMALL + 1)
        rows, columns = (
            tuple(Label(word, (i,)) for i, word in enumerate(side))
            for side in (one.rows, one.columns)
        )
        weights = np.array([one.weights], np.float32).reshape(1, len(rows), len(columns))
        found = Table("encoder", 0, (0,), rows, columns, weights, "reading")
        true = {column for row, column in one.truth if one.focus in (None, row)}
        ends = _looks(canvas, x, top, found, one.focus, gap=_NARROW, n=tallest, true=true)
        x = ends + 44
    return canvas.finished()


def draw_overview(trace: Trace, view: View) -> DrawnFigure:
    """Source on the left, target on the right: each side looks at itself in arcs, across in lines.

    The mean of the heads of one layer.
    """
    check_across(trace, "overview")
    trace.site("cross", trace.default_layer("cross"))  # or it says what is missing
    tables = {kind: _one_layer(trace, view, kind) for kind in _SIDES if trace.layers(kind)}
    canvas = Canvas(view.theme)
    layers = ", ".join(f"{one.kind} layer {one.layer}" for one in tables.values())
    canvas.heading("Encoder and decoder", f"{layers} · mean of the heads · across: when predicting")
    names = {one.kind: f"{one.attention.rows} looks at {one.attention.columns}" for one in
             tables.values()}  # fmt: skip
    rooms = {kind: Canvas.text_width(name, SMALL, is_bold=True) for kind, name in names.items()}
    source, target = tables["cross"].columns, tables["cross"].rows
    wide = [min(_LONGEST, max(60.0, Canvas.widest(_texts(side)))) for side in (source, target)]
    start = MARGIN + max(_ARC if "encoder" in tables else 0.0, rooms.get("encoder", 0.0) - wide[0])
    left = start + wide[0] + 8
    right = left + max(230.0, rooms["cross"] + 40)
    top, n = HEADING + 46, max(len(source), len(target))
    for kind, at in (("encoder", left - 8), ("cross", (left + right) / 2), ("decoder", right + 8)):
        if kind in names:
            canvas.text(at, top - 20, names[kind], SMALL, *_SIDES[kind], is_bold=True)
    sides = _Column(source, left - 8, top, n, "end"), _Column(target, right + 8, top, n, "start")
    for kind, side, sign, room in zip(("encoder", "decoder"), sides, (-1, 1), wide, strict=True):
        if kind in tables:
            _arcs(canvas, tables[kind], side, sign, room)
    cells, weights = _strong_cells(tables["cross"].mean)
    points = _bows(left, right, sides[0].ys[cells[:, 1]], sides[1].ys[cells[:, 0]])
    _weighted(canvas, points, _SIDES["cross"][0], weights, 7.0)
    for side in sides:
        side.draw(canvas)
    end = right + 8 + wide[1] + (_ARC if "decoder" in tables else 0.0)
    canvas.reach(end, top + n * _ROW + 4)
    return canvas.finished()


def _looks(
    canvas: Canvas, x: float, top: float, found: Table, focus: int | None, *, top_k: int = 0,
    gap: float = _GAP, n: int = 0, true: Set[int] = frozenset(),
) -> float:  # fmt: skip
    """Two columns of words and the lines between them; gives back where they end."""
    n = max(n, len(found.rows), len(found.columns))
    room = Canvas.widest(_texts(found.rows), is_bold=focus is not None)
    left = x + max(min(_LONGEST, room), Canvas.text_width(found.row_meaning, SMALL)) + 8
    right = left + gap
    rows = _Column(found.rows, left - 8, top + 14, n, "end")
    columns = _Column(found.columns, right + 8, top + 14, n, "start")
    canvas.text(left - 8, top, found.row_meaning, SMALL, "soft", "end")
    canvas.text(right + 8, top, "looks at", SMALL, "soft")
    keeps = _strongest(found.weights, top_k or len(found.columns))
    quiet_rows: set[int] = set()
    quiet_columns: set[int] = set()
    if focus is not None:
        quiet_rows = {*range(len(found.rows))} - {focus}
        keeps[:, sorted(quiet_rows)] = False
        most = found.mean[focus].tolist()
        quiet_columns = {j for j, share in enumerate(most) if share < _LOUD} - {*true}
        lit = [j for j, share in enumerate(most) if share >= _LEAST]
        shades = [most[j] / 2 for j in lit]
        canvas.boxes(columns.boxes(lit), fill="look", opacity=shades, radius=5)
    canvas.boxes(columns.boxes(sorted(true)), stroke="mark", width=1.6, radius=5)
    _links(canvas, found, keeps, rows.ys, columns.ys, (left, right))
    rows.draw(canvas, quiet_rows, focus)
    columns.draw(canvas, quiet_columns)
    canvas.reach(right, top + 14 + n * _ROW)
    return (
        right
        + 8
        + max(
            min(_LONGEST, Canvas.widest(_texts(found.columns))),
            Canvas.text_width("looks at", SMALL),
        )
    )


def _links(
    canvas: Canvas, found: Table, keeps: Bool[np.ndarray, "H R C"], y_rows: np.ndarray,
    y_columns: np.ndarray, edges: tuple[float, float],
) -> None:  # fmt: skip
    """Faint lines first, so that strong ones lie on top; heads beside each other, not over."""
    places, values = np.argwhere(keeps), found.weights[keeps]
    order = np.argsort(values, kind="stable")
    heads, i, j = places[order].T
    n_heads = len(found.heads)
    aside = (heads - (n_heads - 1) / 2) * min(2.4, 14 / n_heads)
    points = _bows(*edges, y_rows[i] + aside, y_columns[j] + aside)
    names = [head_colour(found.heads[head]) if n_heads > 1 else "look" for head in heads.tolist()]
    _weighted(canvas, points, names, values[order].astype(np.float64), _THICK / n_heads**0.4)


def _weighted(
    canvas: Canvas, points: np.ndarray, colours: str | Sequence[str], weights: np.ndarray,
    thick: float,
) -> None:  # fmt: skip
    widths, opacities = np.maximum(0.6, thick * weights), np.minimum(1.0, 0.18 + 0.8 * weights)
    canvas.curves(points, colours, widths, opacities, is_smooth=True)


def _bows(
    left: float, right: float, start: np.ndarray, end: np.ndarray
) -> Float[np.ndarray, "N 4 2"]:
    """Curves that leave and arrive level."""
    pull = 0.4 * (right - left)
    xs = np.broadcast_to([left, left + pull, right - pull, right], (len(start), 4))
    return np.stack([xs, np.stack([start, start, end, end], -1)], -1)


def _texts(side: Sequence[Label]) -> list[str]:
    return [label.text for label in side]


def _head_names(canvas: Canvas, heads: Sequence[int], y: float) -> float:
    """A coloured square and a number for each head, in as many lines as they need."""
    canvas.text(MARGIN, y, "heads", SMALL, "soft")
    start = x = MARGIN + Canvas.text_width("heads", SMALL) + 10
    for head in heads:
        canvas.boxes([(x, y - 5, 10, 10)], fill=head_colour(head), radius=2)
        canvas.text(x + 14, y, str(head), SMALL)
        x += 26 + Canvas.text_width(str(head), SMALL)
        if x > start + 420 and head != heads[-1]:
            x, y = start, y + 18
    return y


def _strongest(weights: Float[np.ndarray, "H R C"], top_k: int) -> Bool[np.ndarray, "H R C"]:
    """Which weights get a line: those that can be seen, and no more of a row than so many."""
    keeps: Bool[np.ndarray, "H R C"] = weights >= _LEAST
    if top_k < weights.shape[-1]:
        strongest = np.argpartition(-weights, top_k - 1, axis=-1)[..., :top_k]
        is_strong = np.zeros_like(keeps)
        np.put_along_axis(is_strong, strongest, True, axis=-1)
        keeps &= is_strong
    return keeps


def _one_layer(trace: Trace, view: View, kind: Kind) -> Table:
    layer = view.layer if view.layer in trace.layers(kind) else None
    return replace(view, site=kind, layer=layer, reading=None).table(trace)


def _strong_cells(weights: Float[np.ndarray, "R C"]) -> tuple[np.ndarray, np.ndarray]:
    """The cells worth a line, the faintest first, and their weights."""
    cells = np.argwhere(weights >= _LEAST_ARC)
    order = np.argsort(weights[tuple(cells.T)], kind="stable")[-_MOST_ARCS:]
    return cells[order], weights[tuple(cells[order].T)].astype(np.float64)


def _arcs(canvas: Canvas, found: Table, side: _Column, sign: int, room: float) -> None:
    """From word to word of one side; looks at itself are no arcs, and <s> has no place here.

    They begin beside the longest word, and thin lines lead there from the others.
    """
    x, ys = side.x + sign * (room + 6), side.ys
    cells, weights = _strong_cells(found.mean)
    a = _places(found.rows, side.words)[cells[:, 0]]
    b = _places(found.columns, side.words)[cells[:, 1]]
    keeps = (a >= 0) & (b >= 0) & (a != b)
    a, b = a[keeps], b[keeps]
    words = {i: Canvas.text_width(side.words[i].text) for i in sorted({*a.tolist(), *b.tolist()})}
    leaders = [
        [(x, ys[i]), (side.x + sign * (length + 5), ys[i])]
        for i, length in words.items()
        if length < room - 8
    ]
    canvas.curves(leaders, "line")
    bow = x + sign * np.minimum(_ARC, 14 + 11 * np.abs(a - b)) * 4 / 3
    edge = np.full(len(a), x)
    points = np.stack(
        [np.stack([edge, bow, bow, edge], -1), np.stack([ys[a], ys[a], ys[b], ys[b]], -1)], -1
    )
    _weighted(canvas, points, _SIDES[found.kind][0], weights[keeps], 7.0)


def _places(side: Sequence[Label], shown: Sequence[Label]) -> np.ndarray:
    """Where each label stands in the column that is shown, or -1; the words are the same."""
    words = iter([i for i, label in enumerate(shown) if not label.is_special])
    end = next((i for i, label in enumerate(shown) if label.is_special), -1)
    found: list[int] = []
    for label in side:  # what is special before any word is <s>
        found.append((end if found else -1) if label.is_special else next(words, -1))
    return np.array(found, int)
