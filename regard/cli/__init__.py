"""The command line: one thin file per verb, and one way to refuse."""

from regard.cli.main import app, main

__all__ = ["app", "main"]
