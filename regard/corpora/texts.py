"""Texts that need no download, for models that read one text alone: what Python ships with."""

import sysconfig
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from platform import python_version

_LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "pydoc_data"}


@dataclass(frozen=True)
class EmbeddedText:
    """A corpus of texts; a text is one document."""

    sentence: str
    texts: Callable[[], Iterator[str]]

    @property
    def version(self) -> str:
        """Changes whenever the texts do: they come with Python."""
        return python_version()


def _topics() -> Iterator[str]:
    """The chapters of Python's language reference, as `help()` shows them."""
    from pydoc_data.topics import topics

    yield from (topics[name] for name in sorted(topics))


def _source() -> Iterator[str]:
    """The modules of the standard library in the order of their names, without their tests."""
    for path in _modules(Path(sysconfig.get_path("stdlib"))):
        try:
            with tokenize.open(path) as file:
                yield file.read()
        except (OSError, SyntaxError, UnicodeDecodeError):
            continue  # a module that is no Python, kept there to be refused


def _modules(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.suffix == ".py":
            yield path
        elif path.is_dir() and path.name not in _LEFT_OUT:
            yield from _modules(path)


TEXTS = {
    "pydoc": EmbeddedText("English prose: the reference of the Python language", _topics),
    "python-source": EmbeddedText("the source code of Python's standard library", _source),
}
"""The embedded texts by name."""
