"""A report of one model: one page that needs neither network nor program."""

from regard.inspection.report.contents import (
    Contents,
    PronounLook,
    PronounScore,
    Shown,
    SplitScore,
    Trained,
)
from regard.inspection.report.page import write_page
from regard.inspection.report.prose import ROWS, name_place

__all__ = [
    "ROWS",
    "Contents",
    "PronounLook",
    "PronounScore",
    "Shown",
    "SplitScore",
    "Trained",
    "name_place",
    "write_page",
]
