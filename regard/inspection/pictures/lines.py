"""The lectures' picture: two columns of words, and lines as thick as one word looks at another."""

from collections.abc import Sequence
from pathlib import Path

from regard.errors import UsageError
from regard.inspection.looking import Looking
from regard.inspection.pictures.canvas import canvas, checked_path, save

_LINE, _TRUTH, _QUIET, _LOUD = "#0072b2", "#d55e00", "#8a8a8a", "#111111"
_LEAST = 0.01  # of the attention; thinner lines are not seen
_THICK = 7.0


def draw_lines(panels: Sequence[tuple[str, Looking]], path: str | Path, title: str = "") -> Path:
    """Draw what the word in focus (or every word) looks at, a titled panel each, and save it."""
    place = checked_path(path)
    if not panels:
        raise UsageError("there is nothing to draw: give at least one panel of words")
    n_rows = max(max(len(one.rows), len(one.columns)) for _, one in panels)
    with canvas(3.1 * len(panels), max(1.8, 0.25 * n_rows + 0.8)) as figure:
        many = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (name, looking) in zip(many, panels, strict=True):
            _panel(axes, looking, n_rows)
            axes.set_title(name, fontsize=9)
        if title:
            figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
        return save(figure, place)


def _panel(axes, looking: Looking, n_rows: int) -> None:  # type: ignore[no-untyped-def]
    axes.set(xlim=(-0.75, 1.75), ylim=(n_rows - 0.4, -0.6))
    axes.axis("off")
    left, right = (
        [row + (n_rows - n) / 2 for row in range(n)]
        for n in (len(looking.rows), len(looking.columns))
    )
    shown = range(len(looking.rows)) if looking.focus is None else (looking.focus,)
    true = {column for row, column in looking.truth if row in shown}
    for i, word in enumerate(looking.rows):
        is_loud = i in shown
        axes.text(-0.06, left[i], word, ha="right", va="center", **_face(is_loud, False))
    largest = [max(weight[j] for i, weight in enumerate(looking.weights) if i in shown)
               for j in range(len(looking.columns))]  # fmt: skip
    for j, word in enumerate(looking.columns):
        axes.text(
            1.06, right[j], word, ha="left", va="center", **_face(largest[j] >= 0.1, j in true)
        )
    for i in shown:
        for j, weight in enumerate(looking.weights[i]):
            if weight >= _LEAST:
                axes.plot(
                    (0, 1),
                    (left[i], right[j]),
                    color=_LINE,
                    linewidth=_THICK * weight,
                    alpha=min(1.0, 0.3 + weight),
                    solid_capstyle="round",
                )


def _face(is_loud: bool, is_true: bool) -> dict[str, object]:
    """How a word is written: what is true has a box around it."""
    box = {"boxstyle": "round,pad=0.2", "facecolor": "none", "edgecolor": _TRUTH, "linewidth": 1.2}
    return {"color": _LOUD if is_loud or is_true else _QUIET} | ({"bbox": box} if is_true else {})
