"""Models that came from elsewhere, and the way there: formats of other libraries, never pickle."""

from regard.folder.foreign.formats import FORMATS, READERS, WRITERS
from regard.folder.foreign.huggingface import HuggingFaceFolder
from regard.folder.foreign.imported import Imported
from regard.folder.foreign.kept_beside import COMPUTE, kept_beside

__all__ = [
    "COMPUTE",
    "FORMATS",
    "READERS",
    "WRITERS",
    "HuggingFaceFolder",
    "Imported",
    "kept_beside",
]
