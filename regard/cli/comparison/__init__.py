"""`regard compare`: several models on the same sentences."""

from regard.cli.comparison.command import compare

__all__ = ["compare"]
