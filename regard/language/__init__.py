"""Models that read one text: writing on from it, finding words taken out, comparing sentences."""

from regard.inspection.trace import MASK
from regard.language.finding import Finder, Found
from regard.language.importance import importance
from regard.language.labelling import Judge, TaggedWord, Told, WordJudge
from regard.language.looking import Looks, Noted
from regard.language.writing import Writer

__all__ = [
    "MASK",
    "Finder",
    "Found",
    "Judge",
    "Looks",
    "Noted",
    "TaggedWord",
    "Told",
    "WordJudge",
    "Writer",
    "importance",
]
