"""Gates on heads that learn which to close: L0 regularisation by the hard concrete distribution.

After Louizos, Welling and Kingma (2018), and Voita et al. (2019), who pruned heads by it.
"""

import math

import torch
from torch import nn

from regard.attention import Site
from regard.inspection.heads import Head, n_heads, sites_of
from regard.shapes import Float, Tensor

_BETA, _LOW, _HIGH = 2 / 3, -0.1, 1.1  # temperature, and how far the concrete is stretched
_OPEN = 2.5  # the log α of a gate in the beginning: open in 98 of 100 draws
_CLOSING = 0.6  # of the draws; in the rest the gates that are left settle
_STEP = 0.03  # of log α at an update, whatever the learning rate of the weights


class HeadGates(nn.Module):
    """A gate a head: ``g = min(1, max(0, σ((log u − log(1−u) + log α) / β) (ζ − γ) + γ))``.

    u is drawn evenly at every batch, so a gate may be quite closed or quite open and still learn.
    ``P(g > 0) = σ(log α − β log(−γ/ζ))``, whose sum over heads is how many are open.
    """

    def __init__(
        self, model: nn.Module, kinds: tuple[str, ...], learning_rate: float, keep: int
    ) -> None:
        super().__init__()
        self.sites = tuple(site for site in sites_of(model) if site.kind in kinds)
        self.sizes = [n_heads(model, site) for site in self.sites]
        # Adam moves a number by the learning rate: what is multiplied moves by so many steps.
        self.scale = _STEP / learning_rate
        like = next(model.parameters())
        self.offsets = nn.Parameter(torch.zeros(sum(self.sizes), device=like.device))
        self.keep, self.n_drawn = keep, 0

    @property
    def log_alpha(self) -> Float[Tensor, "N"]:
        """How far each gate is open, in logits."""
        return _OPEN + self.scale * self.offsets

    @property
    def n_open(self) -> Float[Tensor, ""]:
        """How many gates are expected to let anything through."""
        return torch.sigmoid(self.log_alpha - _BETA * math.log(-_LOW / _HIGH)).sum()

    def values(self, *, is_drawn: bool) -> Float[Tensor, "N"]:
        """The gates as they are drawn, or as they are used in the end."""
        logits = self.log_alpha
        if is_drawn:
            self.n_drawn += 1
            u = torch.rand_like(logits).clamp(1e-6, 1 - 1e-6)
            logits = (torch.logit(u) + logits) / _BETA
        return (torch.sigmoid(logits) * (_HIGH - _LOW) + _LOW).clamp(0.0, 1.0)

    def price(self, n_draws: int) -> Float[Tensor, ""]:
        """``(open − wanted)²`` in nats; wanted are all at first, and ``keep`` in the end.

        So there is no λ to find by trial: the heads that are missed least close first.
        """
        way = min(1.0, self.n_drawn / max(1.0, _CLOSING * n_draws))
        wanted = len(self.offsets) + way * (self.keep - len(self.offsets))
        return (self.n_open - wanted).square()

    def factors(self, *, is_drawn: bool) -> dict[Site, Float[Tensor, "1 H"]]:
        """The gates of each site, for ``scaled``."""
        parts = torch.split(self.values(is_drawn=is_drawn), self.sizes)
        return {site: part[None] for site, part in zip(self.sites, parts, strict=True)}

    @torch.no_grad()
    def learned(self) -> dict[Head, tuple[float, float]]:
        """Of each head log α, which orders them, and the value of its gate."""
        heads = [
            Head(site.kind, site.layer, head)
            for site, n in zip(self.sites, self.sizes, strict=True)
            for head in range(n)
        ]
        both = zip(self.log_alpha.tolist(), self.values(is_drawn=False).tolist(), strict=True)
        return dict(zip(heads, both, strict=True))
