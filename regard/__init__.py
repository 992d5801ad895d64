"""Regard: train, run and look inside attention models."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regard.systems import trace

try:
    __version__ = version("regard")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"

__all__ = ["__version__", "trace"]


def __getattr__(name: str) -> object:
    """``regard.trace`` comes when it is asked for: ``import regard`` stays light."""
    if name == "trace":
        return import_module("regard.systems").trace
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
