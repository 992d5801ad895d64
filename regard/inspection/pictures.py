"""Still pictures of words that look at words, and of positions; same numbers, same bytes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from regard.errors import UsageError, WriteError
from regard.files import whole_file
from regard.inspection.fonts import FAMILIES, quiet_matplotlib, register
from regard.inspection.looking import Looking
from regard.shapes import Float, Tensor

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
_SHADES = "Blues"
_TRUTH = "#d55e00"  # told from blue by any eye
_CELL, _MARGIN = 0.36, 1.7  # inches
_LINE, _QUIET, _LOUD = "#0072b2", "#8a8a8a", "#111111"
_LEAST = 0.01  # of the attention; thinner lines are not seen
_THICK = 7.0
_SIGNED = "RdBu_r"


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


def draw_alignment(looking: Looking, path: str | Path, title: str = "") -> Path:
    """Draw the matrix, each true link outlined, and save it."""
    place = checked_path(path)
    n_rows, n_columns = len(looking.rows), len(looking.columns)
    width = max(3.2, _CELL * n_columns + _MARGIN)
    with canvas(width, max(2.2, _CELL * n_rows + _MARGIN)) as figure:
        axes = figure.subplots()
        axes.imshow(
            looking.weights, cmap=_SHADES, vmin=0, vmax=1, interpolation="nearest", rasterized=True
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


def draw_positions(encoding: Float[Tensor, "L D"], path: str | Path) -> Path:
    """Draw the encoding of L places in D numbers, and save it."""
    place = checked_path(path)
    length, width = encoding.shape
    with canvas(9.0, 6.4) as figure:
        above, below = figure.subplots(2, 1, height_ratios=(1.25, 1))
        _heat_map(figure, above, encoding)
        _waves(below, encoding)
        figure.suptitle(
            f"Sinusoidal position encoding: {length} places, d = {width}",
            x=0.01,
            ha="left",
            fontsize=13,
            fontweight="bold",
        )
        return save(figure, place)


def _heat_map(figure, axes, encoding: Float[Tensor, "L D"]) -> None:  # type: ignore[no-untyped-def]
    image = axes.imshow(
        encoding.numpy(),
        cmap=_SIGNED,
        vmin=-1,
        vmax=1,
        aspect="auto",
        interpolation="nearest",
        rasterized=True,
    )
    axes.set(
        xlabel="column (even: sine, odd: cosine)",
        ylabel="place",
        title="Every row is the vector of one place",
    )
    axes.spines[:].set_visible(False)
    bar = figure.colorbar(image, ax=axes, ticks=(-1, 0, 1), pad=0.015, aspect=18)
    bar.outline.set_visible(False)


def _waves(axes, encoding: Float[Tensor, "L D"]) -> None:  # type: ignore[no-untyped-def]
    import matplotlib as mpl

    length, width = encoding.shape
    pairs = sorted({min(i, width // 2 - 1) for i in (0, width // 16, width // 8, width // 4)})
    marker = "o" if length <= 64 else None
    for order, pair in enumerate(pairs):
        colour = mpl.colormaps["viridis"](0.85 * order / max(1, len(pairs) - 1))
        sine, cosine = (encoding[:, column].numpy() for column in (2 * pair, 2 * pair + 1))
        axes.plot(sine, color=colour, linewidth=1.5, marker=marker, markersize=2.8)
        axes.plot(cosine, color=colour, linewidth=0.9, linestyle="--", alpha=0.45)
        axes.plot([], color=colour, linewidth=1.5, label=f"{2 * pair} (and {2 * pair + 1} dashed)")
    axes.set(
        xlabel="place",
        ylim=(-1.08, 1.08),
        xlim=(-0.5, max(1, length) - 0.5),
        yticks=(-1, 0, 1),
        title="Every column is a wave, slower from left to right",
    )
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=len(pairs), frameon=False)
