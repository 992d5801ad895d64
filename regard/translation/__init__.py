"""Text in, text out: a model folder and a search as one object."""

from regard.translation.alignment import Alignment
from regard.translation.request import Request
from regard.translation.scoring import Scored
from regard.translation.translator import Translation, Translator

__all__ = ["Alignment", "Request", "Scored", "Translation", "Translator"]
