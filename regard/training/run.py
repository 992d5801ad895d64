"""What a run is made of: how far it is, where it is kept, what it reads and what it learns."""

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
