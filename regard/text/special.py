"""The special ids, and how they look in text."""

from regard.special import BOS, EOS, NAMES, PAD, UNKNOWN

__all__ = ["BOS", "EOS", "NAMES", "PAD", "UNKNOWN", "UNKNOWN_SURFACE"]

UNKNOWN_SURFACE = "⁇"
"""What stands in decoded text for a token the vocabulary does not hold."""
