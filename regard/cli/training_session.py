"""One session of a training run at the terminal: set up, show progress, stop when asked."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from regard.cli.main import INTERRUPTED
from regard.cli.training_display import Display
from regard.config import Recipe
from regard.config.labelling import LABELLING
from regard.config.schema import OF_PAIRS
from regard.devices import choose_device, require_memory_to_train
from regard.errors import MissingExtraError, RegardError, UsageError
from regard.evaluation import Quality
from regard.kernels import keep_heap
from regard.models import Labeller, Transformer, build
from regard.training import (
    FolderKeeper,
    MetricsFile,
    Prepared,
    Run,
    joined_ranks,
    prepare_label_run,
    prepare_run,
    prepare_text_run,
    put_encoder,
    read_metrics,
    shard,
    train,
)
from regard.training.events import Event, Finished, Stepped, Validated


def run_session(
    recipe: Recipe,
    folder: Path,
    *,
    device: str,
    n_threads: int | None,
    writes_tensorboard: bool,
    says_next: bool = True,
) -> None:
    """Train, or go on training, in this folder until done or interrupted.

    At the end it says what went wrong, and unless something else follows what to type next.
    """
    chosen = choose_device(device)
    if chosen.type == "cpu":
        keep_heap()
    elif chosen.type == "cuda":
        torch.cuda.set_device(chosen)
    if n_threads is not None:
        torch.set_num_threads(n_threads)
    n_ranks = int(os.environ.get("WORLD_SIZE", "1"))
    with joined_ranks(n_ranks, chosen) as ranks:
        keeper = FolderKeeper(folder, ranks, recipe.training.average_last)
        with closing(keeper):
            finished = _trained(
                recipe,
                keeper,
                chosen,
                writes_tensorboard=writes_tensorboard,
                says_next=says_next,
            )
    if finished is not None and finished.reason == "interrupted":
        sys.exit(INTERRUPTED)


def _trained(
    recipe: Recipe,
    keeper: FolderKeeper,
    device: torch.device,
    *,
    writes_tensorboard: bool,
    says_next: bool,
) -> Finished | None:
    """Claim the folder and train in it; gives how the run ended."""
    ranks, folder = keeper.ranks, keeper.folder
    display = Display(is_silent=not ranks.is_first)
    with ranks.in_turn():
        keeper.claim(recipe)
    try:
        run = _set_up(recipe, keeper, device, display)
    except RegardError:
        keeper.release()
        raise
    listeners: list[Callable[[Event], None]] = [display.show]
    if ranks.is_first:
        listeners.append(MetricsFile(folder / "metrics.jsonl", keeper.last_update()).write)
        if writes_tensorboard:
            listeners.append(_tensorboard(folder))
    finished = None
    with _stopping() as should_stop, display:
        for event in train(replace(run, should_stop=should_stop)):
            for listen in listeners:
                listen(event)
            if isinstance(event, Finished):
                finished = event
    if ranks.is_first and finished is not None and finished.reason != "interrupted":
        display.show_concerns(read_metrics(folder / "metrics.jsonl"))
        if says_next:
            display.show_next(folder, None if run.validation is None else run.validation.example())
    return finished


def _set_up(recipe: Recipe, keeper: FolderKeeper, device: torch.device, display: Display) -> Run:
    """Read the data and build the model; all that can be refused is refused here."""
    ranks, folder = keeper.ranks, keeper.folder
    display.say(f"Preparing {', '.join(recipe.data.train) or 'the data'}")
    with ranks.in_turn():
        prepared = _preparing(recipe)(recipe, folder, n_processes=ranks.n_ranks)
    display.show_data(prepared)
    resolved = prepared.recipe
    torch.manual_seed(resolved.training.seed)
    n_source, n_target = len(prepared.source_tokenizer), len(prepared.target_tokenizer)
    require_memory_to_train(resolved.model.least_size, resolved.model.shape, device)
    model = build(resolved.model, n_source, n_target)
    if isinstance(model, Labeller) and resolved.training.init and not keeper.last_update():
        put_encoder(model, resolved.training.init)
    model = model.to(device)
    n_parameters = model.n_parameters
    if isinstance(model, Transformer):  # the recipe allows neither of the others
        if resolved.training.shard:
            _require_processes(ranks.n_ranks)
            shard(model)
        if resolved.training.compile:
            model.compile_hidden()
    keeper.begin(resolved, prepared.source_tokenizer, prepared.target_tokenizer, prepared.lexicon)
    display.show_model(resolved, n_parameters, folder, device=device, n_processes=ranks.n_ranks)
    return Run(
        recipe=resolved.training,
        model=model,
        batches=prepared.plan(ranks.rank, ranks.n_ranks),
        keeper=keeper,
        validation=prepared.validation,
        ranks=ranks,
        device=device,
        task=prepared.task,
    )


def _preparing(recipe: Recipe) -> Callable[..., Prepared]:
    """What reads the data of a recipe: of pairs, of labels or of one text."""
    if recipe.training.task in OF_PAIRS:
        return prepare_run
    return prepare_label_run if recipe.model.kind in LABELLING else prepare_text_run


def _require_processes(n_ranks: int) -> None:
    if n_ranks < 2:
        raise UsageError(
            "training.shard = true spreads a model over several processes: start them with "
            "torchrun --nproc-per-node 2 -m regard train ..., or leave it out"
        )


@contextmanager
def _stopping() -> Iterator[Callable[[], bool]]:
    """Within, the first Ctrl-C (or SIGTERM) asks for a stop after the current update.

    The run is then saved where it is; a second Ctrl-C does not wait.
    """
    asked: list[int] = []

    def ask(number: int, frame: FrameType | None) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tensorboard(folder: Path) -> Callable[[Event], None]:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise MissingExtraError("--tensorboard", "tensorboard") from error
    writer: Any = SummaryWriter(folder / "tensorboard")

    def write(event: Event) -> None:
        values: dict[str, float] = {}
        if isinstance(event, Stepped) and event.update % 10 == 0:
            values = {
                "train/loss": event.loss,
                "train/learning rate": event.learning_rate,
                "train/gradient norm": event.gradient_norm,
            }
        elif isinstance(event, Validated):
            values = {"valid/loss": event.loss, "valid/perplexity": event.perplexity}
            if isinstance(event.quality, Quality):
                values |= {"valid/BLEU": event.quality.bleu, "valid/chrF": event.quality.chrf}
            elif event.quality is not None:
                values |= {"valid/accuracy": event.quality.accuracy, "valid/F1": event.quality.f1}
        for name, value in values.items():
            writer.add_scalar(name, value, event.update)
        if isinstance(event, Validated | Finished):
            writer.flush()

    return write
