"""One session of a training run at the terminal: shown as it goes, stopped when asked."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from regard.cli.main import INTERRUPTED
from regard.cli.training_display import TrainingDisplay
from regard.config import Recipe
from regard.errors import MissingExtraError
from regard.systems.runs import plan_training, run_training
from regard.training import read_metrics
from regard.training.events import DataRead, Event, Finished, ModelBuilt, Stepped, Validated


def run_session(
    recipe: Recipe,
    folder: Path,
    *,
    device: str,
    n_threads: int | None,
    writes_tensorboard: bool,
    says_next: bool = True,
    began: float | None = None,
) -> None:
    """Train, or go on training, in this folder until done or interrupted.

    At the end it says what went wrong, and unless something else follows what to type next. A
    budget of time counts from where the command ``began``.
    """
    is_first = os.environ.get("RANK", "0") == "0"
    display = TrainingDisplay(is_silent=not is_first)
    listeners: list[Callable[[Event], None]] = [display.show]
    if writes_tensorboard and is_first:
        listeners.append(_tensorboard(folder))
    finished, example = None, None
    stop = _Stop()
    with stop, display:
        for event in run_training(
            recipe, folder, device=device, threads=n_threads, should_stop=stop.is_asked, began=began
        ):
            stop.can_wait = stop.can_wait or isinstance(event, ModelBuilt)
            for listen in listeners:
                listen(event)
            if isinstance(event, DataRead) and event.prepared.validation is not None:
                example = event.prepared.validation.example()
            if isinstance(event, Finished):
                finished = event
    if finished is not None and finished.reason == "interrupted":
        sys.exit(INTERRUPTED)
    if is_first and finished is not None:
        display.show_concerns(read_metrics(folder / "metrics.jsonl"))
        if says_next:
            display.show_next(folder, example)


def plan_session(recipe: Recipe, folder: Path, *, device: str, n_threads: int | None) -> None:
    """Show what a run would be, and train nothing."""
    with TrainingDisplay() as display:
        for event in plan_training(recipe, folder, device=device, threads=n_threads):
            display.show(event)


class _Stop:
    """Within, the first Ctrl-C (or SIGTERM) asks for a stop after the current update.

    The run is then saved where it is; a second Ctrl-C does not wait, nor does one that comes
    before there is something to save.
    """

    def __init__(self) -> None:
        self.can_wait = False
        self._is_asked = False
        self._before: dict[int, Any] = {}

    def is_asked(self) -> bool:
        """Whether the run should stop."""
        return self._is_asked

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self._is_asked or not self.can_wait:
            raise KeyboardInterrupt
        self._is_asked = True

    def __enter__(self) -> None:
        numbers = (signal.SIGINT, signal.SIGTERM)
        self._before = {number: signal.signal(number, self._ask) for number in numbers}

    def __exit__(self, *raised: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


def _tensorboard(folder: Path) -> Callable[[Event], None]:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise MissingExtraError("--tensorboard", "tensorboard") from error
    writers: list[Any] = []  # made with the first update: until then the folder is not the run's

    def write(event: Event) -> None:
        values: dict[str, float] = {}
        if isinstance(event, Stepped) and event.update % 10 == 0:
            values = {
                "train/loss": event.loss,
                "train/learning rate": event.learning_rate,
                "train/gradient norm": event.gradient_norm,
                **{f"train/loss of the {part}": one for part, one in event.losses.items()},
            }
        elif isinstance(event, Validated):
            values = {"valid/loss": event.loss, "valid/perplexity": event.perplexity}
            if event.quality is not None:
                values |= {f"valid/{name}": one for name, one in event.quality.curves.items()}
        if not isinstance(event, Stepped | Validated | Finished):
            return
        writer = writers[0] if writers else SummaryWriter(folder / "tensorboard")
        writers[:] = [writer]
        for name, value in values.items():
            writer.add_scalar(name, value, event.update)
        if isinstance(event, Validated | Finished):
            writer.flush()

    return write
