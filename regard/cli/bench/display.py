"""How far a measurement is: a bar at a terminal, plain lines elsewhere; all on stderr."""

from regard.cli.progress import Showing
from regard.counting import counted
from regard.lessons.complexity import Measured, Plan, Progress, Skipped


class Display(Showing):
    """Shows how far a measurement is."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.say(
            f"Measuring {len(plan.kinds)} kinds of layer: n = {_listed(plan.lengths)} at "
            f"d = {plan.width}, d = {_listed(plan.widths)} at n = {plan.length}; "
            f"{counted(plan.rounds, 'round')}, up to {plan.minutes:g} min."
        )
        self.begin(len(plan.points) * plan.rounds)

    def show(self, progress: Progress) -> None:
        """Show how far it is."""
        last = progress.last
        if isinstance(last, Skipped):
            self.say(f"Left out: {named(last)}: {last.reason}.")
            what = named(last)
        else:
            what = f"{named(last)}: {_seconds(last.seconds)}"
        self.at(progress.n_done, f"{progress.n_done}/{progress.n_all}  {what}", what)


def named(one: Measured | Skipped) -> str:
    """Which layer at which size."""
    return f"{one.point.kind.name}, n = {one.point.length}, d = {one.point.width}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def _listed(sizes: tuple[int, ...]) -> str:
    return ", ".join(map(str, sizes))
