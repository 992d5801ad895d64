"""Dates as people write them in many languages, and the same day by ISO 8601."""

from regard.corpora.dates.corpus import VERSION, Dates

__all__ = ["VERSION", "Dates"]
