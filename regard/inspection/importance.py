"""How much each head matters, by the gradient of a loss (Michel, Levy and Neubig 2019).

``I_h = E |∂L(x) / ∂ξ_h|``, where ξ_h = 1 is a factor on what head h brings back: how much the loss
of a sentence would change, to first order, if the head were switched off.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import nn

from regard.attention import Site
from regard.errors import DataError
from regard.inspection.ablation import scaled
from regard.inspection.heads import Head, n_heads, sites_of
from regard.shapes import Float, Tensor

Losses = Callable[[], Float[Tensor, "B"]]


@dataclass(frozen=True)
class Importance:
    """What each head matters, in nats a sentence."""

    of: Mapping[Head, float]
    n_sentences: int

    @property
    def ranked(self) -> tuple[Head, ...]:
        """The heads, the least important first: the order in which to do without them."""
        return tuple(sorted(self.of, key=lambda head: (self.of[head], head)))

    def per_layer(self) -> "Importance":
        """Importance divided by the norm of its layer, ``√Σ_h I_h²`` (Molchanov et al. 2017).

        Layers then count alike: gradients may be of another size in each.
        """
        squares: dict[tuple[str, int], float] = {}
        for head, value in self.of.items():
            layer = (head.kind, head.layer)
            squares[layer] = squares.get(layer, 0.0) + value * value
        shares = {
            head: value / (math.sqrt(squares[head.kind, head.layer]) or 1.0)
            for head, value in self.of.items()
        }
        return Importance(shares, self.n_sentences)


def head_gradients(model: nn.Module, n_rows: int, losses: Losses) -> dict[Head, Float[Tensor, "B"]]:
    """``∂L/∂ξ_h`` at ξ = 1 of every head, for each of the rows whose losses are computed.

    ``losses`` runs the model on that many rows, one loss each: a row's loss must not depend on
    another row.
    """
    sites = sites_of(model)
    like = next(model.parameters())
    with torch.inference_mode(False), torch.enable_grad():
        factors: dict[Site, Tensor] = {
            site: torch.ones(n_rows, n_heads(model, site), device=like.device, requires_grad=True)
            for site in sites
        }
        with scaled(model, factors):
            total = losses().sum()
        found: tuple[Tensor | None, ...] = torch.autograd.grad(
            total, list(factors.values()), allow_unused=True
        )
    gradients = {}
    for (site, factor), gradient in zip(factors.items(), found, strict=True):
        # Where every word had halted before, a later repetition matters to none.
        known = torch.zeros_like(factor) if gradient is None else gradient
        for head in range(factor.shape[1]):
            gradients[Head(site.kind, site.layer, head)] = known[:, head].detach()
    return gradients


def head_importance(model: nn.Module, batches: Iterable[tuple[int, Losses]]) -> Importance:
    """The mean of ``|∂L/∂ξ_h|`` over all rows of some batches: how many, and their losses."""
    totals: dict[Head, float] = {}
    n_sentences = 0
    for n_rows, losses in batches:
        for head, gradient in head_gradients(model, n_rows, losses).items():
            totals[head] = totals.get(head, 0.0) + float(gradient.double().abs().sum())
        n_sentences += n_rows
    if not n_sentences:
        raise DataError("no sentences were given: there is nothing to measure heads by")
    return Importance({head: total / n_sentences for head, total in totals.items()}, n_sentences)
