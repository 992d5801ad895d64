"""How far long work is: a bar at a terminal, plain lines elsewhere; all on stderr."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TaskID, TextColumn

if TYPE_CHECKING:
    from regard.training.events import Progressed

SECONDS_BETWEEN_LINES = 10.0


class Showing:
    """A bar that is there from the first task to the end of the block, or lines now and then."""

    def __init__(
        self, *columns: ProgressColumn, is_silent: bool = False, is_transient: bool = True
    ) -> None:
        # No markup, no emoji: sentences from the data are shown as they are.
        self.console = Console(
            stderr=True, quiet=is_silent, highlight=False, markup=False, emoji=False
        )
        self._columns = columns or (
            BarColumn(bar_width=30),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.description}", markup=False),
        )
        self._is_transient = is_transient
        self._bar: Progress | None = None
        self._task = TaskID(0)
        self._spoken_at = time.monotonic()

    def say(self, sentence: str, *, is_command: bool = False) -> None:
        """Show a line of prose, above the bar if there is one; a command is one line to copy."""
        self.console.print(sentence, soft_wrap=is_command or not self.console.is_terminal)

    def begin(self, total: int, description: str = "", **fields: Any) -> None:
        """From now on so many things are counted."""
        self._spoken_at = time.monotonic()
        if not self.console.is_terminal or self.console.quiet:
            return
        if self._bar is None:
            self._bar = Progress(
                *self._columns,
                console=self.console,
                transient=self._is_transient,
                expand=any(getattr(one, "bar_width", 0) is None for one in self._columns),
            )
            self._bar.start()
        self._task = self._bar.add_task(description, total=total, **fields)

    def at(self, n: int, line: str, description: str | None = None, **fields: Any) -> None:
        """So many are done; ``line`` says it where there is no bar, every ten seconds."""
        if self._bar is not None:
            self._bar.update(self._task, completed=n, description=description, **fields)
        elif time.monotonic() - self._spoken_at >= SECONDS_BETWEEN_LINES:
            self._spoken_at = time.monotonic()
            self.say(line)

    def end(self, n: int, line: str | None = None) -> None:
        """All are done, and there were so many; ``line`` says it where there is no bar."""
        if self._bar is not None:
            self._bar.update(self._task, completed=n, total=n)
        elif line is not None:
            self.say(line)

    @property
    def has_bar(self) -> bool:
        """Whether a bar is shown."""
        return self._bar is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def shower(showing: Showing) -> "Callable[[Progressed], None]":
    """What shows the progress of several things, one after the other, each with a bar."""
    last = ""

    def show(event: "Progressed") -> None:
        nonlocal last
        if event.what != last:
            showing.begin(event.n_all, event.what)
            last = event.what
        line = f"{event.what}: {event.n_done:,} of {event.n_all:,}"
        if event.n_done == event.n_all:
            showing.end(event.n_all)
        else:
            showing.at(event.n_done, line, line)

    return show
