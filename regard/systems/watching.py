"""Reading twice, once as always and once watched: what was seen, if both say the same."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from regard import __version__
from regard.attention import Learned, LocalPredictive, Sinusoidal, Site
from regard.errors import TraceError
from regard.folder import LoadedModel
from regard.inspection.recording import Recording, at, probe_names, record
from regard.inspection.trace import Alternative, Provenance, TracedSite, TracedStep
from regard.inspection.trace.checks import check_rows, uniform_heads
from regard.models import Model
from regard.shapes import Float, Int, Tensor
from regard.text import Tokenizer

N_ALTERNATIVES = 5
_PLACES = 64  # of the position encoding, at least, so that its slow waves show
_SAME = 1e-4  # by how much logits may differ, for each unit of their size
_SAME_IN_HALF = 5e-2
_DEPTHS = {"source": "encoder.steps", "target": "decoder.steps"}

Read = Callable[[], Float[Tensor, "B T V"]]


@dataclass(frozen=True, eq=False)
class Watched:
    """What a model computed while it was watched."""

    logits: Float[Tensor, "T V"]
    sites: tuple[TracedSite, ...]
    depths: Mapping[str, tuple[int, ...]]
    difference: float  # of the logits, watched against unwatched


def watch(model: Model, read: Read) -> Watched:
    """Let the model read one row twice, and keep every attention of the second time."""
    depths = {side: probe for side, probe in _DEPTHS.items() if probe in probe_names(model)}
    probes = sorted({site.probe for site in model.sites} | set(depths.values()))
    unwatched = read()
    with record(model, *(probes or ["logits"])) as recording:
        logits = read()
    return Watched(
        logits[0],
        tuple(_sites(model, recording)),
        {side: tuple(recording[probe][0].int().tolist()) for side, probe in depths.items()},
        difference_of(logits, unwatched),
    )


@contextmanager
def still(model: nn.Module) -> Iterator[None]:
    """Evaluation mode while the block lasts: no dropout, no drawing of lots."""
    was_training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was_training)


def provenance(
    loaded: LoadedModel, is_forced: bool, n_left_out: int, difference: float
) -> Provenance:
    """Where a trace comes from."""
    return Provenance(
        loaded.path.resolve().name,
        loaded.recipe.model.kind,
        loaded.recipe.name,
        loaded.recipe.training.seed,
        __version__,
        is_forced,
        n_left_out,
        difference,
    )


def steps(
    logits: Float[Tensor, "T V"], ids: Sequence[int], tokenizer: Tokenizer
) -> tuple[TracedStep, ...]:
    """How probable each id is where it stands, and which ones are the most probable there."""
    table = torch.log_softmax(logits.float(), dim=-1)
    wanted: Int[Tensor, "T"] = torch.tensor(ids, dtype=torch.long).to(table.device)
    chosen = table.gather(1, wanted[:, None])[:, 0].tolist()
    best = table.topk(min(N_ALTERNATIVES, table.shape[-1]), dim=-1)
    rows = zip(chosen, best.indices.tolist(), best.values.tolist(), strict=True)
    return tuple(
        TracedStep(
            value,
            tuple(
                Alternative(id_, tokenizer.token(id_), other)
                for id_, other in zip(indices, values, strict=True)
                if other > -torch.inf
            ),
        )
        for value, indices, values in rows
    )


def positions(model: nn.Module, n_read: int) -> Float[np.ndarray, "L D"] | None:
    """What the model adds to its first words, if it adds anything for their places."""
    n_places = max(_PLACES, n_read)
    for module in model.modules():
        if isinstance(module, Sinusoidal | Learned):
            most = n_places
            if isinstance(module, Learned):
                most = min(n_places, len(module.table))
            table = module.prepared(most)[:most].float().cpu().numpy()
            return table.copy()
    return None


def _sites(model: Model, recording: Recording) -> Iterator[TracedSite]:
    modules = dict(model.named_modules())
    for site in model.sites:
        if not _came_about(site, recording):
            continue
        weights = at(recording, site)[0].float().cpu().numpy().copy()
        normaliser = getattr(modules[site.probe.rpartition(".")[0]], "normaliser", None)
        is_whole = not isinstance(normaliser, LocalPredictive)
        check_rows(site.name, weights, sums_to_one=is_whole)
        flags = uniform_heads(weights, is_causal=site.kind == "decoder")
        yield TracedSite(site.kind, site.layer, weights, flags, is_whole)


def _came_about(site: Site, recording: Recording) -> bool:
    """Where every word has halted, later repetitions never come."""
    return site.occasion is None or site.occasion < len(recording.all(site.probe))


def difference_of(watched: Float[Tensor, "B T V"], unwatched: Float[Tensor, "B T V"]) -> float:
    """Watching forms the weights that fused kernels never form; the outcome must be the same."""
    difference = float((watched.float() - unwatched.float()).abs().max())
    size = max(1.0, float(unwatched.float().abs().max()))
    allowed = _SAME if watched.dtype in (torch.float32, torch.float64) else _SAME_IN_HALF
    if not difference <= allowed * size:
        raise TraceError(
            f"the model computes something else when it is watched: its logits differ by "
            f"{difference:.2g}, and {allowed * size:.2g} is allowed"
        )
    return difference
