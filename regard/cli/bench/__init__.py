"""`regard bench`: what is said about layers, measured on this machine."""

from regard.cli.bench.command import app

__all__ = ["app"]
