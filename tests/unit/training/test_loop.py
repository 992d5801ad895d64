"""The loop: which events come when, what ends it, and that stopping changes nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.config import TrainingSection
from regard.data import Batches, MemoryCorpus
from regard.errors import TrainingError
from regard.models import Sizes, Transformer
from regard.text import Words
from regard.training import (
    Finished,
    FolderKeeper,
    Progress,
    Ranks,
    Run,
    Saved,
    Stepped,
    Updater,
    Validated,
    Validation,
    train,
)
from regard.training.loop import _next_scale, _noise_seed
from regard.training.tasks import translation

WORDS = Words(list("abcdefg"))
PAIRS = [([4 + i % 7, 4 + i % 5], [4 + i % 5, 4 + i % 7, 4 + i % 3]) for i in range(24)]
CORPUS = MemoryCorpus(PAIRS)


def held_out() -> Validation:
    pairs = PAIRS[:3]
    return Validation(MemoryCorpus(pairs), [WORDS.decode(t) for _, t in pairs], WORDS)


@dataclass
class Memory:
    """A keeper that writes nothing: it remembers."""

    best: dict[str, Tensor] | None = None
    saved: list[tuple[Progress, dict[str, Tensor], dict[str, Tensor], int]] = field(
        default_factory=list
    )
    planned: list[bool] = field(default_factory=list)
    n_average: int = 0
    average: dict[str, Tensor] | None = None
    moments: dict[int, dict[str, Tensor]] = field(default_factory=dict)

    def restore(self, model: Transformer, updater: Updater) -> Progress | None:
        if not self.saved:
            return None
        progress, weights, state, n_updates = self.saved[-1]
        model.load_state_dict(weights)
        updater.restore(state, n_updates)
        return progress

    def save(
        self, model: Transformer, updater: Updater, progress: Progress, *, is_planned: bool
    ) -> str:
        state = {key: value.clone() for key, value in updater.state().items()}
        self.saved.append((progress, copied(model), state, updater.n_updates))
        self.planned.append(is_planned)
        return f"memory {progress.update}"

    def keep_best(self, model: Transformer) -> None:
        self.best = copied(model)

    def keep_moment(self, model: Transformer, update: int) -> None:
        self.moments[update] = copied(model)

    def restore_best(self, model: Transformer) -> None:
        assert self.best is not None
        model.load_state_dict(self.best)

    def average_last(self, model: Transformer, n: int) -> int:
        if self.average is not None:
            model.load_state_dict(self.average)
        return min(n, self.n_average)


def copied(model: Transformer) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return all(torch.equal(tensor, other[name]) for name, tensor in one.items())


def section(**changes: Any) -> TrainingSection:
    values = {
        "batch_tokens": 24,
        "updates": 6,
        "learning_rate": 0.01,
        "warmup": 2,
        "validate_every": 3,
        "save_every": 2,
        "average_last": 1,
    }
    return TrainingSection(**(values | changes))  # type: ignore[arg-type]


def make(
    keeper: Any = None, dropout: float = 0.3, has_validation: bool = True, **changes: Any
) -> Run:
    torch.manual_seed(1)
    sizes = Sizes(16, 1, 24, True, "relu", dropout, dropout, dropout, dropout)
    recipe = section(**changes)
    assert isinstance(recipe.batch_tokens, int)
    return Run(
        recipe=recipe,
        model=Transformer(11, 11, sizes, n_layers=1),
        batches=Batches(CORPUS, recipe.seed, recipe.batch_tokens),
        keeper=keeper or Memory(),
        validation=held_out() if has_validation else None,
        ranks=Ranks(),
        device=torch.device("cpu"),
    )


def stopping_after(n: int) -> Callable[[], bool]:
    """The n-th question is answered with yes, and all after it: by updates and validations."""
    asked = count(1)
    return lambda: next(asked) >= n


def test_events_come_in_order() -> None:
    keeper = Memory()
    events = list(train(make(keeper)))
    told = [(type(event).__name__, event.update) for event in events]
    assert told == [
        ("Stepped", 1),
        ("Stepped", 2),
        ("Saved", 2),
        ("Stepped", 3),
        ("Validating", 3),
        ("Validated", 3),
        ("Stepped", 4),
        ("Saved", 4),
        ("Stepped", 5),
        ("Stepped", 6),
        ("Validating", 6),
        ("Validated", 6),
        ("Saved", 6),
        ("Finished", 6),
    ]
    last = events[-1]
    assert isinstance(last, Finished)
    assert (last.reason, last.chosen) == ("all updates done", "best validated")
    steps = [event for event in events if isinstance(event, Stepped)]
    assert [event.learning_rate for event in steps][:3] == pytest.approx(
        [0.005, 0.01, 0.01 * (2 / 3) ** 0.5]
    )
    assert all(event.n_tokens > 0 and event.gradient_norm > 0 for event in steps)
    assert [event.seconds for event in steps] == sorted(event.seconds for event in steps)
    assert isinstance(events[2], Saved)
    assert events[2].path == "memory 2"
    assert keeper.planned == [True, True, True]


def test_losses_fall_and_are_per_token() -> None:
    events = list(train(make(dropout=0.0, updates=40, validate_every=20, save_every=40)))
    losses = [event.loss for event in events if isinstance(event, Stepped)]
    assert losses[-1] < losses[0] - 0.5
    assert losses[0] == pytest.approx(2.6, abs=0.6)  # about the log of 11 tokens
    validated = [event for event in events if isinstance(event, Validated)]
    assert validated[-1].perplexity == pytest.approx(torch.tensor(validated[-1].loss).exp().item())
    assert validated[-1].quality is not None


def test_the_model_is_left_training_after_a_validation() -> None:
    run = make()
    for event in train(run):
        if isinstance(event, Validated):
            assert run.model.training


def test_quality_is_measured_only_where_asked() -> None:
    events = list(train(make(decodes_at_validation=False)))
    assert all(event.quality is None for event in events if isinstance(event, Validated))


def test_patience_ends_a_run_that_gets_no_better() -> None:
    run = make(updates=50, validate_every=1, patience=3, learning_rate=1e-30)
    events = list(train(run))
    last = events[-1]
    assert isinstance(last, Finished)
    assert (last.update, last.reason) == (4, "no better validation in 3")
    best = [event.is_best for event in events if isinstance(event, Validated)]
    assert best == [True, False, False, False]


def test_without_patience_it_goes_on() -> None:
    run = make(updates=7, validate_every=1, patience=None, learning_rate=1e-30)
    assert list(train(run))[-1].update == 7


def test_minutes_end_a_run_and_its_weights_are_measured() -> None:
    keeper = Memory()
    events = list(train(make(keeper, updates=1000, validate_every=999, minutes=1e-6)))
    told = [type(event).__name__ for event in events]
    assert told == ["Stepped", "Validating", "Validated", "Saved", "Finished"]
    last = events[-1]
    assert isinstance(last, Finished)
    assert (last.reason, last.chosen) == ("1e-06 minutes are over", "best validated")
    assert keeper.best is not None


def test_a_run_continued_only_to_end_still_keeps_weights() -> None:
    keeper = Memory()
    list(train(replace(make(keeper, validate_every=5), should_stop=stopping_after(2))))
    assert keeper.best is None
    (last,) = train(make(keeper, updates=2, validate_every=5))
    assert isinstance(last, Finished)
    assert last.chosen == "last"
    assert keeper.best is not None
    assert same(keeper.best, keeper.saved[-1][1])


def test_without_validation_the_last_weights_are_kept() -> None:
    keeper = Memory()
    run = make(keeper, has_validation=False)
    events = list(train(run))
    assert not any(isinstance(event, Validated) for event in events)
    last = events[-1]
    assert isinstance(last, Finished)
    assert last.chosen == "last"
    assert keeper.best is not None
    assert same(keeper.best, copied(run.model))


def test_the_average_of_checkpoints_is_chosen_if_it_is_no_worse() -> None:
    calm = make(learning_rate=1e-30)  # its weights never change: an average is neither better
    keeper = Memory(n_average=2, average=copied(calm.model))
    run = make(keeper, average_last=2, learning_rate=1e-30, dropout=0.0)
    last = list(train(run))[-1]
    assert isinstance(last, Finished)
    assert last.chosen == "average of the last 2 checkpoints"
    *_, again = train(make(keeper, average_last=2, learning_rate=1e-30, dropout=0.0))
    assert isinstance(again, Finished)
    assert again.chosen == last.chosen  # a run that is over says the same again


def test_a_worse_average_is_not_chosen() -> None:
    noise = {name: torch.randn_like(t) * 3 for name, t in copied(make().model).items()}
    keeper = Memory(n_average=2, average=noise)
    last = list(train(make(keeper, average_last=2)))[-1]
    assert isinstance(last, Finished)
    assert last.chosen == "best validated"
    assert keeper.best is not None
    assert not same(keeper.best, noise)


def test_without_validation_a_moving_average_is_what_is_kept() -> None:
    keeper = Memory(n_average=3)
    last = list(train(make(keeper, has_validation=False, ema=0.5, average_last=3)))[-1]
    assert isinstance(last, Finished)
    assert last.chosen == "moving average"
    assert keeper.best is not None
    assert not same(keeper.best, keeper.saved[-1][1])


def test_one_checkpoint_is_no_average() -> None:
    last = list(train(make(Memory(n_average=1), average_last=2)))[-1]
    assert isinstance(last, Finished)
    assert last.chosen == "best validated"


@pytest.mark.parametrize("ema", [None, 0.8])
@pytest.mark.parametrize("stops", [[1], [3], [2, 1, 1], [4], [5], [6, 3], [9], [11]])
def test_a_run_that_was_stopped_ends_as_one_that_was_not(
    ema: float | None, stops: list[int]
) -> None:
    """Bit for bit, with dropout; a stop is within an update, a validation or the last choice."""
    changes = {"ema": ema, "save_every": 100}
    whole, parts = Memory(), Memory()
    reference = make(whole, **changes)
    list(train(reference))
    for n in stops:
        events = list(train(replace(make(parts, **changes), should_stop=stopping_after(n))))
        last = events[-1]
        assert isinstance(last, Finished)
        assert (last.reason, last.chosen) == ("interrupted", "")
        assert isinstance(events[-2], Saved)
        assert parts.planned[-1] is (last.update == 6)  # where the run is over anyway
    final = make(parts, **changes)
    list(train(final))
    assert same(copied(reference.model), copied(final.model))
    assert whole.best is not None
    assert parts.best is not None
    assert same(whole.best, parts.best)
    one, other = whole.saved[-1], parts.saved[-1]
    assert same(one[2], other[2])
    assert replace(one[0], seconds=0.0) == replace(other[0], seconds=0.0)


class Interrupted(Validation):
    """In its middle a stop is asked for."""

    asked: bool = False

    def _outputs(
        self, model: Any, rows: Sequence[int], should_stop: Callable[[], bool]
    ) -> list[str]:
        object.__setattr__(self, "asked", True)
        return super()._outputs(model, rows, should_stop)


@pytest.mark.parametrize("ema", [None, 0.8])
@pytest.mark.parametrize(("validate_every", "stopped_at"), [(3, 3), (100, 6)])
def test_a_validation_that_is_broken_off_is_done_again(
    ema: float | None, validate_every: int, stopped_at: int
) -> None:
    changes = {"ema": ema, "validate_every": validate_every, "save_every": 3}
    whole, parts = Memory(), Memory()
    reference = list(train(make(whole, **changes)))
    known = held_out()
    broken = Interrupted(known.corpus, known.references, known.tokenizer)
    first = replace(make(parts, **changes), validation=broken, should_stop=lambda: broken.asked)
    events = list(train(first))
    assert [type(event).__name__ for event in events[-2:]] == ["Saved", "Finished"]
    assert isinstance(events[-1], Finished)
    assert (events[-1].update, events[-1].reason) == (stopped_at, "interrupted")
    assert not any(isinstance(event, Validated) for event in events)
    assert parts.best is None
    assert parts.saved[-1][0].owes_validation
    assert first.model.training
    rest = list(train(make(parts, **changes)))
    assert isinstance(rest[1], Validated)
    assert [
        replace(one, seconds=0.0) for one in (*events, *rest) if isinstance(one, Validated)
    ] == [replace(one, seconds=0.0) for one in reference if isinstance(one, Validated)]
    assert [(type(one), one.update) for one in rest[-3:]] == [
        (type(one), one.update) for one in reference[-3:]
    ]
    assert parts.planned[-1]
    assert whole.best is not None
    assert parts.best is not None
    assert same(whole.best, parts.best)
    assert same(whole.saved[-1][1], parts.saved[-1][1])
    assert replace(whole.saved[-1][0], seconds=0.0) == replace(parts.saved[-1][0], seconds=0.0)


def test_a_broken_off_validation_is_kept_in_a_folder_too(tmp_path: Path) -> None:
    """The checkpoint of that update is written again when it has been measured."""
    known, changes = held_out(), {"save_every": 3, "average_last": 2}
    broken = Interrupted(known.corpus, known.references, known.tokenizer)
    keepers = [FolderKeeper(tmp_path / name, Ranks(), 2) for name in ("whole", "parts")]
    for keeper in keepers:
        keeper.folder.mkdir()
    list(train(make(keepers[0], **changes)))
    first = make(keepers[1], **changes)
    list(train(replace(first, validation=broken, should_stop=lambda: broken.asked)))
    latest = keepers[1].checkpoints.latest()
    assert latest is not None
    assert latest.step == 3
    assert latest.state()["progress"]["owes_validation"]
    list(train(make(keepers[1], **changes)))
    for there, here in zip(*(keeper.checkpoints.all() for keeper in keepers), strict=True):
        assert there.step == here.step
        progress, again = (one.state()["progress"] for one in (there, here))
        assert progress | {"seconds": 0} == again | {"seconds": 0}
    weights = [(keeper.folder / "weights.safetensors").read_bytes() for keeper in keepers]
    assert weights[0] == weights[1]


def test_a_stop_while_the_weights_are_chosen() -> None:
    """All is saved by then; the continued run chooses, and does nothing else."""
    keeper = Memory(n_average=2, average=copied(make().model))
    changes = {"average_last": 2, "decodes_at_validation": False}
    events: list[Any] = []

    def is_saved() -> bool:
        return any(isinstance(event, Saved) and event.update == 6 for event in events)

    for event in train(replace(make(keeper, **changes), should_stop=is_saved)):
        events.append(event)  # looked at while more come
    assert isinstance(events[-1], Finished)
    assert (events[-1].reason, events[-1].chosen) == ("interrupted", "")
    *_, last = train(make(keeper, **changes))
    assert isinstance(last, Finished)
    assert (last.reason, last.chosen) == ("all updates done", "best validated")


def test_noise_is_new_for_every_update_process_and_seed() -> None:
    seeds = {_noise_seed(s, u, r) for s in (1, 2, 11) for u in range(1, 50) for r in range(3)}
    assert len(seeds) == 3 * 49 * 3
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert _noise_seed(1, 12, 0) != _noise_seed(11, 2, 0)


def test_the_callers_random_numbers_do_not_matter() -> None:
    results = []
    for disturbance in (0, 5):
        run = make()
        for event in train(run):
            if isinstance(event, Stepped):
                torch.rand(disturbance)
        results.append(copied(run.model))
    assert same(*results)


def test_batches_added_up_are_one_large_batch() -> None:
    """Two batches of one update give the gradient of both together."""
    first = make(accumulate=2, updates=1, dropout=0.0, clip=None)
    step = next(iter(train(first)))
    assert isinstance(step, Stepped)
    second = make(updates=1, dropout=0.0)
    batches = second.batches.iterate()
    updater = Updater(second.model)
    losses = [translation(second.model, next(batches), 0.1) for _ in range(2)]
    total = losses[0][0] + losses[1][0]
    n_tokens = losses[0][1] + losses[1][1]
    total.backward()  # type: ignore[no-untyped-call]
    norm = float(updater.gradient.norm()) / n_tokens
    assert step.n_tokens == n_tokens
    assert step.loss == pytest.approx(total.item() / n_tokens, rel=1e-5)
    assert step.gradient_norm == pytest.approx(norm, rel=1e-4)


def test_a_gradient_that_is_not_finite_ends_the_run() -> None:
    keeper = Memory()
    run = make(keeper)
    events = train(run)
    while next(events).update < 3:
        pass
    with torch.no_grad():
        run.model.encoder.embedding.weight[5:] = float("nan")
    with pytest.raises(TrainingError) as failure:
        list(events)
    assert str(failure.value) == (
        "the gradient of update 4 is not a finite number: lower training.learning_rate or raise "
        "training.warmup, and start in a new folder"
    )
    assert [progress.update for progress, *_ in keeper.saved] == [2]


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_lower_precision_trains(precision: str) -> None:
    run = make(dropout=0.1, updates=12, precision=precision, save_every=12, validate_every=12)
    losses = [event.loss for event in train(run) if isinstance(event, Stepped)]
    assert losses[-1] < losses[0]
    assert all(p.dtype == torch.float32 for p in run.model.parameters())


def test_the_loss_scale_of_fp16() -> None:
    """Halved when a gradient overflows, doubled now and then, and never below one."""
    recipe = section(precision="fp16")
    before = Progress(update=5, loss_scale=1024.0)
    assert _next_scale(recipe, before, 1.0) == 1024
    assert _next_scale(recipe, before, float("inf")) == 512
    assert _next_scale(recipe, before, float("nan")) == 512
    assert _next_scale(recipe, replace(before, update=1999), 1.0) == 2048
    assert _next_scale(section(), replace(before, update=1999, loss_scale=1.0), 1.0) == 1
    with pytest.raises(TrainingError, match="update 6 is not a finite number"):
        _next_scale(recipe, replace(before, loss_scale=1.0), float("nan"))


def test_an_overflow_of_fp16_skips_an_update_and_goes_on() -> None:
    keeper = Memory()
    run = make(keeper, dropout=0.0, updates=3, precision="fp16", save_every=1)
    model = run.model
    before, events = copied(model), train(run)
    poison = model.encoder.embedding.weight.register_hook(lambda grad: grad * float("inf"))
    step = next(events)
    poison.remove()
    assert isinstance(step, Stepped)
    assert not step.gradient_norm < float("inf")
    assert same(before, copied(model))
    rest = list(events)
    assert rest[-1].update == 3
    scales = [progress.loss_scale for progress, *_ in keeper.saved]
    assert scales == [2.0**13] * 3
    assert keeper.saved[-1][3] == 2  # updates that were made


def test_it_runs_with_a_folder_too(tmp_path: Path) -> None:
    keeper = FolderKeeper(tmp_path, Ranks(), 2)
    run = make(keeper, average_last=2)
    last = list(train(run))[-1]
    assert isinstance(last, Finished)
    assert (tmp_path / "weights.safetensors").is_file()
    assert keeper.last_update() == 6


def test_moments_are_kept_where_the_recipe_asks() -> None:
    memory = Memory()
    run = make(memory, dropout=0.0, keep_at=(0, 3, 4, 99))
    before = copied(run.model)  # type: ignore[arg-type]
    list(train(run))
    assert list(memory.moments) == [0, 3, 4]
    assert same(before, memory.moments[0])
    at_four = next(weights for progress, weights, _, _ in memory.saved if progress.update == 4)
    assert same(memory.moments[4], at_four)
    assert not same(memory.moments[3], at_four)
