"""Where the verbs print for people: colours in a terminal, plain text in a pipe."""

import io
import sys

from rich.console import Console
from rich.text import Text


def open_console(pipe_width: int | None = None) -> Console:
    """Standard output; a terminal without Unicode shows a question mark where it lacks a sign.

    Lines in a pipe are as long as ``pipe_width``, or as rich has them.
    """
    if isinstance(sys.stdout, io.TextIOWrapper) and not _can_write_signs(sys.stdout):
        sys.stdout.reconfigure(errors="replace")
    width = None if sys.stdout.isatty() else pipe_width
    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False, width=width)


def print_line(console: Console, line: Text) -> None:
    """Print a line that was made to fit."""
    console.print(line, no_wrap=True, overflow="ignore", crop=False)


def clean(text: str) -> str:
    """The text without signs that would move the cursor."""
    return "".join(c if c.isprintable() else "�" for c in text)


def _can_write_signs(stream: io.TextIOWrapper) -> bool:
    return stream.encoding.lower().startswith("utf")
