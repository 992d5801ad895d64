"""`regard explain`: attention step by step, with real numbers."""

from regard.cli.explain.topics import app

__all__ = ["app"]
