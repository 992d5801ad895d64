"""A report of one model: one page that needs neither network nor program."""

from regard.lessons.report.contents import (
    Contents,
    PronounLook,
    PronounScore,
    ShownSentence,
    SplitScore,
    TrainingSummary,
)
from regard.lessons.report.page import write_page
from regard.lessons.report.prose import PROSE, ROWS, name_pair, name_place

__all__ = [
    "PROSE",
    "ROWS",
    "Contents",
    "PronounLook",
    "PronounScore",
    "ShownSentence",
    "SplitScore",
    "TrainingSummary",
    "name_pair",
    "name_place",
    "write_page",
]
