"""The picture of the position encoding: the well-known heat map, and the waves it is made of."""

from pathlib import Path

from regard.inspection.pictures.canvas import canvas, checked_path, save
from regard.shapes import Float, Tensor

_COLOURS = "RdBu_r"


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
        cmap=_COLOURS,
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
