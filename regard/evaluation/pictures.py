"""How near drawn pictures come to real ones, in the features of a network that sees them.

Distances between pictures are distances between features: every number here is one of a *ruler*,
the extractor, and two numbers can be compared only if they were taken with the same.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from regard.errors import UsageError
from regard.shapes import Float, Tensor

Features = npt.NDArray[np.float32]  # N × width
_NEIGHBOUR = 3  # k of Kynkäänniemi et al. 2019
_ROWS = 2_000  # of distances at once


@dataclass(frozen=True)
class PictureCloseness:
    """How near drawn pictures are to real ones, how many look real, and how much they cover."""

    frechet: float
    precision: float  # share of drawn pictures that lie among the real ones
    recall: float  # share of real pictures that lie among the drawn ones


def closeness(real: Features, drawn: Features) -> PictureCloseness:
    """All three measures of the features of drawn pictures against those of real ones."""
    return PictureCloseness(frechet_distance(real, drawn), *precision_recall(real, drawn))


def frechet_distance(real: Features, drawn: Features) -> float:
    """``|μ₁ - μ₂|² + tr(Σ₁ + Σ₂ - 2 (Σ₁ Σ₂)^½)`` of two clouds of features (Heusel et al. 2017).

    The trace of the root is the sum of the roots of the eigenvalues of ``Σ₁^½ Σ₂ Σ₁^½``, which is
    symmetric and has those of ``Σ₁ Σ₂``.
    """
    _check(real, drawn)
    means, covariances = [], []
    for features in (real, drawn):
        exact = features.astype(np.float64)
        means.append(exact.mean(0))
        covariances.append(np.atleast_2d(np.cov(exact, rowvar=False)))
    values, vectors = np.linalg.eigh(covariances[0])
    root = (vectors * np.sqrt(values.clip(0))) @ vectors.T
    shared = np.linalg.eigvalsh(root @ covariances[1] @ root)
    apart = means[0] - means[1]
    spread = np.trace(covariances[0]) + np.trace(covariances[1])
    return float(apart @ apart + spread - 2 * np.sqrt(shared.clip(0)).sum())


def precision_recall(real: Features, drawn: Features, k: int = _NEIGHBOUR) -> tuple[float, float]:
    """The shares that lie among the others: within reach of any one's k-th neighbour.

    Improved precision and recall (Kynkäänniemi et al. 2019).
    """
    _check(real, drawn, k)
    one, other = (torch.from_numpy(np.ascontiguousarray(side)) for side in (real, drawn))
    return _covered(one, other, k), _covered(other, one, k)


def _covered(reference: Float[Tensor, "N D"], asked: Float[Tensor, "M D"], k: int) -> float:
    """The share of those asked that lie within the reach of one of the reference."""
    reach = torch.cat(
        # The nearest to each is itself.
        [
            torch.cdist(part, reference).kthvalue(k + 1).values
            for part in torch.split(reference, _ROWS)
        ]
    )
    is_inside = [
        (torch.cdist(part, reference) <= reach).any(1) for part in torch.split(asked, _ROWS)
    ]
    return float(torch.cat(is_inside).float().mean())


def _check(real: Features, drawn: Features, k: int = 1) -> None:
    if real.ndim != 2 or drawn.ndim != 2 or real.shape[1] != drawn.shape[1]:
        raise UsageError(
            f"features of {real.shape} and {drawn.shape} cannot be compared: give a row for each "
            "picture, all of one width"
        )
    if min(len(real), len(drawn)) <= k:
        raise UsageError(
            f"{min(len(real), len(drawn))} pictures are too few to be compared: give {k + 1} or "
            "more on both sides"
        )
