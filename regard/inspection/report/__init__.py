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

__all__ = [
    "Contents",
    "PronounLook",
    "PronounScore",
    "Shown",
    "SplitScore",
    "Trained",
    "write_page",
]
