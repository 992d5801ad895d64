"""Spectral normalisation (Miyato et al. 2018): layers that lengthen no vector."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.parametrize import register_parametrization

from regard.shapes import Float, Tensor

# Singular values lie close together, and one vector would wander among the largest.
_VECTORS = 8
_FIRST_PASSES = 25  # so that the first weights are in bounds already


class SpectralNorm(nn.Module):
    """``W / σ(W)`` with σ the largest singular value, by one step of a power method a pass.

    A few vectors U are followed together: ``V ← orthonormal(WᵀU)``, ``U ← orthonormal(WV)``, and σ
    is the largest singular value of ``WV``, with ``σ = uᵀ W v`` for its gradient. Only U is kept.
    Neither its length nor its basis counts, and where nothing is learned the step is made all the
    same: so the norm of averaged weights, with a U that was averaged like them, is theirs.
    """

    u: Tensor

    def __init__(self, weight: Float[Tensor, "*any"]) -> None:
        super().__init__()
        n_rows, n_columns = weight.flatten(1).shape
        self.register_buffer("u", torch.randn(n_rows, min(_VECTORS, n_rows, n_columns)))
        with torch.no_grad():
            for _ in range(_FIRST_PASSES):
                self(weight)

    def forward(self, weight: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
        """The weight, of which no vector comes out longer than it went in."""
        if weight.is_meta:  # parameters are counted, and have no values
            return weight
        matrix = weight.flatten(1)
        with torch.no_grad(), torch.autocast(matrix.device.type, enabled=False):
            # Any basis does here: only what is kept has to move without a jump.
            across = torch.linalg.qr(matrix.T @ self.u)[0]
            product = matrix @ across
            along, turn = _orthonormal(product)
            u = F.normalize(product @ turn, dim=0)
            v = across @ turn
            if self.training:
                self.u.copy_(along)
        return weight / torch.dot(u, torch.mv(matrix, v))


def _orthonormal(vectors: Float[Tensor, "N V"]) -> tuple[Float[Tensor, "N V"], Float[Tensor, "V"]]:
    """The orthonormal vectors nearest to these, and the way in which these are longest.

    ``X (XᵀX)^-½`` (Löwdin 1950) follows X without a jump of sign or order, so it can be averaged.
    """
    values, ways = torch.linalg.eigh(vectors.T @ vectors)
    roots = torch.maximum(values, 1e-10 * values[-1:] + 1e-30).rsqrt()
    return vectors @ (ways * roots) @ ways.T, ways[:, -1]


def spectral(layer: nn.Conv2d | nn.Linear | nn.Embedding) -> nn.Module:
    """The layer with weights as Glorot draws them, whose spectral norm is 1 from then on."""
    nn.init.xavier_uniform_(layer.weight)
    register_parametrization(layer, "weight", SpectralNorm(layer.weight))
    return layer
