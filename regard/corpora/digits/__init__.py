"""Drawn digits: small grey pictures of figures, each with its label, for models that look."""

from regard.corpora.digits.corpus import VERSION, Digits
from regard.corpora.digits.drawing import SIDE, draw_digit, is_digit

__all__ = ["SIDE", "VERSION", "Digits", "draw_digit", "is_digit"]
