"""Other attention than the model's own: heads switched off, or made to look elsewhere.

A head is switched off where its context leaves it, ``ξ · head(x)`` with ξ = 0: its weights are what
they were, and nothing is brought back (Michel, Levy and Neubig 2019). Other weights take the place
of the model's where they pass its probe. Places that the mask hides stay hidden. While a change is
in force every search and every reading is under it, for whoever listens keeps fused kernels away.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import local

import torch
from torch import nn

from regard.attention import Hard, Site
from regard.errors import UsageError
from regard.inspection.heads import Head, HeadLike, attention_at, find_heads, sites_of
from regard.inspection.recording import Replacement, probe_names, record
from regard.shapes import Float, Tensor

CHANGES = ("off", "uniform", "argmax")
Change = str | Tensor  # one of these, or weights Q K or B Q K
Changes = Mapping[Head, Change] | Mapping[str, Change]
_Act = Callable[[Tensor, int], Tensor]  # from what passes and the number of its first query


@contextmanager
def ablated(
    model: nn.Module,
    heads: HeadLike | Iterable[HeadLike] | Changes,
    change: Change = "off",
) -> Iterator[tuple[Head, ...]]:
    """Change these heads while the block lasts, all alike or, by a mapping, each in its own way.

    ``with ablated(model, "cross.1.0,encoder.0"): …``. ``off`` takes the head's context away,
    ``uniform`` lets it look evenly at all it may see, ``argmax`` at the one place it prefers; a
    tensor ``Q K`` is the weights themselves. Of given weights step t takes row t, and rows beyond
    the last keep the model's own; start a new block for every sentence.
    """
    changes = changes_of(model, heads, change)
    acts: dict[Site, dict[str, list[_Act]]] = {}
    sites: dict[tuple[str, int], Site] = {(s.kind, s.layer): s for s in sites_of(model)}
    for head, one in changes.items():
        site = sites[head.kind, head.layer]
        for probe, act in _acts(model, site, head, one).items():
            acts.setdefault(site, {}).setdefault(probe, []).append(act)
    with replacing(model, acts):
        yield tuple(changes)


def changes_of(
    model: nn.Module,
    heads: HeadLike | Iterable[HeadLike] | Changes,
    change: Change = "off",
    *,
    kind: str | None = None,
) -> dict[Head, Change]:
    """What is to become of each head, from names; short ones are of that kind."""
    if not isinstance(heads, Mapping):
        return dict.fromkeys(find_heads(model, heads, kind=kind), change)
    return {head: one for name, one in heads.items() for head in find_heads(model, name, kind=kind)}


@contextmanager
def scaled(model: nn.Module, factors: Mapping[Site, Float[Tensor, "#B H"]]) -> Iterator[None]:
    """Multiply what each head brings back by a factor while the block lasts: ``ξ · head(x)``."""

    def by(factor: Tensor) -> _Act:
        return lambda context, _: context * factor[..., None, None].to(context.dtype)

    acts = {site: {"contexts": [by(factor)]} for site, factor in factors.items()}
    with replacing(model, acts):
        yield


@contextmanager
def replacing(
    model: nn.Module, acts: Mapping[Site, Mapping[str, Iterable[_Act]]]
) -> Iterator[None]:
    """Let acts change what passes the probes beside a site's weights: scores, weights, contexts."""
    names = probe_names(model)
    passes: dict[str, _Passes] = {}
    replace: dict[str, Replacement] = {}
    for site, per_probe in acts.items():
        for probe, some in per_probe.items():
            name = f"{site.probe.rpartition('.')[0]}.{probe}"
            mine = passes.setdefault(name, _Passes())
            mine.add(site.occasion, some)
            replace[name] = mine
            # Where every word may halt, a repeated layer says how often it ran when it is done.
            end = None if site.occasion is None else _end_of(name, names)
            if end is not None:
                replace[end] = _Ending([p for n, p in passes.items() if _end_of(n, names) == end])
    if not replace:
        yield
        return
    with record(model, replace=replace):
        yield


class _Passes:
    """What passes one probe, pass by pass: a repeated layer's are told apart by their number.

    Searches work in several threads at once, each with passes of its own.
    """

    def __init__(self) -> None:
        self._acts: dict[int | None, list[_Act]] = {}
        self._now = local()

    def add(self, occasion: int | None, acts: Iterable[_Act]) -> None:
        self._acts.setdefault(occasion, []).extend(acts)

    def begin(self) -> None:
        """The next pass is the first again, of the queries that come after those so far."""
        self._now.occasion = 0

    def __call__(self, value: Tensor) -> Tensor:
        occasion = getattr(self._now, "occasion", 0)
        seen: dict[int, int] = self._now.__dict__.setdefault("seen", {})
        first = seen.get(occasion, 0)
        repeated = None not in self._acts
        for act in self._acts.get(occasion if repeated else None, ()):
            value = act(value, first)
        if repeated:
            self._now.occasion = occasion + 1
        seen[occasion] = first + value.shape[-2]
        return value


class _Ending:
    """At the end of all repetitions the next pass is the first again."""

    def __init__(self, passes: list[_Passes]) -> None:
        self.passes = passes

    def __call__(self, value: Tensor) -> Tensor:
        for one in self.passes:
            one.begin()
        return value


def _end_of(probe: str, names: list[str]) -> str | None:
    """The probe ``steps`` of the nearest module around that has one."""
    above = probe
    while above:
        above = above.rpartition(".")[0]
        end = f"{above}.steps" if above else "steps"
        if end in names:
            return end
    return None


def _acts(model: nn.Module, site: Site, head: Head, change: Change) -> dict[str, _Act]:
    """What to do at which probe."""

    def on_head(function: Callable[[Tensor, int], Tensor]) -> _Act:
        def act(value: Tensor, first: int) -> Tensor:
            changed = value.clone()
            changed[:, head.head] = function(value[:, head.head], first)
            return changed

        return act

    is_hard = isinstance(getattr(attention_at(model, site), "normaliser", None), Hard)
    if isinstance(change, Tensor):
        weights = {"weights": on_head(_given(head, change, is_hard=is_hard))}
        return weights if is_hard else {"scores": on_head(_evened(change)), **weights}
    if change == "off":
        return {"contexts": on_head(lambda context, _: torch.zeros_like(context))}
    if change == "argmax":
        return {"weights": on_head(lambda weights, _: _largest(weights))}
    if change != "uniform":
        raise UsageError(
            f"a head cannot be made {change!r}: choose {', '.join(CHANGES)} or weights"
        )
    if is_hard:
        raise UsageError(
            f"{site.name} looks at one place alone (hard attention), so it cannot look evenly: "
            "switch it off, or give it weights"
        )
    # Even scores show what the mask lets be seen: no weight there is too small to be above zero.
    return {
        "scores": on_head(lambda scores, _: torch.zeros_like(scores)),
        "weights": on_head(lambda weights, _: _even(weights)),
    }


def _even(weights: Float[Tensor, "B Q K"]) -> Float[Tensor, "B Q K"]:
    """Equal weights for all that is seen."""
    seen = (weights > 0).to(weights.dtype)
    return seen / seen.sum(-1, keepdim=True).clamp_min(1)


def _largest(weights: Float[Tensor, "B Q K"]) -> Float[Tensor, "B Q K"]:
    """All for the place with the most, the first of equals; nothing where nothing is seen."""
    best = weights.argmax(-1, keepdim=True)
    return torch.zeros_like(weights).scatter(-1, best, 1.0) * (weights > 0).any(-1, keepdim=True)


def _evened(given: Tensor) -> Callable[[Tensor, int], Tensor]:
    """Even scores in the rows for which weights are given."""

    def put(scores: Tensor, first: int) -> Tensor:
        changed = scores.clone()
        changed[:, : max(0, given.shape[-2] - first)] = 0.0
        return changed

    return put


def _given(head: Head, given: Tensor, *, is_hard: bool) -> Callable[[Tensor, int], Tensor]:
    if given.dim() not in (2, 3):
        raise UsageError(
            f"weights for {head} are queries × keys, or a batch of such, not "
            f"{given.dim()} axes: {tuple(given.shape)}"
        )

    def put(weights: Tensor, first: int) -> Tensor:
        n_rows, n_queries, n_keys = weights.shape
        rows = given[..., first : first + n_queries, :].to(weights)
        n_given = rows.shape[-2]
        # A decoder that writes word by word has no keys yet of the words to come.
        later, rows = rows[..., n_keys:], rows[..., :n_keys]
        fits = rows.shape[-1] == n_keys and (rows.dim() == 2 or len(rows) in (1, n_rows))
        if n_given and (not fits or bool(later.any())):
            raise UsageError(
                f"the weights given for {head} are {tuple(given.shape)}, and there are {n_rows} "
                f"rows of {n_keys} keys: give the weights of this sentence"
            )
        changed = weights.clone()
        seen = torch.ones_like(weights) if is_hard else weights
        changed[:, :n_given] = torch.where(seen[:, :n_given] > 0, rows, 0.0)
        return changed

    return put
