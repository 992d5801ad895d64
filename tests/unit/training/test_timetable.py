"""A budget of time: it is kept on a noisy machine, and a run that was cut off keeps its plan."""

import random
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.config import TrainingSection
from regard.data import Batch
from regard.training import Budget, Finished, Pace, Progress, Run, Saved, Stepped, Validated, train
from regard.training.tasks import translation
from regard.training.timetable import ByTime, timetable
from tests.unit.training.test_loop import Memory, copied, make, same, stopping_after

SECTION = TrainingSection(
    updates=1000, warmup=100, learning_rate=1.0, validate_every=50, save_every=50, schedule="linear"
)


@dataclass
class Machine:
    """A task that takes time by a clock of its own, and so does whatever measures by it."""

    seconds: float = 0.125
    now: float = 0.0
    noise: random.Random | None = None

    def __call__(self, model: Any, batch: Batch, smoothing: float) -> tuple[Tensor, int]:
        self.now += self.seconds * (1.0 if self.noise is None else self.noise.uniform(0.3, 4.0))
        return translation(model, batch, smoothing)


def timed(
    keeper: Any, machine: Machine, minutes: float = 0.12, foreseen: float = 0.125, **changes: Any
) -> Run:
    values = {"updates": 100, "warmup": 10, "schedule": "linear", "validate_every": 20}
    run = make(keeper, decodes_at_validation=False, **(values | changes))
    return replace(
        run, task=machine, clock=lambda: machine.now, budget=Budget(minutes, foreseen, spent=1.0)
    )


@dataclass
class Simulated:
    """Updates that do nothing but take time."""

    times: ByTime
    seconds: list[float] = field(default_factory=list)

    def run(self, an_update: Any, a_check: float) -> tuple[float, list[float], int]:
        progress = self.times.planned(Progress())
        shares, n_checks = [], 0
        while (over := self.times.why_over(progress)) is None:
            progress = replace(
                progress, update=progress.update + 1, seconds=progress.seconds + an_update(progress)
            )
            shares.append(self.times.share(progress))
            checked = None
            if self.times.is_due(progress):
                checked, n_checks = a_check, n_checks + 1
                progress = replace(progress, seconds=progress.seconds + a_check)
            progress = self.times.planned(progress, checked=checked)
        assert over == "10 minutes are over"
        assert checked is not None  # the last weights are always measured
        return progress.seconds, shares, n_checks


@pytest.mark.parametrize("foreseen", [0.1, 0.5, 3.0])
@pytest.mark.parametrize("kind", ["steady", "noisy", "slower", "faster", "in turns"])
def test_a_budget_is_kept_however_fast_the_machine_is(kind: str, foreseen: float) -> None:
    noise = random.Random(3)
    speeds = {
        "steady": lambda now: 0.5,
        "noisy": lambda now: noise.uniform(0.1, 2.0),
        "slower": lambda now: 0.3 if now < 300 else 1.5,
        "faster": lambda now: 1.5 if now < 300 else 0.3,
        "in turns": lambda now: 0.4 if now % 60 < 30 else 1.6,
    }
    times = ByTime(SECTION, Budget(10.0, foreseen, spent=20.0))
    seconds, shares, n_checks = Simulated(times).run(lambda p: speeds[kind](p.seconds), 4.0)
    assert seconds + 20.0 == pytest.approx(600, rel=0.03)
    assert shares[-1] == pytest.approx(1.0, abs=0.01)  # the decay has reached its end
    assert shares == sorted(shares)
    assert 4 <= n_checks <= 12


@pytest.mark.parametrize("seed", range(12))
def test_the_last_weights_are_measured_whatever_the_last_updates_took(seed: int) -> None:
    noise = random.Random(seed)
    times = ByTime(SECTION, Budget(10.0, 2.0))
    seconds, _, _ = Simulated(times).run(lambda p: noise.choice([0.2, 0.5, 9.0]), 12.0)
    assert seconds == pytest.approx(600, rel=0.06)


def test_validations_that_take_long_are_few() -> None:
    times = ByTime(SECTION, Budget(10.0, 0.5))
    seconds, shares, n_checks = Simulated(times).run(lambda p: 0.5, 40.0)
    assert n_checks == 2
    assert seconds == pytest.approx(600, rel=0.03)
    assert shares[-1] == pytest.approx(1.0, abs=0.01)


def test_rates_are_fixed_within_a_stretch() -> None:
    """What the clock says decides nothing before the end of what was planned."""
    times = timetable(SECTION, Budget(10.0, 0.5))
    pace = Pace(share=0.5, since=40, until=50, gain=0.001, seconds=30.0, seconds_an_update=0.5)
    progress = Progress(update=43, seconds=31.5, pace=pace)
    late = replace(progress, seconds=900.0)
    assert [times.rate(progress, n) for n in range(44, 51)] == [
        times.rate(late, n) for n in range(44, 51)
    ]
    assert times.rate(progress, 44) == pytest.approx((1 - 0.504) / 0.9)
    assert times.planned(late) is late
    assert times.why_over(late) is None
    assert not times.is_due(late)


def test_a_run_by_time_decays_to_nothing_and_validates_at_its_end() -> None:
    machine = Machine(noise=random.Random(1))
    events = list(train(timed(Memory(), machine, minutes=0.4)))
    steps = [event for event in events if isinstance(event, Stepped)]
    assert machine.now + 1.0 == pytest.approx(24, rel=0.05)
    assert steps[-1].learning_rate < 0.03 * max(step.learning_rate for step in steps)
    assert all(one.share <= two.share for one, two in pairwise(steps))
    last = events[-1]
    assert isinstance(last, Finished)
    assert (last.reason, last.chosen) == ("0.4 minutes are over", "best validated")
    assert isinstance(events[-3], Validated)
    assert isinstance(events[-2], Saved)


@pytest.mark.parametrize("stops", [[1], [7, 20], [30, 5, 5]])
def test_a_run_by_time_that_was_stopped_keeps_its_plan(stops: list[int]) -> None:
    """Bit for bit, where the machine is as fast as before; a stop may fall into a validation."""
    whole, parts = Memory(), Memory()
    reference = timed(whole, Machine())
    all_steps = [event for event in train(reference) if isinstance(event, Stepped)]
    steps: list[Stepped] = []
    for n in stops:
        run = replace(timed(parts, Machine()), should_stop=stopping_after(n))
        steps += [event for event in train(run) if isinstance(event, Stepped)]
    final = timed(parts, Machine())
    steps += [event for event in train(final) if isinstance(event, Stepped)]
    assert [one.learning_rate for one in steps] == [one.learning_rate for one in all_steps]
    assert same(copied(reference.model), copied(final.model))
    assert whole.best is not None
    assert parts.best is not None
    assert same(whole.best, parts.best)


def test_a_killed_run_goes_on_with_the_plan_of_its_last_checkpoint() -> None:
    """On a slower machine too it does again what it did, up to the end of the stretch."""
    keeper = Memory()
    first = [event for event in train(timed(keeper, Machine())) if isinstance(event, Stepped)]
    keeper.saved = keeper.saved[:1]
    progress = keeper.saved[0][0]
    assert progress.pace is not None
    again = [event for event in train(timed(keeper, Machine(1.0))) if isinstance(event, Stepped)]
    n_planned = progress.pace.until - progress.update
    assert n_planned > 0
    done = first[progress.update : progress.pace.until]
    assert [(one.learning_rate, one.loss) for one in again[:n_planned]] == [
        (one.learning_rate, one.loss) for one in done
    ]


def test_a_run_by_updates_can_be_continued_by_time() -> None:
    keeper = Memory()
    list(train(replace(make(keeper, updates=100), should_stop=stopping_after(40))))
    events = list(train(timed(keeper, Machine())))
    first = next(event for event in events if isinstance(event, Stepped))
    assert first.update > 1
    assert first.share > (first.update - 1) / 100
    assert isinstance(events[-1], Finished)


def test_weights_are_numbers_at_any_budget() -> None:
    """A budget that is over before it begins still trains, measures and keeps something."""
    keeper = Memory()
    events = list(train(timed(keeper, Machine(), minutes=1e-6)))
    assert isinstance(events[-1], Finished)
    assert 1 <= events[-1].update <= 2
    assert keeper.best is not None
    assert all(torch.isfinite(one).all() for one in keeper.best.values())
