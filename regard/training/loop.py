"""The training loop, top to bottom: a generator of events."""

import hashlib
import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch

from regard.config import TrainingSection, known
from regard.data import Batch
from regard.errors import TrainingError
from regard.shapes import Float, Tensor
from regard.training.events import Event, Finished, Saved, Stepped, Validated, Validating
from regard.training.phases import PhasedUpdater
from regard.training.run import AnyUpdater, Progress, Run
from regard.training.sharded import ShardedUpdater, reshard
from regard.training.tasks import Phase, Task
from regard.training.timetable import Timetable, timetable
from regard.training.updater import Updater
from regard.training.validation import HeldOut, Measured, Stopped


def train(run: Run) -> Iterator[Event]:
    """Train until the recipe says enough; a run that was cut off goes on where it was saved."""
    recipe, model = run.recipe, run.model.train()
    accumulate = known(recipe.accumulate, "training.accumulate")
    times = timetable(recipe, run.budget)
    updater = PhasedUpdater(model, run.phases or (Phase(run.task),), recipe)
    progress = run.keeper.restore(model, updater) or Progress(loss_scale=_first_scale(recipe))
    batches = run.batches.iterate(progress.place)
    started = run.clock() - progress.seconds
    if progress.pace is None:
        progress = times.planned(progress)
    reason = times.why_over(progress)
    if progress.update == 0 and 0 in recipe.keep_at:
        run.keeper.keep_moment(model, 0)
    if progress.owes_validation:
        progress, reason = yield from _conclude(run, times, updater, progress, started)

    while reason is None:
        update = progress.update + 1
        torch.manual_seed(_noise_seed(recipe.seed, update, run.ranks.rank))
        read = [next(batches).to(run.device) for _ in range(accumulate)]
        rate = times.rate(progress, update)
        steps = [_step(run, one, read, update, rate, progress.loss_scale) for one in updater]
        norm = math.hypot(*(step.norm for step in steps))
        progress = replace(
            progress,
            update=update,
            epoch=batches.place.epoch,
            batch=batches.place.batch,
            loss_scale=_next_scale(recipe, progress, norm),
            seconds=run.ranks.share([run.clock() - started])[0],
        )
        yield Stepped(
            update=update,
            epoch=progress.epoch,
            loss=steps[0].loss,
            n_tokens=steps[0].n_tokens,
            learning_rate=rate,
            gradient_norm=norm,
            seconds=progress.seconds,
            losses={step.part: step.loss for step in steps} if len(steps) > 1 else {},
            share=times.share(progress),
        )
        if update in recipe.keep_at:
            run.keeper.keep_moment(model, update)
        is_due = run.validation is not None and times.is_due(progress)
        progress = replace(progress, owes_validation=is_due)
        wants_to_stop = steps[-1].wants_to_stop
        progress, reason = yield from _conclude(
            run, times, updater, progress, started, wants_to_stop=wants_to_stop
        )

    if run.validation and run.recipe.average_last > 1 and reason != "interrupted":
        yield Validating(progress.update)
    try:
        chosen = "" if reason == "interrupted" else _choose(run, progress)
    except Stopped:  # a run that is over chooses again when it is continued
        reason, chosen = "interrupted", ""
    yield Finished(progress.update, reason, chosen, progress.seconds)


def _conclude(
    run: Run,
    times: Timetable,
    updater: AnyUpdater,
    progress: Progress,
    started: float,
    *,
    wants_to_stop: bool = False,
) -> Generator[Event, None, tuple[Progress, str | None]]:
    """What follows an update: validate and save, where that is due; gives why the run ends, if so.

    A validation that is broken off is owed: the run is saved as it is, and continues with it.
    """
    took = None
    if run.validation and progress.owes_validation and not wants_to_stop:
        yield Validating(progress.update)
        try:
            validated, progress = _validate(run, run.validation, updater, progress)
        except Stopped:
            wants_to_stop = True
        else:
            yield validated
            now = run.ranks.share([run.clock() - started])[0]
            took, progress = now - progress.seconds, replace(progress, seconds=now)
    if not progress.owes_validation:
        progress = times.planned(progress, checked=took)
    over = times.why_over(progress)
    is_planned = over is not None or times.is_saved(progress)
    if is_planned or wants_to_stop:
        yield _save(run, updater, progress, is_planned=is_planned)
    return progress, "interrupted" if wants_to_stop else over


def _noise_seed(seed: int, update: int, rank: int) -> int:
    """A seed of its own for every update of every process.

    All randomness of an update comes from it, so a continued run needs no saved generator.
    """
    digest = hashlib.blake2b(f"{seed} {update} {rank}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


class _Step(NamedTuple):
    """What a phase of an update has told, over all processes."""

    part: str
    loss: float
    n_tokens: int
    norm: float
    wants_to_stop: bool


def _step(
    run: Run,
    learning: tuple[Phase, Updater | ShardedUpdater],
    batches: Sequence[Batch],
    update: int,
    rate: float,
    loss_scale: float,
) -> _Step:
    """One phase of an update: the gradient of its loss over some batches, and a step along it."""
    phase, updater = learning
    sums = torch.zeros(3, dtype=torch.float64)
    task = phase.task_at(update)
    for batch in batches:
        sums += _backward(run, task, batch, loss_scale)
    sums[2] = run.should_stop()
    loss, n_tokens, n_wanting_to_stop = run.ranks.sum(sums).tolist()
    updater.reduce(run.ranks)
    norm = updater.update(phase.rate * rate, n_tokens * loss_scale, run.recipe.clip)
    return _Step(phase.part, loss / n_tokens, int(n_tokens), norm, n_wanting_to_stop > 0)


def _backward(run: Run, task: Task, batch: Batch, loss_scale: float) -> Float[Tensor, "3"]:
    """Add a batch's gradient to what is there; gives its loss and its tokens."""
    dtype = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
    precision = run.recipe.precision
    with torch.autocast(run.device.type, dtype[precision], enabled=precision != "fp32"):
        loss, n_tokens = task(run.model, batch, run.recipe.label_smoothing)
    (loss * loss_scale).backward()  # type: ignore[no-untyped-call]
    return torch.tensor([float(loss.detach()), n_tokens, 0.0], dtype=torch.float64)


def _first_scale(recipe: TrainingSection) -> float:
    return 2.0**14 if recipe.precision == "fp16" else 1.0


def _next_scale(recipe: TrainingSection, progress: Progress, norm: float) -> float:
    """Halve the scale of fp16 when a gradient overflowed, double it now and then.

    In other precisions a gradient that is not finite ends the run: its update was not made, and
    the checkpoints before it are as good as they were.
    """
    if math.isfinite(norm):
        grows = recipe.precision == "fp16" and (progress.update + 1) % 2000 == 0
        return progress.loss_scale * (2 if grows else 1)
    if recipe.precision != "fp16" or progress.loss_scale <= 1.0:
        raise TrainingError(
            f"the gradient of update {progress.update + 1} is not a finite number: lower "
            "training.learning_rate or raise training.warmup, and start in a new folder"
        )
    return progress.loss_scale / 2


def _validate(
    run: Run, validation: HeldOut, updater: AnyUpdater, progress: Progress
) -> tuple[Validated, Progress]:
    """Measure the model (its average, where one is kept), and keep it if it is the best so far."""
    with updater.averaged():
        measured, worth = _measure(run, validation)
        is_best = progress.best is None or worth > progress.best
        if is_best:
            run.keeper.keep_best(run.model)
    validated = Validated(
        update=progress.update,
        loss=measured.loss,
        perplexity=measured.perplexity,
        quality=measured.quality,
        is_best=is_best,
        seconds=progress.seconds,
        bits_per_character=validation.bits_per_character(measured.loss),
        repeated=measured.repeated,
        control=measured.control,
        samples=measured.samples,
    )
    best, n_stale = (worth, 0) if is_best else (progress.best, progress.n_stale + 1)
    return validated, replace(progress, best=best, n_stale=n_stale, owes_validation=False)


def _measure(run: Run, validation: HeldOut) -> tuple[Measured, float]:
    """What was measured and what it is worth.

    The first process measures, all hear loss and worth; a sharded model all measure together.

    Raises ``Stopped`` in all processes if the first was told to stop; where all measure together
    none may leave the others alone, and the measurement goes on to its end.
    """
    measured, is_stopped = Measured(0.0, None), False
    is_sharded = run.recipe.shard
    if run.ranks.is_first or is_sharded:  # no process alone has all of a sharded model
        decodes = run.recipe.decodes_at_validation and not is_sharded
        should_stop = (lambda: False) if is_sharded else run.should_stop
        try:
            measured = validation.measure(
                run.model,
                run.task,
                decodes=decodes,
                shows_samples=not is_sharded,
                should_stop=should_stop,
            )
        except Stopped:
            is_stopped = True
    reshard(run.model)  # what was gathered to measure must not outlive the next update
    numbers = [measured.loss, measured.worth(run.recipe.measure), float(is_stopped)]
    loss, worth, stopped = run.ranks.share(numbers)
    if stopped:
        raise Stopped
    return replace(measured, loss=loss), worth


def _save(run: Run, updater: AnyUpdater, progress: Progress, *, is_planned: bool) -> Saved:
    path = run.keeper.save(run.model, updater, progress, is_planned=is_planned)
    if run.validation is None:
        with updater.averaged():
            run.keeper.keep_best(run.model)  # nothing to compare by: the latest is the best
    run.ranks.wait()
    return Saved(progress.update, path)


def _choose(run: Run, progress: Progress) -> str:
    """Let the folder hold the best of: the best validated, the average of the last checkpoints.

    A run that is over chooses the same again.
    """
    own = "best validated" if run.validation else "last"
    if run.validation and progress.best is None:  # continued only to end: nothing was validated
        own = "last"
        run.keeper.keep_best(run.model)
    if run.recipe.ema is not None and run.validation is None:
        return "moving average"
    if run.recipe.average_last < 2:
        return own
    run.keeper.restore_best(run.model)
    worth = _measure(run, run.validation)[1] if run.validation else -math.inf
    n_averaged = run.keeper.average_last(run.model, run.recipe.average_last)
    if n_averaged < 2:
        return own
    if run.validation and _measure(run, run.validation)[1] < worth:
        return own
    run.keeper.keep_best(run.model)
    return f"average of the last {n_averaged} checkpoints"
