"""One file per thing one can train and use; commands, service and lessons ask these."""

from regard.inspection.trace import MASK
from regard.systems.alignment import Alignment, Extraction
from regard.systems.dialogue import Answer, Chat, DialogueModel
from regard.systems.exchange import export_model, import_model
from regard.systems.filling import FilledText, FoundWord, TextEncoder
from regard.systems.labels import TextClassifier, TextLabel
from regard.systems.loading import load, load_moment
from regard.systems.looks import Looks, Noted
from regard.systems.opened import OpenedModel, open_model, trace
from regard.systems.pruning import Pruning, prune
from regard.systems.request import Request
from regard.systems.reranking import Reranking
from regard.systems.results import Ablation, Output, Result, Scored
from regard.systems.system import System, build, load_system, prepare, system_of
from regard.systems.tags import TaggedText, TaggedWord, WordTagger
from regard.systems.translation import Translation, Translator
from regard.systems.writing import TextGenerator, WrittenText

__all__ = [
    "MASK",
    "Ablation",
    "Alignment",
    "Answer",
    "Chat",
    "DialogueModel",
    "Extraction",
    "FilledText",
    "FoundWord",
    "Looks",
    "Noted",
    "OpenedModel",
    "Output",
    "Pruning",
    "Request",
    "Reranking",
    "Result",
    "Scored",
    "System",
    "TaggedText",
    "TaggedWord",
    "TextClassifier",
    "TextEncoder",
    "TextGenerator",
    "TextLabel",
    "Translation",
    "Translator",
    "WordTagger",
    "WrittenText",
    "build",
    "export_model",
    "import_model",
    "load",
    "load_moment",
    "load_system",
    "open_model",
    "prepare",
    "prune",
    "system_of",
    "trace",
]
