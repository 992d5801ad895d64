"""Pruning: a model without some of its heads, for good, and what that costs.

Which heads stay is told by gates that learn to close (Voita et al. 2019), by importance (Michel,
Levy and Neubig 2019), by what heads were found to do (`regard heads`), or by chance.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import numpy as np
import torch

from regard.attention import MultiHeadAttention, Site
from regard.config.network import LayeredHeads
from regard.data import Batch
from regard.devices import choose_device
from regard.errors import UsageError
from regard.files import whole_folder
from regard.folder import LoadedModel, load_lexicon, save, save_lexicon
from regard.folder.weights import WEIGHTS
from regard.inspection.ablation import scaled
from regard.inspection.gates import HeadGates
from regard.inspection.head_study.report import read_report
from regard.inspection.heads import Head, all_heads, attention_at, find_heads, sites_of
from regard.inspection.importance import Losses, head_importance
from regard.models import Model
from regard.shapes import Float, Tensor
from regard.systems.further_training import FurtherTraining, HeldOutQuality, Tell
from regard.systems.loading import load
from regard.systems.results import Result
from regard.training.events import Progressed
from regard.training.tasks import Task

METHODS = ("gates", "importance", "gain", "random")

_ROWS = 1000  # training examples whose gradients tell importance
_POINTS = 8  # of a curve, about


@dataclass(frozen=True, repr=False)
class CurvePoint(Result):
    """So many heads: the loss without the others, and of as many drawn by chance."""

    n_heads: int
    loss: float
    random: tuple[float, ...]


@dataclass(frozen=True, repr=False)
class Pruning(Result):
    """What became of a model that was pruned. LayeredHeads have the names they had before."""

    shows: ClassVar[tuple[str, ...]] = ("path", "method", "kept", "before", "after", "trained")

    path: str
    method: str
    kept: tuple[Head, ...]
    removed: tuple[Head, ...]
    before: HeldOutQuality
    after: HeldOutQuality  # as the heads went
    trained: HeldOutQuality | None  # after further training
    random: tuple[float, ...]  # the losses with as many heads, drawn by chance
    curve: tuple[CurvePoint, ...]
    n_parameters: tuple[int, int]  # before and after
    n_bytes: tuple[int, int]  # of the weights

    @property
    def final(self) -> HeldOutQuality:
        """Of the folder that was written."""
        return self.trained or self.after


def prune(
    model: str | Path,
    out: str | Path,
    *,
    keep: int | str,
    method: str = "importance",
    of: str | None = None,
    report: str | Path | None = None,
    data: str | Path | Sequence[str] = (),
    valid: str | Path | Sequence[str] = (),
    updates: int = 0,
    gate_updates: int = 1000,
    draws: int = 10,
    with_curve: bool = False,
    seed: int = 1,
    device: str = "cpu",
    tell: Tell = lambda event: None,
) -> Pruning:
    """Write a model folder with fewer heads: smaller, faster, and all that can be done with it.

    Args:
        model: the folder of a Transformer, a gpt, a bert or what was fine-tuned from one.
        out: the new folder, written whole or not at all.
        keep: how many heads stay, or a share such as ``"50%"``.
        method: how they are chosen: gates, importance, gain or random.
        of: the attentions that are pruned, ``"encoder"`` or ``"decoder,cross"``; usually all.
        report: for ``gain``, what ``regard heads --json`` said of the model.
        data: to learn from; usually what the model was trained on. ``valid`` is held out.
        updates: of further training once the heads are gone.
        gate_updates: of gates and weights together, where gates choose.
        draws: of as many heads by chance, beside those chosen.
        with_curve: measure other numbers of heads too.
        seed: of what is drawn.
        device: auto, cpu, cuda or mps.
        tell: is told how far it is.
    """
    if method not in METHODS:
        raise UsageError(f"heads are not chosen by {method!r}: choose {', '.join(METHODS)}")
    out = Path(out)
    if out.exists() and any(out.iterdir() if out.is_dir() else [out]):
        raise UsageError(f"--out {out} is there already: choose a folder that is new or empty")
    loaded = load(model, choose_device(device))
    heads = _prunable(loaded, of)
    n = _count(keep, len(heads))
    # Refused before the data are read.
    gains = _read_gains(report, loaded.model, heads) if method == "gain" else {}
    with TemporaryDirectory() as work:
        bench = FurtherTraining.of(loaded, Path(work), _listed(data), _listed(valid), tell)
        first = bench.measured(loaded.model)
        cut = copy.deepcopy(loaded.model)
        match method:
            case "importance":
                ranked = _by_importance(bench, cut, heads)
            case "gates":
                ranked = _by_gates(bench, cut, heads, n, gate_updates)
            case "gain":
                ranked = sorted(heads, key=lambda head: (gains[head], head))
            case _:
                ranked = _shuffled(heads, seed)
        removed = ranked[: len(heads) - n]
        comparison = _Comparison(bench, loaded.model, heads, draws, seed)
        curve = comparison.curve(ranked) if with_curve else ()
        chance = comparison.by_chance(n)
        _remove(cut, removed)
        after = bench.measured(cut)
        if updates:
            bench.learn(cut, updates, "further training")
        trained = bench.measured(cut) if updates else None
        _write(out, loaded, cut, removed)
    sizes = (Path(model) / WEIGHTS).stat().st_size, (out / WEIGHTS).stat().st_size
    return Pruning(
        path=str(out),
        method=method,
        kept=tuple(head for head in heads if head not in removed),
        removed=tuple(sorted(removed)),
        before=first,
        after=after,
        trained=trained,
        random=chance,
        curve=curve,
        n_parameters=(loaded.model.n_parameters, cut.n_parameters),
        n_bytes=sizes,
    )


def _listed(names: str | Path | Sequence[str]) -> Sequence[str]:
    return [str(names)] if isinstance(names, str | Path) else names


def _prunable(loaded: LoadedModel, of: str | None) -> list[Head]:
    """The heads among which some go."""
    network = loaded.recipe.model
    if not isinstance(network, LayeredHeads):
        raise UsageError(
            f"{loaded.path} holds a model of kind {network.kind}, which has no heads in layers of "
            "their own: a Transformer, a gpt or a bert can be pruned"
        )
    if of is None:
        return list(all_heads(loaded.model))
    kinds = of.replace(" ", "").split(",")
    if unknown := [kind for kind in kinds if kind not in network.stacks]:
        raise UsageError(
            f"this model has no attention {unknown[0]!r}: choose among {', '.join(network.stacks)}"
        )
    return [head for head in all_heads(loaded.model) if head.kind in kinds]


def _count(keep: int | str, n_heads: int) -> int:
    """How many heads stay."""
    text = str(keep).strip()
    share = text.removesuffix("%")
    if not share.isdecimal():
        raise UsageError(f"keep {keep!r} is no number of heads: write 10, or 50% for half of them")
    n = round(int(share) * n_heads / 100) if text.endswith("%") else int(share)
    if not 0 <= n < n_heads:
        raise UsageError(f"{n} of {n_heads} heads cannot be kept: choose 0 to {n_heads - 1}")
    return n


def _read_gains(
    report: str | Path | None, model: Model, heads: Sequence[Head]
) -> dict[Head, float]:
    """Of each head the most that it gains over a fixed offset, of all relations."""
    if report is None:
        raise UsageError(
            "gain is read from a report: print it with `regard heads MODEL --treebank FILE --json` "
            "and name it with --report"
        )
    spread = read_report(report)["spread"]
    most = {
        name: max(row, default=0.0)
        for name, row in zip(spread["heads"], spread["gain"], strict=True)
    }
    find_heads(model, list(most))  # refuses a report of another model
    return {head: most.get(head.name, 0.0) for head in heads}


def _by_importance(bench: FurtherTraining, model: Model, heads: Sequence[Head]) -> list[Head]:
    """By the gradient of a loss over training data; divided by layer it was worse than chance."""

    def losses(batch: Batch) -> Float[Tensor, "1"]:
        return bench.task(model, batch, 0.0)[0][None]

    device = next(model.parameters()).device
    read: Iterator[tuple[int, Losses]] = (
        (len(batch), partial(losses, batch)) for batch in bench.batches(_ROWS, device, "importance")
    )
    found = head_importance(model, read)
    return [head for head in found.ranked if head in heads]


def _by_gates(
    bench: FurtherTraining, model: Model, heads: Sequence[Head], keep: int, updates: int
) -> list[Head]:
    """By gates that learn to close along with the weights, of which they become a part."""
    kinds = tuple(dict.fromkeys(head.kind for head in heads))
    gates = HeadGates(model, kinds, bench.rate, keep)
    model.add_module("gates", gates)  # among what learns
    bench.learn(model, updates, "gates", _GatedTask(bench.task, gates, bench.n_batches(updates)))
    del model.gates
    learned = gates.learned()
    sites: dict[tuple[str, int], Site] = {(s.kind, s.layer): s for s in sites_of(model)}
    with torch.no_grad():
        for head, (_, value) in learned.items():
            attention = attention_at(model, sites[head.kind, head.layer])
            assert isinstance(attention, MultiHeadAttention)
            start = head.head * attention.d_head
            attention.output.weight[:, start : start + attention.d_head] *= value
    return sorted(learned, key=lambda head: (learned[head][0], head))


@dataclass(frozen=True)
class _GatedTask:
    """A task under gates on heads, to which the price of open gates is added."""

    task: Task
    gates: HeadGates
    n_batches: int

    def __call__(
        self, model: Model, batch: Batch, smoothing: float
    ) -> tuple[Float[Tensor, ""], int]:
        with scaled(model, self.gates.factors(is_drawn=model.training)):
            loss, n = self.task(model, batch, smoothing)
        return loss + n * self.gates.price(self.n_batches), n


@dataclass(frozen=True)
class _Comparison:
    """What the loss of a model is with fewer heads, chosen or drawn."""

    bench: FurtherTraining
    model: Model
    heads: Sequence[Head]
    draws: int
    seed: int

    def loss(self, removed: Sequence[Head]) -> float:
        """Without these heads."""
        smaller = copy.deepcopy(self.model)
        _remove(smaller, removed)
        return self.bench.loss(smaller)

    def by_chance(self, n: int) -> tuple[float, ...]:
        """With so many heads, each time others."""
        losses = []
        for draw in range(self.draws):
            removed = _shuffled(self.heads, self.seed + draw)[: len(self.heads) - n]
            losses.append(self.loss(removed))
            self.bench.tell(Progressed(f"{n} heads by chance", draw + 1, self.draws))
        return tuple(losses)

    def curve(self, ranked: Sequence[Head]) -> tuple[CurvePoint, ...]:
        """With ever fewer heads, the first of those ranked gone first."""
        n_all = len(ranked)
        counts = sorted({round(i * n_all / _POINTS) for i in range(_POINTS + 1)}, reverse=True)
        points = []
        for n in counts:
            loss = self.loss(ranked[: n_all - n])
            points.append(CurvePoint(n, loss, self.by_chance(n) if 0 < n < n_all else (loss,)))
        return tuple(points)


def _shuffled(heads: Sequence[Head], seed: int) -> list[Head]:
    order = np.random.default_rng(seed).permutation(len(heads))
    return [heads[i] for i in order]


def _kept(model: Model, removed: Sequence[Head]) -> dict[tuple[str, int], tuple[int, ...]]:
    """By attention and layer, the heads that stay; only where some go."""
    layers = {(head.kind, head.layer) for head in removed}
    return {
        (kind, layer): tuple(
            head.head
            for head in all_heads(model, kind)
            if head.layer == layer and head not in removed
        )
        for kind, layer in layers
    }


def _remove(model: Model, removed: Sequence[Head]) -> None:
    """Do without these heads, for good."""
    model.keep_heads(_kept(model, removed))


def _write(out: Path, loaded: LoadedModel, model: Model, removed: Sequence[Head]) -> None:
    """A folder of the smaller model, whose recipe says which heads it has."""
    network = loaded.recipe.model
    assert isinstance(network, LayeredHeads)
    before = network.heads_kept  # a model that was pruned before counts its heads anew
    every = tuple(range(network.n_heads))
    names = [
        f"{kind}.{layer}.{before.get((kind, layer), every)[head]}"
        for kind, layer, head in sorted((one.kind, one.layer, one.head) for one in removed)
    ]
    gone = (*network.heads_removed, *names)
    smaller = network.model_copy(update={"heads_removed": gone})
    recipe = loaded.recipe.model_copy(update={"model": smaller})
    with whole_folder(out) as filling:
        save(filling, model, recipe, loaded.source_tokenizer, loaded.target_tokenizer)
        if (lexicon := load_lexicon(loaded.path)) is not None:
            save_lexicon(filling, lexicon)
