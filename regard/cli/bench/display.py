"""How far a measurement is: a bar at a terminal, plain lines elsewhere; all on stderr."""

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from regard import complexity
from regard.complexity import Measured, Plan, Skipped

SECONDS_BETWEEN_LINES = 10.0


class Display:
    """Shows how far a measurement is: a bar at a terminal, plain lines elsewhere."""

    def __init__(self, plan: Plan) -> None:
        self.console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._progress: Progress | None = None
        self._n_all = len(plan.points) * plan.rounds
        self._spoken_at = time.monotonic()
        self._say(
            f"Measuring {len(plan.kinds)} kinds of layer: n = {_listed(plan.lengths)} at "
            f"d = {plan.width}, d = {_listed(plan.widths)} at n = {plan.length}; "
            f"{plan.rounds} round{'' if plan.rounds == 1 else 's'}, up to {plan.minutes:g} min."
        )

    def __enter__(self) -> "Display":
        if self.console.is_terminal:
            self._progress = Progress(
                BarColumn(bar_width=30),
                TextColumn("{task.percentage:>3.0f} %"),
                TimeElapsedColumn(),
                TextColumn("{task.description}", markup=False),
                console=self.console,
                transient=True,
            )
            self._progress.add_task("", total=self._n_all)
            self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def show(self, progress: complexity.Progress) -> None:
        """Show how far it is."""
        last = progress.last
        if isinstance(last, Skipped):
            self._say(f"Left out: {named(last)}: {last.reason}.")
            what = named(last)
        else:
            what = f"{named(last)}: {_seconds(last.seconds)}"
        if self._progress is not None:
            self._progress.update(
                self._progress.task_ids[0],
                completed=progress.n_done,
                description=what,
            )
        elif time.monotonic() - self._spoken_at >= SECONDS_BETWEEN_LINES:
            self._spoken_at = time.monotonic()
            self._say(f"{progress.n_done}/{progress.n_all}  {what}")

    def _say(self, sentence: str) -> None:
        self.console.print(sentence, soft_wrap=not self.console.is_terminal)


def named(one: Measured | Skipped) -> str:
    """Which layer at which size."""
    return f"{one.point.kind.name}, n = {one.point.length}, d = {one.point.width}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def _listed(sizes: tuple[int, ...]) -> str:
    return ", ".join(map(str, sizes))
