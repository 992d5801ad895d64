"""One session of a training run: set up, trained, and told as events."""

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path

import torch

from regard.config import Recipe
from regard.data import TaughtBatches
from regard.devices import choose_device, require_memory_to_train
from regard.engine import keep_heap
from regard.errors import RegardError, UsageError
from regard.models import Model, Transformer
from regard.systems.system import build, prepare, system_of
from regard.systems.teaching import Teaching
from regard.training import FolderKeeper, MetricsFile, Prepared, Run, joined_ranks, shard, train
from regard.training.events import DataRead, Event, ModelBuilt, Preparing


def run_training(
    recipe: Recipe,
    folder: Path,
    *,
    device: str = "auto",
    threads: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[Event]:
    """Train, or go on training, in this folder until done or stopped.

    Events come as they happen; the first process alone writes ``metrics.jsonl``. Whoever stops
    asking for them ends the session: what was done since the last checkpoint is lost then, and
    not with ``should_stop``.
    """
    chosen = choose_device(device)
    if chosen.type == "cpu":
        keep_heap()
    elif chosen.type == "cuda":
        torch.cuda.set_device(chosen)
    if threads is not None:
        torch.set_num_threads(threads)
    n_ranks = int(os.environ.get("WORLD_SIZE", "1"))
    with joined_ranks(n_ranks, chosen) as ranks:
        keeper = FolderKeeper(folder, ranks, recipe.training.average_last)
        with closing(keeper):
            with ranks.in_turn():
                keeper.claim(recipe)
            try:
                run = yield from _set_up(recipe, keeper, chosen, should_stop)
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


def _set_up(
    recipe: Recipe, keeper: FolderKeeper, device: torch.device, should_stop: Callable[[], bool]
) -> Generator[Event, None, Run]:
    """Read the data and build the model; all that can be refused is refused here."""
    ranks = keeper.ranks
    yield Preparing(recipe.data.train)
    with ranks.in_turn():
        yield from system_of(recipe).compute(recipe, keeper.folder)
        prepared = prepare(recipe, keeper.folder, n_processes=ranks.n_ranks)
    yield DataRead(prepared)
    resolved = prepared.recipe
    lessons, gold = resolved.training.lessons, prepared.gold()
    model = _built(prepared, device, is_new=not keeper.last_update())
    n_parameters = model.n_parameters
    _split(model, resolved, ranks.n_ranks)
    keeper.begin(resolved, prepared.source_tokenizer, prepared.target_tokenizer, prepared.lexicon)
    yield ModelBuilt(resolved, n_parameters, keeper.folder, device, ranks.n_ranks)
    batches = prepared.plan(ranks.rank, ranks.n_ranks)
    return Run(
        recipe=resolved.training,
        model=model,
        batches=TaughtBatches(batches, gold) if lessons else batches,
        keeper=keeper,
        validation=prepared.validation,
        ranks=ranks,
        device=device,
        task=Teaching(prepared.task, lessons) if lessons else prepared.task,
        phases=prepared.phases,
        should_stop=should_stop,
    )


def _built(prepared: Prepared, device: torch.device, *, is_new: bool) -> Model:
    network = prepared.recipe.model
    torch.manual_seed(prepared.recipe.training.seed)
    require_memory_to_train(network.least_size, network.shape, device)
    sizes = len(prepared.source_tokenizer), len(prepared.target_tokenizer)
    model = build(network, *sizes)
    if is_new:
        prepared.begin(model)
    return model.to(device)


def _split(model: Model, recipe: Recipe, n_ranks: int) -> None:
    """Compile a model, or spread it over processes, where the recipe says so."""
    if not isinstance(model, Transformer):  # the recipe allows neither of the others
        return
    if recipe.training.shard:
        if n_ranks < 2:
            raise UsageError(
                "training.shard = true spreads a model over several processes: start them with "
                "torchrun --nproc-per-node 2 -m regard train ..., or leave it out"
            )
        shard(model)
    if recipe.training.compile:
        model.compile_hidden()
