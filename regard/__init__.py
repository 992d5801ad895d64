"""Regard: train, run and look inside attention models."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regard.api import analogies, evaluate, learn_shortlist, load, prune, trace, train
    from regard.errors import RegardError

try:
    __version__ = version("regard")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"

__all__ = [
    "RegardError",
    "__version__",
    "analogies",
    "evaluate",
    "learn_shortlist",
    "load",
    "prune",
    "trace",
    "train",
]

_PLACES = dict.fromkeys(
    ("analogies", "evaluate", "learn_shortlist", "load", "prune", "trace", "train"), "regard.api"
)
_PLACES["RegardError"] = "regard.errors"


def __getattr__(name: str) -> object:
    """The interface comes when it is asked for: ``import regard`` stays light."""
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
