"""One file per thing one can train and use; commands, service and lessons ask these."""

from regard.inspection.trace import MASK
from regard.systems.ablation import ablate
from regard.systems.alignment import Alignment, Extraction
from regard.systems.dialogue import Answer, Chat
from regard.systems.filling import Finder, Found
from regard.systems.importance import importance
from regard.systems.labels import Judge, TaggedWord, Told, WordJudge
from regard.systems.looks import Looks, Noted
from regard.systems.pruning import Pruned, pruning_curve
from regard.systems.request import Request
from regard.systems.scoring import Scored
from regard.systems.tracing import Opened, loaded_of, open_any, trace
from regard.systems.translation import Translation, Translator
from regard.systems.translation_ablation import Ablation
from regard.systems.writing import Writer

__all__ = [
    "MASK",
    "Ablation",
    "Alignment",
    "Answer",
    "Chat",
    "Extraction",
    "Finder",
    "Found",
    "Judge",
    "Looks",
    "Noted",
    "Opened",
    "Pruned",
    "Request",
    "Scored",
    "TaggedWord",
    "Told",
    "Translation",
    "Translator",
    "WordJudge",
    "Writer",
    "ablate",
    "importance",
    "loaded_of",
    "open_any",
    "pruning_curve",
    "trace",
]
