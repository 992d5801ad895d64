"""Text in, text out: a model folder and a search as one object."""

from regard.translation.ablating import Ablation, ablate
from regard.translation.alignment import Alignment, Extraction
from regard.translation.chatting import Answer, Chat
from regard.translation.pruning import Pruned, importance, pruning_curve
from regard.translation.request import Request
from regard.translation.scoring import Scored
from regard.translation.translator import Translation, Translator

__all__ = [
    "Ablation",
    "Alignment",
    "Answer",
    "Chat",
    "Extraction",
    "Pruned",
    "Request",
    "Scored",
    "Translation",
    "Translator",
    "ablate",
    "importance",
    "pruning_curve",
]
