"""How fast to learn at each update: curves that all begin with a warm-up."""

import math
from collections.abc import Callable

Schedule = Callable[[float], float]  # of an update, or of a place between two


def inverse_sqrt(peak: float, warmup: int, updates: int) -> Schedule:
    """Rise linearly for ``warmup`` updates, then fall as ``1/√update`` (Vaswani et al. 2017).

    The paper's ``d^-0.5 · min(n^-0.5, n · warmup^-1.5)`` is this with ``peak = (d · warmup)^-0.5``.
    """
    start = max(warmup, 1)
    return lambda update: peak * min(update / start, math.sqrt(start / update))


def cosine(peak: float, warmup: int, updates: int) -> Schedule:
    """Rise linearly, then fall along half a cosine to zero at the last update."""

    def rate(update: int | float) -> float:
        if update <= warmup:
            return peak * update / warmup
        way = min(1.0, (update - warmup) / max(1, updates - warmup))
        return peak * 0.5 * (1 + math.cos(math.pi * way))

    return rate


def linear(peak: float, warmup: int, updates: int) -> Schedule:
    """Rise linearly, then fall linearly to zero at the last update."""

    def rate(update: int | float) -> float:
        if update <= warmup:
            return peak * update / warmup
        return peak * max(0.0, updates - update) / max(1, updates - warmup)

    return rate


def constant(peak: float, warmup: int, updates: int) -> Schedule:
    """Rise linearly, then stay."""
    return lambda update: peak * min(1.0, update / max(warmup, 1))


SCHEDULES: dict[str, Callable[[float, int, int], Schedule]] = {
    "inverse-sqrt": inverse_sqrt,
    "cosine": cosine,
    "linear": linear,
    "constant": constant,
}
