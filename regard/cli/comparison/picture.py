"""The picture of a comparison: quality over the length of the source, a line a model."""

from pathlib import Path

from regard.cli.comparison.display import words
from regard.cli.comparison.measuring import Comparison
from regard.counting import counted
from regard.inspection.pictures import canvas, checked_path, save

# Apart for those who do not tell red from green, too (Okabe and Ito 2008).
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def draw_lengths(compared: Comparison, path: str | Path) -> Path:
    """Draw BLEU for each part of the sentences, from short sources to long ones."""
    place = checked_path(path)
    with canvas(7.0, 4.4) as figure:
        axes = figure.subplots()
        for i, one in enumerate(compared.contestants):
            axes.plot(
                range(len(one.by_length)),
                [part.score for part in one.by_length],
                color=_COLOURS[i % len(_COLOURS)],
                marker=_MARKERS[i % len(_MARKERS)],
                label=f"{one.name}  ({one.bleu:.1f})",
            )
        parts = compared.contestants[0].by_length
        labels = [
            f"{words(part.shortest, part.longest)}\n{counted(part.n_sentences, 'sentence')}"
            for part in parts
        ]
        axes.set_xticks(range(len(parts)), labels)
        axes.set(xlabel="words of the source", ylabel="BLEU")
        axes.set_title("Quality by the length of the source", fontsize=13, fontweight="bold")
        axes.grid(axis="y", color="#dddddd", linewidth=0.6)
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
        return save(figure, place)
