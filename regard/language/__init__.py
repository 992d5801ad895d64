"""Models that read one text: writing on from it, finding words taken out, comparing sentences."""

from regard.language.finding import MASK, Finder, Found
from regard.language.looking import Looks, Noted
from regard.language.writing import Writer

__all__ = ["MASK", "Finder", "Found", "Looks", "Noted", "Writer"]
