"""How fast a run learns, and when it validates, saves and ends: by updates, or by a budget of time.

By updates everything follows from the number of an update. By time a run goes in *stretches*: at
the end of each the clock is read, and how much further an update of the next one brings the run is
fixed and saved. Within a stretch nothing depends on the clock, so a run that was cut off and goes
on does the same updates at the same rates; and as every stretch spreads the rest of the way over
the rest of the time, the way ends with the budget, however fast the machine is at any moment.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

from regard.config import TrainingSection, known
from regard.counting import counted, noun
from regard.training.run import Budget, Pace, Progress
from regard.training.schedule import SCHEDULES, Schedule

_STRETCH = 0.01  # of the budget: the longest time without a look at the clock
_LONGEST_STRETCH = 60.0  # seconds
_MAY_SLOW = 5  # times: a stretch that is so much slower than planned still ends in time
_CHECKS = 0.04  # of the time, at most, is spent on measuring the model on the way
_FIRST_CHECK = 0.2  # of the way: before it a model writes nonsense, at length
_CHECK_UNTIMED = 0.03  # of the budget: what a validation is taken to cost before one was timed
_SECONDS_BETWEEN_SAVES = 120.0


@runtime_checkable
class Timetable(Protocol):
    """What the loop asks before and after each update."""

    def rate(self, progress: Progress, update: int) -> float:
        """The learning rate of an update."""
        ...

    def share(self, progress: Progress) -> float:
        """How much of the run is behind, from 0 to 1."""
        ...

    def is_due(self, progress: Progress) -> bool:
        """Whether the model is measured after this update."""
        ...

    def is_saved(self, progress: Progress) -> bool:
        """Whether the run is saved after this update, though nothing ends it."""
        ...

    def why_over(self, progress: Progress) -> str | None:
        """Why the run is over, or ``None`` while it is not."""
        ...

    def planned(self, progress: Progress, *, checked: float | None = None) -> Progress:
        """This with a plan for what follows; ``checked`` is how long a validation just took."""
        ...


def timetable(recipe: TrainingSection, budget: Budget | None) -> Timetable:
    """By updates; or by time, where there is a budget of it."""
    return ByUpdates(recipe) if budget is None else ByTime(recipe, budget)


def _schedule(recipe: TrainingSection) -> Schedule:
    return SCHEDULES[recipe.schedule](
        known(recipe.learning_rate, "training.learning_rate"),
        known(recipe.warmup, "training.warmup"),
        known(recipe.updates, "training.updates"),
    )


@dataclass(frozen=True)
class ByUpdates:
    """A number of updates that is known from the beginning; minutes may cut it short."""

    recipe: TrainingSection

    @cached_property
    def _rate(self) -> Schedule:
        return _schedule(self.recipe)

    @property
    def _updates(self) -> int:
        return known(self.recipe.updates, "training.updates")

    def rate(self, progress: Progress, update: int) -> float:
        """As the schedule says."""
        return self._rate(update)

    def share(self, progress: Progress) -> float:
        """Of the updates."""
        return min(1.0, progress.update / self._updates)

    def is_due(self, progress: Progress) -> bool:
        """Every so many updates, and at the end: whatever ends a run, its last weights count."""
        every = known(self.recipe.validate_every, "training.validate_every")
        return progress.update % every == 0 or self.why_over(progress) is not None

    def is_saved(self, progress: Progress) -> bool:
        """Every so many updates."""
        return progress.update % known(self.recipe.save_every, "training.save_every") == 0

    def why_over(self, progress: Progress) -> str | None:
        """Its updates are done, its minutes are over, or it gets no better."""
        recipe = self.recipe
        if progress.update >= self._updates:
            return "all updates done"
        if recipe.minutes is not None and progress.seconds >= 60 * recipe.minutes:
            return minutes_over(recipe.minutes)
        if recipe.patience is not None and progress.n_stale >= recipe.patience:
            return f"no better validation in {progress.n_stale}"
        return None

    def planned(self, progress: Progress, *, checked: float | None = None) -> Progress:
        """The plan never changes."""
        return progress


@dataclass(frozen=True)
class ByTime:
    """A budget of time: the schedule is a function of the share of the way that is behind.

    Updates and intervals of the recipe are of the run as it was foreseen: a share ``s`` of the way
    is where a run of ``updates`` would be after ``s · updates``.
    """

    recipe: TrainingSection
    budget: Budget

    @cached_property
    def _rate(self) -> Schedule:
        return _schedule(self.recipe)

    def rate(self, progress: Progress, update: int) -> float:
        """As the schedule says of where the run will be after it."""
        return self._rate(self._foreseen(_pace(progress).share_after(update)))

    def share(self, progress: Progress) -> float:
        """Of the way, which ends with the budget."""
        return _pace(progress).share_after(progress.update)

    def is_due(self, progress: Progress) -> bool:
        """At the end of a stretch, where the last one is long enough ago by share and by cost."""
        pace = _pace(progress)
        if progress.update < pace.until:
            return False
        share = self.share(progress)
        every = known(self.recipe.validate_every, "training.validate_every")
        is_far = self._foreseen(share - pace.checked_share) >= every
        is_paid = (progress.seconds - pace.checked) * _CHECKS >= pace.cost
        is_time = is_far and is_paid and share >= _FIRST_CHECK
        return is_time or self.why_over(self.planned(progress)) is not None

    def is_saved(self, progress: Progress) -> bool:
        """With every validation, and where the last time is minutes ago."""
        pace = _pace(progress)
        return progress.update == pace.since and pace.saved == pace.seconds

    def why_over(self, progress: Progress) -> str | None:
        """The end of the way is reached, or nothing is left of the budget for another update."""
        pace = _pace(progress)
        if progress.update < pace.until or progress.update == 0:
            return None
        is_spent = self._left(progress, pace) < pace.seconds_an_update / 2
        return (
            minutes_over(self.budget.minutes)
            if is_spent or pace.share_after(pace.until) >= 1
            else None
        )

    def planned(self, progress: Progress, *, checked: float | None = None) -> Progress:
        """At the end of a stretch the next one: the rest of the way over the rest of the time."""
        pace = progress.pace or self._first(progress)
        if progress.update < pace.until:
            return progress
        return replace(progress, pace=self._next(progress, pace, checked))

    def _first(self, progress: Progress) -> Pace:
        """Where a run stands that has no plan: a new one, or one that went by updates so far."""
        n_done = progress.update
        return Pace(
            share=min(1.0, n_done / known(self.recipe.updates, "training.updates")),
            since=n_done,
            until=n_done,
            seconds=progress.seconds,
            seconds_an_update=(
                progress.seconds / n_done if n_done else self.budget.seconds_an_update
            ),
            before=self.budget.spent,
        )

    def _next(self, progress: Progress, pace: Pace, checked: float | None) -> Pace:
        share, n_done = pace.share_after(progress.update), progress.update - pace.since
        an_update = pace.seconds_an_update
        if n_done:
            took = progress.seconds - (checked or 0.0) - pace.seconds
            an_update += (max(took, 1e-6) / n_done - an_update) / 2
        if checked is not None:
            pace = replace(pace, cost=checked, checked=progress.seconds, checked_share=share)
        left = self._left(progress, pace)
        is_over = progress.update > 0 and (left < an_update / 2 or share >= 1)
        n_left = max(1.0, left * (1 - _CHECKS) / an_update)
        longest = min(_LONGEST_STRETCH, _STRETCH * 60 * self.budget.minutes)
        n = max(1, min(int(longest / an_update), int(n_left / _MAY_SLOW), 2 * max(1, n_done)))
        is_saved = checked is not None or progress.seconds - pace.saved >= _SECONDS_BETWEEN_SAVES
        return replace(
            pace,
            share=share,
            since=progress.update,
            until=progress.update + (0 if is_over else n),
            gain=(1 - share) / n_left,
            seconds=progress.seconds,
            seconds_an_update=an_update,
            saved=progress.seconds if is_saved else pace.saved,
        )

    def _left(self, progress: Progress, pace: Pace) -> float:
        """Seconds for updates: without what the end takes, when the weights are measured."""
        whole = 60 * self.budget.minutes
        a_check = pace.cost or _CHECK_UNTIMED * whole
        return whole - pace.before - progress.seconds - self.budget.n_checks * a_check

    def _foreseen(self, share: float) -> float:
        return share * known(self.recipe.updates, "training.updates")


def _pace(progress: Progress) -> Pace:
    assert progress.pace is not None, "a run by time is planned before its first update"
    return progress.pace


def minutes_over(minutes: float) -> str:
    """Why a run is over whose time was limited."""
    return f"{counted(minutes, 'minute')} {noun(minutes, 'is', 'are')} over"
