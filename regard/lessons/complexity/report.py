"""What was found, beside what the table states: exponents are slopes through logarithms."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from regard.lessons.complexity.dependency import (
    WIDTH,
    Dependency,
    depend,
    longest_chain,
    path_length,
)
from regard.lessons.complexity.kinds import Kind
from regard.lessons.complexity.study import MeasuredLayer, Skipped, StudyPlan

SMALL_LENGTHS = (16, 32, 64)
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


@dataclass(frozen=True)
class Structure:
    """Of a kind at one small length: what gradients show of its steps.

    ``chain`` is how many of torch's operations wait for each other in the layer that is timed.
    """

    length: int
    sequential: int
    path: int | None
    dilated_path: int | None
    chain: int


@dataclass(frozen=True)
class Growth:
    """How time or memory grows with n and with d; None where there were too few points."""

    with_length: Fit | None
    with_width: Fit | None


@dataclass(frozen=True)
class Row:
    """A kind of layer: stated in ``kind``, found in the rest."""

    kind: Kind
    time: Growth
    memory: Growth
    structures: tuple[Structure, ...]
    points: tuple[MeasuredLayer, ...]


@dataclass(frozen=True)
class Report:
    """The table, stated and found."""

    plan: StudyPlan
    rows: tuple[Row, ...]
    skipped: tuple[Skipped, ...]


def make_report(
    plan: StudyPlan,
    measured: Sequence[MeasuredLayer],
    skipped: Sequence[Skipped],
    lengths: Sequence[int] | None = None,
) -> Report:
    """Fit what was measured, and look at what depends on what at these small lengths."""
    lengths = SMALL_LENGTHS if lengths is None else lengths
    rows = []
    for kind in plan.kinds:
        points = [one for one in measured if one.point.kind.name == kind.name]
        rows.append(
            Row(
                kind=kind,
                time=_growth(plan, points, lambda one: one.seconds, TOLERANCE),
                memory=_growth(plan, points, lambda one: float(one.memory.peak), COUNTED),
                structures=tuple(find_structure(kind, length) for length in lengths),
                points=tuple(points),
            )
        )
    return Report(plan, tuple(rows), tuple(skipped))


def find_structure(kind: Kind, length: int) -> Structure:
    """Find sequential operations and path lengths of a kind at one length."""
    layer = kind.build(WIDTH)
    found = depend(layer, length)
    dilated = None
    if (build := kind.build_dilated) is not None:

        def at_depth(depth: int) -> Dependency:
            return depend(build(WIDTH, depth), length)

        dilated = path_length(at_depth)
    value = torch.zeros(1, length, WIDTH, dtype=torch.float64, requires_grad=True)
    return Structure(
        length=length,
        sequential=found.sequential,
        path=path_length(lambda _: found),
        dilated_path=dilated,
        chain=longest_chain(layer(value)),
    )


def _growth(
    plan: StudyPlan,
    points: Sequence[MeasuredLayer],
    value_of: Callable[[MeasuredLayer], float],
    tolerance: float,
) -> Growth:
    by_length = {one.point.length: value_of(one) for one in points if one.point.width == plan.width}
    by_width = {one.point.width: value_of(one) for one in points if one.point.length == plan.length}
    return Growth(
        fit_power(list(by_length), list(by_length.values()), tolerance),
        fit_power(list(by_width), list(by_width.values()), tolerance),
    )
