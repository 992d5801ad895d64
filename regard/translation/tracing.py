"""From a model and a sentence to a trace: translate, then read the translation while watching."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from regard import __version__
from regard.attention import Learned, LocalPredictive, Sinusoidal, Site
from regard.checkpoint import LoadedModel
from regard.decoding import Search
from regard.errors import TraceError, UsageError
from regard.inspection.recording import Recording, at, probe_names, record
from regard.inspection.trace import (
    Alternative,
    Provenance,
    Sentence,
    Step,
    Token,
    Trace,
    TracedSite,
    Word,
)
from regard.inspection.trace.checks import check_rows, uniform_heads
from regard.models import EncoderDecoder
from regard.shapes import Float, Int, Tensor
from regard.special import EOS, NAMES
from regard.text import Tokenizer
from regard.text.words import split
from regard.translation.one_model import one_model
from regard.translation.translator import Translator

N_ALTERNATIVES = 5
_PLACES = 64  # of the position encoding, at least, so that its slow waves show
_SAME = 1e-4  # by how much logits may differ, for each unit of their size
_SAME_IN_HALF = 5e-2
_DEPTHS = {"source": "encoder.steps", "target": "decoder.steps"}


@torch.inference_mode()
def trace(
    model: str | Path | LoadedModel | Translator,
    source: str,
    target: str | None = None,
    *,
    search: Search | None = None,
) -> Trace:
    """Look at every attention while the model translates, or reads the target that is given.

    Args:
        model: a model folder, or one that was opened.
        source: one sentence.
        target: what to read as its translation; without it the model's own is found.
        search: how that is found.
    """
    translator = one_model(model)
    loaded = translator.loaded[0]
    with _still(loaded.model):
        read, n_left_out = _read_source(translator, source)
        if target is None:
            tokens = next(iter(translator.translate([source], search)))[0].tokens
            written = _written(translator.target_tokenizer, tokens)
        else:
            written, more = _given(translator, target)
            n_left_out += more
        provenance = Provenance(
            loaded.path.resolve().name,
            loaded.recipe.model.kind,
            loaded.recipe.name,
            loaded.recipe.training.seed,
            __version__,
            target is not None,
            n_left_out,
        )
        return _watched(loaded, read, written, provenance)


@contextmanager
def _still(model: nn.Module) -> Iterator[None]:
    """Evaluation mode while the block lasts: no dropout, no drawing of lots."""
    was_training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was_training)


def _sentence(text: str, tokens: Iterable[Token]) -> Sentence:
    words = tuple(Word(word.text, word.start, word.end) for word in split(text))
    end = Token(EOS, NAMES[EOS], len(text), len(text), None)
    return Sentence(text, words, (*tokens, end))


def _read_source(translator: Translator, text: str) -> tuple[Sentence, int]:
    sentence, n_left_out = _cut(translator.source_tokenizer, text, translator.limit)
    if len(sentence.tokens) == 1:
        raise UsageError("there is nothing to look at: the source sentence is empty")
    return sentence, n_left_out


def _given(translator: Translator, text: str) -> tuple[Sentence, int]:
    return _cut(translator.target_tokenizer, text, translator.limit)


def _cut(tokenizer: Tokenizer, text: str, limit: int) -> tuple[Sentence, int]:
    pieces = tokenizer.pieces(text) if split(text) else []
    kept = (Token(one.id, one.text, one.start, one.end, one.word) for one in pieces[:limit])
    return _sentence(text, kept), max(0, len(pieces) - limit)


def _written(tokenizer: Tokenizer, ids: Sequence[int]) -> Sentence:
    """What a search wrote; text does not always give the tokens back that spelled it."""
    text = tokenizer.decode(ids)
    pieces = tokenizer.pieces(text) if split(text) else []
    if [piece.id for piece in pieces] == list(ids):
        found = (Token(one.id, one.text, one.start, one.end, one.word) for one in pieces)
        return _sentence(text, found)
    words = split(text)
    starts = [word.start for word in words]
    tokens, end = [], 0
    for n, id_ in enumerate(ids, 1):
        start, end = end, max(end, _shared(tokenizer.decode(ids[:n]), text))
        covered = text[start:end]
        first = start + len(covered) - len(covered.lstrip())
        word = max(0, bisect_right(starts, first) - 1) if words else None
        tokens.append(Token(id_, tokenizer.token(id_), first, end, word))
    return _sentence(text, tokens)


def _shared(a: str, b: str) -> int:
    """How many characters two texts begin with in common."""
    n = min(len(a), len(b))
    return next((i for i in range(n) if a[i] != b[i]), n)


def _watched(
    loaded: LoadedModel, source: Sentence, target: Sentence, provenance: Provenance
) -> Trace:
    """Read both sentences twice, once as always and once watched, and keep what was seen."""
    model = loaded.translator
    device = next(model.parameters()).device
    source_ids = torch.tensor([[token.id for token in source.tokens]], device=device)
    target_ids = torch.tensor([[token.id for token in target.read]], device=device)
    depths = {side: probe for side, probe in _DEPTHS.items() if probe in probe_names(model)}
    probes = sorted({site.probe for site in model.sites} | set(depths.values()))
    unwatched = model(source_ids, target_ids)
    with record(model, *(probes or ["logits"])) as recording:
        logits = model(source_ids, target_ids)
    sites = tuple(_sites(model, recording))
    return Trace(
        source,
        target,
        sites,
        _steps(logits[0], target, loaded.target_tokenizer),
        replace(provenance, difference=_difference(logits, unwatched)),
        _aligning(model, sites),
        {side: tuple(recording[probe][0].int().tolist()) for side, probe in depths.items()},
        _positions(model, max(_PLACES, len(source.tokens), len(target.tokens))),
    )


def _sites(model: EncoderDecoder, recording: Recording) -> Iterator[TracedSite]:
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


def _aligning(model: EncoderDecoder, sites: Sequence[TracedSite]) -> int | None:
    """The layer the model aligns by, or the last that came about before it."""
    chosen = model.aligning
    layers = [site.layer for site in sites if site.kind == "cross"]
    return None if chosen is None or not layers else min(chosen.layer, layers[-1])


def _came_about(site: Site, recording: Recording) -> bool:
    """Where every word has halted, later repetitions never come."""
    return site.occasion is None or site.occasion < len(recording.all(site.probe))


def _difference(watched: Float[Tensor, "B T V"], unwatched: Float[Tensor, "B T V"]) -> float:
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


def _steps(
    logits: Float[Tensor, "T V"], target: Sentence, tokenizer: Tokenizer
) -> tuple[Step, ...]:
    table = torch.log_softmax(logits.float(), dim=-1)
    ids: Int[Tensor, "T"] = torch.tensor([token.id for token in target.tokens]).to(table.device)
    chosen = table.gather(1, ids[:, None])[:, 0].tolist()
    best = table.topk(min(N_ALTERNATIVES, table.shape[-1]), dim=-1)
    rows = zip(chosen, best.indices.tolist(), best.values.tolist(), strict=True)
    return tuple(
        Step(
            value,
            tuple(
                Alternative(id_, tokenizer.token(id_), other)
                for id_, other in zip(indices, values, strict=True)
            ),
        )
        for value, indices, values in rows
    )


def _positions(model: EncoderDecoder, n_places: int) -> Float[np.ndarray, "L D"] | None:
    """What the model adds to its first words, if it adds anything for their places."""
    for module in model.modules():
        if isinstance(module, Sinusoidal | Learned):
            most = n_places
            if isinstance(module, Learned):
                most = min(n_places, len(module.table))
            table = module.prepared(most)[:most].float().cpu().numpy()
            return table.copy()
    return None
