"""What writing a corpus shows: a progress bar at a terminal, plain lines elsewhere; on stderr."""

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from regard.cli.progress import Showing
from regard.counting import counted

_EXAMPLES_BETWEEN_LOOKS = 500  # asking for the time at each would cost more than writing it


class Display(Showing):
    """Shows how far the splits have come, each with a bar that stays."""

    def __init__(self) -> None:
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
        super().__init__(*columns, is_transient=False)
        self._split, self._total, self._n = "", 0, 0

    def begin_split(self, split: str, total: int) -> None:
        """A split begins."""
        self._split, self._total, self._n = split, total, 0
        self.begin(total, split)

    def advance(self) -> None:
        """One more example is written."""
        self._n += 1
        if self._n % _EXAMPLES_BETWEEN_LOOKS == 0:
            self.at(self._n, f"{self._split}: {self._n:,} of {self._total:,}")

    def end_split(self) -> None:
        """The split is complete."""
        self.end(self._n, f"{self._split}: {counted(self._n, 'pair')}")
