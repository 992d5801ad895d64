"""Which source word each target word came from, read off the attention to the source.

The target is read by teacher forcing, and a word's row is the attention of the step that predicts
it, in the last but one layer of the decoder (Garg et al. 2019), averaged over the heads, unless an
:class:`Extraction` says otherwise. <EOS> is left out, and pieces become words: a source word has
the sum of its pieces' weights, a target word the mean of its pieces' rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch

from regard.attention import Site
from regard.data import MemoryCorpus, collate
from regard.errors import UsageError
from regard.inspection.heads import n_heads
from regard.inspection.recording import Recording, at, record
from regard.inspection.value_norms import value_norms, value_probe
from regard.models import EncoderDecoder
from regard.shapes import Float, Tensor
from regard.text.sentences import Units

Shift = Literal["predicting", "reading"]
SHIFTS: tuple[Shift, ...] = get_args(Shift)


@dataclass(frozen=True)
class Extraction:
    """How alignments are read off: the layer, the step that is a word's, the heads, the measure.

    A word has two steps: the one that predicts it, and the next, which reads it and then looks
    where it came from (Chen et al. 2020). With ``norms`` a weight counts by the length of what it
    brings, ``‖αᵢⱼ f(xⱼ)‖`` (Kobayashi et al. 2020).
    """

    layer: int | None = None  # from 0; the one the model aligns by, unless given
    shift: Shift = "predicting"
    heads: tuple[int, ...] = ()  # whose mean counts; none: all
    norms: bool = False

    def __post_init__(self) -> None:
        if self.shift not in SHIFTS:
            raise UsageError(
                f"a word's row is that of the step {' or '.join(SHIFTS)} it, not {self.shift!r}"
            )


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


def align_batch(
    model: EncoderDecoder,
    pairs: Sequence[tuple[Units, Units]],
    layer: int | None = None,
    extraction: Extraction | None = None,
) -> list[Alignment]:
    """The alignment of each pair; ``layer`` is the one the model aligns by, unless given."""
    return align_in_ways(model, pairs, [extraction or Extraction(layer)])[0]


@torch.inference_mode()
def align_in_ways(
    model: EncoderDecoder,
    pairs: Sequence[tuple[Units, Units]],
    extractions: Sequence[Extraction],
) -> list[list[Alignment]]:
    """For each of several extractions the alignments of all pairs, which are read once."""
    sites = [_site(model, one.layer) for one in extractions]
    probes = {site.probe for site in sites}
    for site, one in zip(sites, extractions, strict=True):
        probes |= {value_probe(model, site)} if one.norms else set()
    ids = [(source.ids, target.ids) for source, target in pairs]
    device = next(model.parameters()).device
    batch = collate(MemoryCorpus(ids), range(len(ids))).to(device)
    with record(model, *sorted(probes)) as recording:
        model.hidden(batch.source, batch.target[:, :-1])
    found = []
    for site, one in zip(sites, extractions, strict=True):
        weights = _weights(model, site, one, recording)
        found.append(
            [
                Alignment(
                    source.words,
                    target.words,
                    _by_words(weights[row], source, target),
                    site.layer,
                )
                for row, (source, target) in enumerate(pairs)
            ]
        )
    return found


def _weights(
    model: EncoderDecoder, site: Site, extraction: Extraction, recording: Recording
) -> Float[Tensor, "B T S"]:
    """The rows of the target's words, whichever step is theirs."""
    weights = value_norms(model, site, recording) if extraction.norms else at(recording, site)
    if extraction.heads:
        known = n_heads(model, site)
        if not all(0 <= head < known for head in extraction.heads):
            raise UsageError(
                f"{site.name} has heads 0 to {known - 1}: "
                f"{', '.join(str(head) for head in extraction.heads)} are not all among them"
            )
        weights = weights[:, list(extraction.heads)]
    mean = weights.mean(1).double().cpu()
    return mean[:, 1:] if extraction.shift == "reading" else mean


def _site(model: EncoderDecoder, layer: int | None) -> Site:
    cross = {site.layer: site for site in model.sites if site.kind == "cross"}
    if not cross or model.aligning is None:
        raise UsageError(
            "this model has no attention to the words of its source (it keeps one vector of it, or "
            "a memory, or looks at blocks), so it has no alignments: choose a model with attention"
        )
    site = model.aligning if layer is None else cross.get(layer)
    if site is None:
        raise UsageError(f"the decoder has no layer {layer}: choose 0 to {max(cross)}")
    return site


def _by_words(
    weights: Float[Tensor, "T S"], source: Units, target: Units
) -> tuple[tuple[float, ...], ...]:
    """Rows of target words over source words that sum to one, or are zero where nothing is seen."""
    n_source, n_target = len(source.tokens), len(target.tokens)
    pieces = weights[:n_target, :n_source]
    table = torch.zeros(len(target.words), len(source.words), dtype=torch.float64)
    columns = torch.zeros(n_target, len(source.words), dtype=torch.float64)
    if n_source:
        words = torch.tensor(source.of_tokens)
        columns.index_add_(1, words, pieces)
    if n_target:
        words = torch.tensor(target.of_tokens)
        table.index_add_(0, words, columns)
    totals = table.sum(1, keepdim=True)
    table = torch.where(totals > 0, table / totals.clamp_min(1e-300), table)
    return tuple(tuple(row) for row in table.tolist())
