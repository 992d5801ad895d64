"""Phases: parts of a model that learn in turns, each by its own loss, kept and averaged as one."""

from typing import Any

import pytest
import torch
from torch import nn

from regard.config import TrainingSection
from regard.data import Batch, Batches, MemoryCorpus
from regard.models import Model
from regard.shapes import Float, Tensor
from regard.training import PhasedUpdater, Ranks, Run, Stepped, Updater, train
from regard.training.tasks import Phase
from tests.unit.training.test_loop import Memory, copied, same, section

PAIRS = [([4 + i % 7], [4 + i % 5, 4 + i % 3]) for i in range(16)]


class Adversaries(Model):
    """Two small networks with statistics of their own, of which each sees the other's output."""

    def __init__(self) -> None:
        super().__init__(padding=0)
        self.first = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
        self.second = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))


def first_loss(model: Model, batch: Batch, smoothing: float) -> tuple[Float[Tensor, ""], int]:
    assert isinstance(model, Adversaries)
    seen = model.second(model.first(batch.target[:, 1:3].float()))
    return seen.square().sum() + torch.randn(()) * seen.sum(), len(batch)


def second_loss(model: Model, batch: Batch, smoothing: float) -> tuple[Float[Tensor, ""], int]:
    loss, n = first_loss(model, batch, smoothing)
    return -loss, n


FIRST = Phase(first_loss, "first")
SECOND = Phase(second_loss, "second", rate=4.0, is_averaged=False)


def make(*phases: Phase, keeper: Memory | None = None, **changes: Any) -> Run:
    torch.manual_seed(1)
    return Run(
        recipe=section(clip=None, ema=0.9, **changes),
        model=Adversaries(),
        batches=Batches(MemoryCorpus(PAIRS), 1, 24),
        keeper=keeper or Memory(),  # type: ignore[arg-type]
        validation=None,
        ranks=Ranks(),
        device=torch.device("cpu"),
        task=first_loss,
        phases=phases,
    )


def parts(weights: dict[str, Tensor], part: str) -> dict[str, Tensor]:
    return {name: one for name, one in weights.items() if name.startswith(part)}


def test_a_phase_changes_the_weights_of_its_part_alone() -> None:
    run = make(FIRST, updates=1)
    before = copied(run.model)  # type: ignore[arg-type]
    list(train(run))
    after = copied(run.model)  # type: ignore[arg-type]
    assert torch.equal(before["second.0.weight"], after["second.0.weight"])
    assert not torch.equal(before["first.0.weight"], after["first.0.weight"])
    assert all(parameter.requires_grad for parameter in run.model.parameters())


def test_the_part_that_stands_still_gets_no_gradient() -> None:
    run = make(updates=1)
    updater = PhasedUpdater(run.model, (FIRST, SECOND), run.recipe)
    batch = next(run.batches.iterate())
    for phase, _ in updater:
        phase.task(run.model, batch, 0.0)[0].backward()  # type: ignore[no-untyped-call]
        if phase is FIRST:
            assert not any(p.grad is not None and p.grad.any() for p in _of(run, "second"))
            assert any(p.grad is not None and p.grad.any() for p in _of(run, "first"))


def _of(run: Run, part: str) -> list[nn.Parameter]:
    return list(run.model.get_submodule(part).parameters())


def test_each_phase_has_its_rate_and_its_own_adam() -> None:
    """The first step of Adam is as long as its rate, whatever the gradient."""
    run = make(FIRST, SECOND, updates=1, learning_rate=0.01, warmup=0, schedule="constant")
    before = copied(run.model)  # type: ignore[arg-type]
    (step, *_) = train(run)
    after = copied(run.model)  # type: ignore[arg-type]
    for part, rate in (("first", 0.01), ("second", 0.04)):
        change = (after[f"{part}.0.weight"] - before[f"{part}.0.weight"]).abs()
        assert float(change.max()) == pytest.approx(rate, rel=1e-3)
    assert isinstance(step, Stepped)
    assert step.losses.keys() == {"first", "second"}
    assert step.loss == step.losses["first"]


def test_a_run_that_was_stopped_ends_as_one_that_was_not() -> None:
    whole = Memory()
    list(train(make(FIRST, SECOND, keeper=whole)))
    parted = Memory()
    list(train(make(FIRST, SECOND, keeper=parted, updates=2)))
    list(train(make(FIRST, SECOND, keeper=parted)))
    assert same(whole.saved[-1][1], parted.saved[-1][1])
    assert same(whole.saved[-1][2], parted.saved[-1][2])
    assert whole.best is not None
    assert parted.best is not None
    assert same(whole.best, parted.best)


def test_the_average_is_of_weights_and_statistics_of_the_parts_that_have_one() -> None:
    keeper = Memory()
    run = make(FIRST, SECOND, keeper=keeper)
    list(train(run))
    last, kept = keeper.saved[-1][1], keeper.best
    assert kept is not None
    assert same(parts(last, "second"), parts(kept, "second"))
    for name in ("first.0.weight", "first.1.running_mean", "first.1.running_var"):
        assert not torch.equal(last[name], kept[name]), name
    assert torch.equal(last["first.1.num_batches_tracked"], kept["first.1.num_batches_tracked"])


def test_statistics_are_averaged_as_weights_are() -> None:
    model = nn.BatchNorm1d(1)
    updater = Updater(model, ema=0.9)
    expected = 0.0
    for n in range(1, 5):
        model.running_mean.fill_(float(n))  # type: ignore[union-attr, operator]
        updater.gradient.fill_(1.0)
        updater.update(0.1, 1.0, None)
        decay = min(0.9, (1 + n) / (10 + n))
        expected = decay * expected + (1 - decay) * n
    with updater.averaged():
        assert float(model.running_mean) == pytest.approx(expected)  # type: ignore[arg-type]
    assert float(model.running_mean) == 4.0  # type: ignore[arg-type]
    again = Updater(nn.BatchNorm1d(1), ema=0.9)
    again.restore({key: one.clone() for key, one in updater.state().items()}, 4)
    assert again.state()["average.statistics"].equal(updater.state()["average.statistics"])


def test_processes_share_the_mean_of_their_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other process has a mean of 5 and a gradient of 1 wherever this one has 1 and 3."""
    model = nn.BatchNorm1d(2)
    updater = Updater(model)
    model.running_mean.fill_(1.0)  # type: ignore[union-attr, operator]
    updater.gradient.fill_(3.0)

    def add(value: Tensor) -> None:
        value += 5.0 if value is model.running_mean else 1.0

    monkeypatch.setattr(torch.distributed, "all_reduce", add)
    updater.reduce(Ranks(0, 2))
    assert model.running_mean.tolist() == [3.0, 3.0]  # type: ignore[union-attr, operator]
    assert set(updater.gradient.tolist()) == {4.0}


def test_one_phase_is_kept_under_the_names_it_always_had() -> None:
    recipe = TrainingSection(ema=0.9)
    phased = PhasedUpdater(nn.Linear(2, 2), (Phase(first_loss),), recipe)
    assert phased.state().keys() == {"moment.first", "moment.second", "average"}
