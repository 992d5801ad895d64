"""Which source word each target word came from, read off the attention to the source.

The target is read by teacher forcing, and a word's row is the attention of the step that predicts
it, in the last but one layer of the decoder (Garg et al. 2019), averaged over the heads. <EOS> is
left out, and pieces become words: a source word has the sum of its pieces' weights, a target word
the mean of its pieces' rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from regard.attention import Site
from regard.data import MemoryCorpus, collate
from regard.errors import UsageError
from regard.inspection.recording import at, record
from regard.models import EncoderDecoder
from regard.shapes import Float, Tensor
from regard.text import Piece


@dataclass(frozen=True)
class Alignment:
    """Words of both sides; ``matrix[j][i]`` is how much target word j looked at source word i."""

    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]
    layer: int  # of the decoder, counted from 0

    @property
    def links(self) -> tuple[tuple[int, int], ...]:
        """For each target word the source word it looked at most, as (source, target)."""
        return tuple(
            (max(range(len(row)), key=row.__getitem__), j)
            for j, row in enumerate(self.matrix)
            if any(row)
        )

    def __str__(self) -> str:
        """As ``0-0 1-2``: source word, target word, counted from 0."""
        return " ".join(f"{i}-{j}" for i, j in self.links)


@dataclass(frozen=True)
class Read:
    """A sentence as the model reads it: its words, and the pieces that are not beyond the limit."""

    words: tuple[str, ...]
    pieces: tuple[Piece, ...]

    @property
    def ids(self) -> list[int]:
        """The ids of the pieces."""
        return [piece.id for piece in self.pieces]


@torch.inference_mode()
def align_batch(
    model: EncoderDecoder, pairs: Sequence[tuple[Read, Read]], layer: int | None = None
) -> list[Alignment]:
    """The alignment of each pair; ``layer`` is the one the model aligns by, unless given."""
    site = _site(model, layer)
    ids = [(source.ids, target.ids) for source, target in pairs]
    device = next(model.parameters()).device
    batch = collate(MemoryCorpus(ids), range(len(ids))).to(device)
    with record(model, site.probe) as recording:
        model.hidden(batch.source, batch.target[:, :-1])
    weights = at(recording, site).mean(1).double().cpu()
    return [
        Alignment(
            source.words,
            target.words,
            _by_words(weights[row], source, target),
            site.layer,
        )
        for row, (source, target) in enumerate(pairs)
    ]


def _site(model: EncoderDecoder, layer: int | None) -> Site:
    cross = {site.layer: site for site in model.sites if site.kind == "cross"}
    if not cross:
        raise UsageError(
            "this model never looks back at its source (it keeps one vector of it), so it has no "
            "alignments: choose a model with attention"
        )
    site = model.aligning if layer is None else cross.get(layer)
    if site is None:
        raise UsageError(f"the decoder has no layer {layer}: choose 0 to {max(cross)}")
    return site


def _by_words(
    weights: Float[Tensor, "T S"], source: Read, target: Read
) -> tuple[tuple[float, ...], ...]:
    """Rows of target words over source words that sum to one, or are zero where nothing is seen."""
    n_source, n_target = len(source.pieces), len(target.pieces)
    pieces = weights[:n_target, :n_source]
    table = torch.zeros(len(target.words), len(source.words), dtype=torch.float64)
    columns = torch.zeros(n_target, len(source.words), dtype=torch.float64)
    if n_source:
        words = torch.tensor([piece.word for piece in source.pieces])
        columns.index_add_(1, words, pieces)
    if n_target:
        words = torch.tensor([piece.word for piece in target.pieces])
        table.index_add_(0, words, columns)
    totals = table.sum(1, keepdim=True)
    table = torch.where(totals > 0, table / totals.clamp_min(1e-300), table)
    return tuple(tuple(row) for row in table.tolist())
