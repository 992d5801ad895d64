"""Models that came from elsewhere, and the way there: formats of other libraries, never pickle."""

from collections.abc import Callable
from pathlib import Path

from regard.folder.folder import LoadedModel
from regard.folder.foreign import bert, ctranslate2_model, gpt2, marian
from regard.folder.foreign.given import Imported
from regard.folder.foreign.huggingface import HuggingFaceFolder
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

FormatReader = Callable[[HuggingFaceFolder], Imported]
FormatWriter = Callable[[LoadedModel, Path], None]

# By the model_type of config.json.
READERS: dict[str, FormatReader] = {
    "bert": bert.read,
    "gpt2": gpt2.read,
    "marian": marian.read,
    "pegasus": marian.read,
}

# By the name of the format, then by model.kind of the recipe.
WRITERS: dict[str, dict[str, FormatWriter]] = {
    "huggingface": {
        "transformer": marian.write,
        "bert": bert.write,
        "bert-classify": bert.write,
        "bert-tag": bert.write,
        "gpt": gpt2.write,
    },
    "ctranslate2": {"transformer": ctranslate2_model.write},
}
FORMATS = tuple(WRITERS)
