"""One session of a training run: set up, trained, and told as events."""

import os
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from regard.config import Recipe, known
from regard.data import TaughtBatches
from regard.devices import choose_device, peak_memory, require_memory_to_train
from regard.engine import for_training, keep_heap
from regard.errors import RegardError, UsageError
from regard.models import Model, Transformer
from regard.systems.system import build, system_of
from regard.systems.teaching import Teaching
from regard.training import (
    Budget,
    FolderKeeper,
    MetricsFile,
    Prepared,
    Ranks,
    Run,
    fit_to_speed,
    joined_ranks,
    keep_plan,
    seconds_an_update,
    shard,
    train,
)
from regard.training.events import DataRead, Event, ModelBuilt, Planned, Preparing

_JUDGED_A_MINUTE = 100  # of a budget: outputs that are judged at a validation


def run_training(
    recipe: Recipe,
    folder: Path,
    *,
    device: str = "auto",
    threads: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    began: float | None = None,
) -> Iterator[Event]:
    """Train, or go on training, in this folder until done or stopped.

    A budget of time counts from now, or from where it ``began`` by the monotonic clock.

    Events come as they happen; the first process alone writes ``metrics.jsonl``. Whoever stops
    asking for them ends the session: what was done since the last checkpoint is lost then, and
    not with ``should_stop``.
    """
    session = _Session.begin(recipe, device, threads, should_stop, began)
    n_ranks = int(os.environ.get("WORLD_SIZE", "1"))
    with joined_ranks(n_ranks, session.device) as ranks:
        keeper = FolderKeeper(folder, ranks, recipe.training.average_last)
        with closing(keeper):
            with ranks.in_turn():
                keeper.claim(recipe)
            try:
                run = yield from session.set_up(keeper)
            except RegardError:
                keeper.release()
                raise
            metrics = None
            if ranks.is_first:
                metrics = MetricsFile(folder / "metrics.jsonl", keeper.last_update())
            for event in train(run):
                if metrics is not None:
                    metrics.write(event)
                yield event


def plan_training(
    recipe: Recipe, folder: Path, *, device: str = "auto", threads: int | None = None
) -> Iterator[Event]:
    """What a new run in this folder would be: sizes, plan, memory and time; nothing is kept.

    A few updates are measured on a model that is then forgotten.
    """
    session = _Session.begin(recipe, device, threads, lambda: False)
    with tempfile.TemporaryDirectory() as scratch:
        keeper = FolderKeeper(Path(scratch), Ranks())
        prepared = yield from session.prepared(keeper, is_plan=True)
        prepared, budget, speed = session.planned(prepared, keeper, is_measured=True)
        training = prepared.recipe.training
        model = session.built(prepared, is_new=False)
        yield ModelBuilt(prepared.recipe, model.n_parameters, folder, session.device, 1, budget)
        updates = known(training.updates, "training.updates")
        a_plan = len(prepared.plan(0, 1).epoch(0))
        limit = float("inf") if training.minutes is None else 60 * training.minutes
        yield Planned(
            prepared.recipe,
            is_budget=budget is not None,
            seconds=limit if budget else min(limit, updates * speed),
            seconds_an_update=speed,
            epochs=updates * known(training.accumulate, "training.accumulate") / a_plan,
            memory=peak_memory(),
        )


@dataclass(frozen=True)
class _Session:
    """What is asked for, and where and since when it is done."""

    recipe: Recipe
    device: torch.device
    should_stop: Callable[[], bool]
    began: float

    @classmethod
    def begin(
        cls,
        recipe: Recipe,
        device: str,
        threads: int | None,
        should_stop: Callable[[], bool],
        began: float | None = None,
    ) -> "_Session":
        """Choose the device and its threads."""
        began = time.monotonic() if began is None else began
        chosen = choose_device(device)
        if chosen.type == "cpu":
            keep_heap()
        elif chosen.type == "cuda":
            torch.cuda.set_device(chosen)
        if threads is not None:
            torch.set_num_threads(threads)
        return cls(recipe, chosen, should_stop, began)

    def set_up(self, keeper: FolderKeeper) -> Generator[Event, None, Run]:
        """Read the data and build the model; all that can be refused is refused here."""
        ranks = keeper.ranks
        prepared = yield from self.prepared(keeper)
        prepared, budget, _ = self.planned(prepared, keeper)
        model = self.built(prepared, is_new=not keeper.last_update())
        n_parameters = model.n_parameters
        model = _computed(model, prepared.recipe, ranks.n_ranks)
        keeper.begin(
            prepared.recipe,
            prepared.source_tokenizer,
            prepared.target_tokenizer,
            prepared.lexicon,
        )
        yield ModelBuilt(
            prepared.recipe, n_parameters, keeper.folder, self.device, ranks.n_ranks, budget
        )
        return replace(self.run_of(prepared, model, keeper), budget=budget)

    def prepared(
        self, keeper: FolderKeeper, *, is_plan: bool = False
    ) -> Generator[Event, None, Prepared]:
        """What is learned from, read and encoded; for a plan, without what is computed and kept."""
        yield Preparing(self.recipe.data.train)
        with keeper.ranks.in_turn():
            system, n_ranks = system_of(self.recipe), keeper.ranks.n_ranks
            prepared = yield from system.preparing(
                self.recipe, keeper.folder, n_ranks, is_plan=is_plan
            )
        yield DataRead(prepared)
        return prepared

    def planned(
        self, prepared: Prepared, keeper: FolderKeeper, *, is_measured: bool = False
    ) -> tuple[Prepared, Budget | None, float]:
        """What fits into the time there is, if that is what is given; and how long an update takes.

        A run that goes on keeps what it decided when it began. All processes take the first one's
        measurement.
        """
        asked, before = self.recipe, keeper.planned()
        has_budget, minutes = asked.training.has_budget, asked.training.minutes
        speed = 1.0
        if before is None and (has_budget or is_measured):
            model = self.built(prepared, is_new=True)
            model = for_training(model, precision=prepared.recipe.training.precision)
            trial = self.run_of(prepared, model, keeper)
            speed = keeper.ranks.share([seconds_an_update(trial, minutes)])[0]
        if not has_budget:
            return prepared, None, speed
        assert minutes is not None
        if before is not None:
            recipe = keep_plan(asked, prepared.recipe, before)
        else:
            recipe = fit_to_speed(asked, prepared.recipe, prepared.derived_from, speed)
        held = prepared.validation
        held = None if held is None else held.at_most(max(50, int(_JUDGED_A_MINUTE * minutes)))
        spent = keeper.ranks.share([time.monotonic() - self.began])[0]
        n_checks = 0 if held is None else 1 if recipe.training.average_last < 2 else 3
        budget = Budget(minutes, speed, spent, n_checks)
        return replace(prepared, recipe=recipe, validation=held), budget, speed

    def built(self, prepared: Prepared, *, is_new: bool) -> Model:
        """The model, with its first weights."""
        network = prepared.recipe.model
        torch.manual_seed(prepared.recipe.training.seed)
        require_memory_to_train(network.least_size, network.shape, self.device)
        sizes = len(prepared.source_tokenizer), len(prepared.target_tokenizer)
        model = build(network, *sizes)
        if is_new:
            prepared.begin(model)
        return model.to(self.device)

    def run_of(self, prepared: Prepared, model: Model, keeper: FolderKeeper) -> Run:
        """What the loop is given."""
        training, gold = prepared.recipe.training, prepared.gold()
        batches = prepared.plan(keeper.ranks.rank, keeper.ranks.n_ranks)
        lessons = training.lessons
        return Run(
            recipe=training,
            model=model,
            batches=TaughtBatches(batches, gold) if lessons else batches,
            keeper=keeper,
            validation=prepared.validation,
            ranks=keeper.ranks,
            device=self.device,
            task=Teaching(prepared.task, lessons) if lessons else prepared.task,
            phases=prepared.phases,
            should_stop=self.should_stop,
        )


def _computed(model: Model, recipe: Recipe, n_ranks: int) -> Model:
    """What computes in the model's place: spread over processes or compiled, or by the engine."""
    training = recipe.training
    if training.shard and n_ranks < 2:
        raise UsageError(
            "training.shard = true spreads a model over several processes: start them with "
            "torchrun --nproc-per-node 2 -m regard train ..., or leave it out"
        )
    if not isinstance(model, Transformer) or not (training.shard or training.compile):
        return for_training(model, precision=training.precision)
    if training.shard:
        shard(model)
    if training.compile:  # made for GPUs
        model.hidden = torch.compile(model.hidden, dynamic=True)  # type: ignore[method-assign]
    return model
