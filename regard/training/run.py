"""What a run is made of: how far it is, where it is kept, what it reads and what it learns."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch

from regard.config import TrainingSection
from regard.data import Place, Plan
from regard.models import Model
from regard.training.distributed import Ranks
from regard.training.phases import PhasedUpdater
from regard.training.sharded import ShardedUpdater
from regard.training.tasks import Phase, Task, translation
from regard.training.updater import Updater
from regard.training.validation import HeldOut

AnyUpdater = Updater | ShardedUpdater | PhasedUpdater


@dataclass(frozen=True)
class Budget:
    """Time to train in, from the first reading of data to the choice of the best weights."""

    minutes: float
    seconds_an_update: float  # as it was measured before
    spent: float = 0.0  # seconds, before the first update
    n_checks: int = 1  # how often the model is measured at the end


@dataclass(frozen=True)
class Pace:
    """How a run with a budget goes on: fixed for a stretch of updates, and then planned anew."""

    share: float = 0.0  # of the way that was behind when the stretch began
    since: int = 0  # the update after which it began
    until: int = 0  # the update after which it ends
    gain: float = 0.0  # share of the way that an update brings
    seconds: float = 0.0  # of the run, when the stretch began
    seconds_an_update: float = 1.0  # as measured lately
    before: float = 0.0  # seconds of the budget that were spent before the first update
    cost: float = 0.0  # seconds that the last validation took
    checked: float = 0.0  # when that was, in seconds and in shares of the way
    checked_share: float = 0.0
    saved: float = 0.0  # when the run was last saved

    def share_after(self, update: int) -> float:
        """Of the way, after an update of the stretch."""
        return min(1.0, self.share + self.gain * (update - self.since))


@dataclass(frozen=True)
class Progress:
    """How far a run is; with weights and moments, all that is needed to go on exactly."""

    update: int = 0
    epoch: int = 0
    batch: int = 0
    seconds: float = 0.0
    best: float | None = None  # worth of the best validation so far
    n_stale: int = 0  # validations since then
    loss_scale: float = 1.0  # of fp16: halved when a gradient overflows
    owes_validation: bool = False  # it was due after this update, and a stop came before its end
    pace: Pace | None = None  # of a run with a budget of time

    @property
    def place(self) -> Place:
        """Where in the data the run is."""
        return Place(self.epoch, self.batch)


@runtime_checkable
class Keeper(Protocol):
    """Where a run is kept; the first process writes, all read."""

    def restore(self, model: Model, updater: AnyUpdater) -> Progress | None:
        """Load the last complete checkpoint in place; ``None`` when there is none."""
        ...

    def save(
        self, model: Model, updater: AnyUpdater, progress: Progress, *, is_planned: bool
    ) -> str:
        """Keep everything needed to go on; gives where. What was not planned is never averaged."""
        ...

    def keep_best(self, model: Model) -> None:
        """Let the model folder hold these weights."""
        ...

    def keep_moment(self, model: Model, update: int) -> None:
        """Keep these weights for good, to be looked at."""
        ...

    def restore_best(self, model: Model) -> None:
        """Load the weights the model folder holds."""
        ...

    def average_last(self, model: Model, n: int) -> int:
        """Load the average of the last n checkpoints; gives how many there were."""
        ...


class KeepsNothing:
    """Keeper of a run that begins anew and leaves no trace."""

    def restore(self, model: Model, updater: AnyUpdater) -> Progress | None:
        """There is nothing to go on from."""
        return None

    def save(
        self, model: Model, updater: AnyUpdater, progress: Progress, *, is_planned: bool
    ) -> str:
        """Nothing is saved."""
        return ""

    def keep_best(self, model: Model) -> None:
        """No weights are kept."""

    def keep_moment(self, model: Model, update: int) -> None:
        """No moments are kept."""

    def restore_best(self, model: Model) -> None:
        """There are none."""

    def average_last(self, model: Model, n: int) -> int:
        """There are no checkpoints."""
        return 0


@dataclass(frozen=True)
class Run:
    """Everything a run needs; the recipe's training section is fully resolved."""

    recipe: TrainingSection
    model: Model
    batches: Plan
    keeper: Keeper
    validation: HeldOut | None
    ranks: Ranks
    device: torch.device
    should_stop: Callable[[], bool] = lambda: False
    task: Task = translation
    phases: tuple[Phase, ...] = ()  # of an update; none: one of all weights, by the task
    budget: Budget | None = None  # of time; none: the recipe's updates
    clock: Callable[[], float] = time.monotonic
