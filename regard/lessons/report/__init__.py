"""A report of one model: what was found, and the page that shows it without a network."""

from regard.lessons.report.contents import (
    Contents,
    PronounLook,
    PronounScore,
    ShownSentence,
    SplitScore,
    TrainingSummary,
)
from regard.lessons.report.document import document, write_page
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
    "document",
    "name_pair",
    "name_place",
    "write_page",
]
