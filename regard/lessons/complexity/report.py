"""What was found, beside what the table states."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from regard.lessons.complexity.dependency import (
    WIDTH,
    Dependency,
    depend,
    longest_chain,
    path_length,
)
from regard.lessons.complexity.fitting import COUNTED, TOLERANCE, Fit, fit_power
from regard.lessons.complexity.kinds import Kind
from regard.lessons.complexity.study import Measured, Plan, Skipped

SMALL_LENGTHS = (16, 32, 64)


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
    points: tuple[Measured, ...]


@dataclass(frozen=True)
class Report:
    """The table, stated and found."""

    plan: Plan
    rows: tuple[Row, ...]
    skipped: tuple[Skipped, ...]


def make_report(
    plan: Plan,
    measured: Sequence[Measured],
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
    plan: Plan,
    points: Sequence[Measured],
    value_of: Callable[[Measured], float],
    tolerance: float,
) -> Growth:
    by_length = {one.point.length: value_of(one) for one in points if one.point.width == plan.width}
    by_width = {one.point.width: value_of(one) for one in points if one.point.length == plan.length}
    return Growth(
        fit_power(list(by_length), list(by_length.values()), tolerance),
        fit_power(list(by_width), list(by_width.values()), tolerance),
    )
