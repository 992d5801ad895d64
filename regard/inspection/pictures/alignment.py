"""An alignment: the words of a translation beside those of its source, darker where they look."""

from pathlib import Path

from regard.inspection.looking import Looking
from regard.inspection.pictures.canvas import canvas, checked_path, save

_COLOURS = "Blues"
_TRUTH = "#d55e00"  # told from blue by any eye
_CELL, _MARGIN = 0.36, 1.7  # inches


def draw_alignment(looking: Looking, path: str | Path, title: str = "") -> Path:
    """Draw the matrix, each true link outlined, and save it."""
    place = checked_path(path)
    n_rows, n_columns = len(looking.rows), len(looking.columns)
    width = max(3.2, _CELL * n_columns + _MARGIN)
    with canvas(width, max(2.2, _CELL * n_rows + _MARGIN)) as figure:
        axes = figure.subplots()
        axes.imshow(
            looking.weights, cmap=_COLOURS, vmin=0, vmax=1, interpolation="nearest", rasterized=True
        )
        axes.xaxis.tick_top()
        is_upright = all(len(word) <= 2 for word in looking.columns)
        axes.set_xticks(range(n_columns), looking.columns)
        if not is_upright:
            for label in axes.get_xticklabels():
                label.set(rotation=50, ha="left", rotation_mode="anchor")
        axes.set_yticks(range(n_rows), looking.rows)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        for edge in range(1, max(n_rows, n_columns)):
            line = {"color": "white", "linewidth": 1.2}
            if edge < n_rows:
                axes.axhline(edge - 0.5, **line)
            if edge < n_columns:
                axes.axvline(edge - 0.5, **line)
        _outline(axes, looking)
        if title:
            figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
        return save(figure, place)


def _outline(axes, looking: Looking) -> None:  # type: ignore[no-untyped-def]
    from matplotlib.patches import Rectangle

    for row, column in looking.truth:
        axes.add_patch(
            Rectangle(
                (column - 0.44, row - 0.44), 0.88, 0.88, fill=False, edgecolor=_TRUTH, linewidth=1.5
            )
        )
