"""Head study: which regularity each head follows, and whether one head does it or many."""

from regard.inspection.head_study.findings import Finding
from regard.inspection.head_study.report import (
    ENDINGS,
    AlignmentFinding,
    HeadProfile,
    HeadReport,
    OtherFinding,
    ShareFinding,
    StudiedPart,
)
from regard.inspection.head_study.spread import RelationSpread, Spread
from regard.inspection.head_study.trials import (
    EVERYTHING,
    StudiedAntecedent,
    StudiedSentence,
    Trials,
    try_batch,
    word_weights,
)
from regard.inspection.head_study.wording import DIRECTIONS, percent

__all__ = [
    "DIRECTIONS",
    "ENDINGS",
    "EVERYTHING",
    "AlignmentFinding",
    "Finding",
    "HeadProfile",
    "HeadReport",
    "OtherFinding",
    "RelationSpread",
    "ShareFinding",
    "Spread",
    "StudiedAntecedent",
    "StudiedPart",
    "StudiedSentence",
    "Trials",
    "percent",
    "try_batch",
    "word_weights",
]
