"""The whole table measured: which sizes, in which order, within which limits."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regard.counting import counted
from regard.errors import SizeError
from regard.lessons.complexity.kinds import Kind, kinds
from regard.lessons.complexity.measuring import MemoryUse, Point, TimedRun, free_bytes

MOST_OF_MEMORY = 0.8  # of what is free: the rest of the machine lives, too


@dataclass(frozen=True)
class StudyPlan:
    """What to measure: lengths at one width, widths at one length, so many rounds."""

    lengths: tuple[int, ...]
    widths: tuple[int, ...]
    reach: int
    kernel: int
    rounds: int
    minutes: float

    def __post_init__(self) -> None:
        for name, sizes in (("lengths", self.lengths), ("widths", self.widths)):
            if not sizes or min(sizes) < 1 or len(set(sizes)) < len(sizes):
                raise SizeError(f"the {name} are different whole numbers from 1, not {sizes}")
        if self.reach < 1:
            raise SizeError(
                f"a window that reaches {self.reach} places sees no other place: choose 1 or more"
            )
        if self.kernel < 3 or self.kernel % 2 == 0:
            raise SizeError(
                "a convolution that sees as many places before as after, and more than its own, "
                f"is 3, 5, 7, … places wide, not {self.kernel}"
            )
        if self.rounds < 1 or not self.minutes > 0:
            raise SizeError(
                f"{counted(self.rounds, 'round')} within {counted(self.minutes, 'minute')} measure "
                "nothing: "
                "choose 1 or more, and more than 0"
            )

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The rows of the table."""
        return kinds(reach=self.reach, kernel=self.kernel)

    @property
    def title(self) -> str:
        """What is measured."""
        return f"A forward and a backward pass of one layer (k = {self.kernel}, r = {self.reach})"

    @property
    def about(self) -> str:
        """What the letters mean."""
        window = f"r = {self.reach}: reach of the window"
        return f"n: length, d: width, {window}, k = {self.kernel}: kernel."

    @property
    def width(self) -> int:
        """At which width the lengths are measured: the least, which n soonest outweighs."""
        return min(self.widths)

    @property
    def length(self) -> int:
        """At which length the widths are measured: the middle one."""
        return sorted(self.lengths)[len(self.lengths) // 2]

    @property
    def points(self) -> list[Point]:
        """Everything to measure, what is small first and the kinds side by side."""
        sizes = [(length, self.width) for length in sorted(self.lengths)]
        sizes += [(self.length, width) for width in sorted(self.widths) if width != self.width]
        return [Point(kind, *size) for size in sizes for kind in self.kinds]


@dataclass(frozen=True)
class MeasuredLayer:
    """The best time of all rounds so far, and the memory, at one point."""

    point: Point
    seconds: float
    memory: MemoryUse
    n_rounds: int


@dataclass(frozen=True)
class Skipped:
    """A point that was not measured, and why."""

    point: Point
    reason: str


@dataclass(frozen=True)
class StudyProgress:
    """How far it is, and what came last."""

    n_done: int
    n_all: int
    last: MeasuredLayer | Skipped


class Study:
    """Measures a plan; what it has found so far stands in ``measured`` and ``skipped``."""

    def __init__(self, plan: StudyPlan) -> None:
        self.plan = plan
        self.measured: dict[Point, MeasuredLayer] = {}
        self.skipped: list[Skipped] = []
        self._runs: dict[Point, TimedRun] = {}
        self._ends = 0.0

    def run(self) -> Iterator[StudyProgress]:
        """Measure, round after round: what disturbs the machine for a while disturbs all kinds."""
        self._ends = time.monotonic() + 60 * self.plan.minutes
        points = self.plan.points
        n_all, n_done = len(points) * self.plan.rounds, 0
        for point in points:
            found = self._first(point)
            n_done += 1 if isinstance(found, MeasuredLayer) else self.plan.rounds
            yield StudyProgress(n_done, n_all, found)
        for _ in range(1, self.plan.rounds):
            for point, run in self._runs.items():
                before = self.measured[point]
                n_done += 1
                if time.monotonic() + before.seconds < self._ends:
                    seconds = min(before.seconds, run.seconds())
                    found = MeasuredLayer(point, seconds, before.memory, before.n_rounds + 1)
                    self.measured[point] = found
                    yield StudyProgress(n_done, n_all, found)

    def _first(self, point: Point) -> MeasuredLayer | Skipped:
        reason = self._why_not(point)
        if reason is not None:
            self.skipped.append(Skipped(point, reason))
            return self.skipped[-1]
        run = TimedRun(point)
        # Counting bytes comes first: what a kernel does only once, it has then done.
        memory = run.memory()
        found = MeasuredLayer(point, run.seconds(), memory, 1)
        self._runs[point], self.measured[point] = run, found
        return found

    def _why_not(self, point: Point) -> str | None:
        needed, free = float(point.most_bytes), MOST_OF_MEMORY * free_bytes()
        if needed > free:
            return f"it needs up to {_written(needed)} and {_written(free)} may be used"
        left = self._ends - time.monotonic()
        expected = expected_seconds(point, list(self.measured.values()))
        if left <= 0:
            return "the time is up"
        if expected > left:
            return f"it takes about {expected:.3g} s and {left:.3g} s are left"
        return None


def expected_seconds(point: Point, before: Sequence[MeasuredLayer]) -> float:
    """How long a point may take, by the table and the costliest one of its kind so far."""
    alike = [one for one in before if one.point.kind.name == point.kind.name]
    if not alike:
        return 0.0
    nearest = max(alike, key=lambda one: one.point.operations)
    growth = point.operations / nearest.point.operations
    # Once to count bytes and once to take the time.
    return 2 * nearest.seconds * max(1.0, growth)


def _written(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.3g} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.3g} MB"
