"""What writing a corpus shows: a progress bar at a terminal, plain lines elsewhere; on stderr."""

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

_SECONDS_BETWEEN_LINES = 10.0
_EXAMPLES_BETWEEN_LOOKS = 500  # asking for the time at each would cost more than writing it


class Display:
    """Shows how far the splits have come."""

    def __init__(self) -> None:
        self.console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self._task = TaskID(0)
        self._split, self._total, self._n = "", 0, 0
        self._spoken_at = 0.0

    def __enter__(self) -> "Display":
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def begin(self, split: str, total: int) -> None:
        """A split begins."""
        self._split, self._total, self._n = split, total, 0
        self._task = self._progress.add_task(split, total=total)
        self._spoken_at = time.monotonic()

    def advance(self) -> None:
        """One more example is written."""
        self._n += 1
        if self._n % _EXAMPLES_BETWEEN_LOOKS:
            return
        self._progress.update(self._task, completed=self._n)
        late = time.monotonic() - self._spoken_at >= _SECONDS_BETWEEN_LINES
        if late and not self.console.is_terminal:
            self._spoken_at = time.monotonic()
            self._say(f"{self._split}: {self._n:,} of {self._total:,}")

    def end(self) -> None:
        """The split is complete."""
        self._progress.update(self._task, completed=self._n, total=self._n)
        if not self.console.is_terminal:
            self._say(f"{self._split}: {self._n:,} pairs")

    def _say(self, sentence: str) -> None:
        self.console.print(sentence, soft_wrap=True)
