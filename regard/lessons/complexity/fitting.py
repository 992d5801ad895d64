"""From times at several sizes to an exponent: a straight line through logarithms."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LEAST_POINTS = 3
# Of times, which are never the same twice. Bytes are counted, and need no such leniency.
TOLERANCE, COUNTED = 0.05, 0.02


@dataclass(frozen=True)
class Fit:
    """``value ≈ factor · size^exponent`` over the sizes that were used.

    ``residual`` is how far the worst of them lies from that curve: 0.1 is ten per cent.
    """

    exponent: float
    factor: float
    residual: float
    sizes: tuple[int, ...]


def fit_power(
    sizes: Sequence[int], values: Sequence[float], tolerance: float = TOLERANCE
) -> Fit | None:
    """Fit a power of the size by least squares, where the growth has found its slope.

    Small sizes show what a call costs and not how a layer grows. So the smallest are left out, one
    after the other, until the rest lies within the tolerance or only three are left. Fewer than
    three sizes say nothing: None.
    """
    pairs = sorted(zip(sizes, values, strict=True))
    if len(pairs) < LEAST_POINTS:
        return None
    fit = _line(pairs)
    while fit.residual > tolerance and len(pairs) > LEAST_POINTS:
        pairs = pairs[1:]
        fit = _line(pairs)
    return fit


def _line(pairs: Sequence[tuple[int, float]]) -> Fit:
    x, y = np.log(np.array(pairs, dtype=float)).T
    slope, start = np.polyfit(x, y, 1)
    furthest = float(np.abs(y - (slope * x + start)).max())
    return Fit(
        exponent=float(slope),
        factor=math.exp(start),
        residual=math.expm1(furthest),
        sizes=tuple(size for size, _ in pairs),
    )
