"""A sentence in the words its corpus knows, as the model's tokens allow."""

from regard.translation.units import Units, read_units

__all__ = ["Units", "read_units"]
