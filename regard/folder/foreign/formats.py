"""Which formats are read and written, and by whom."""

from collections.abc import Callable
from pathlib import Path

from regard.folder.folder import LoadedModel
from regard.folder.foreign import (
    bert_label_writing,
    bert_reading,
    bert_writing,
    ctranslate2_model,
    gpt2_reading,
    gpt2_writing,
    marian_reading,
    marian_writing,
)
from regard.folder.foreign.huggingface import HuggingFaceFolder
from regard.folder.foreign.imported import Imported

FormatReader = Callable[[HuggingFaceFolder], Imported]
FormatWriter = Callable[[LoadedModel, Path], None]

# By the model_type of config.json.
READERS: dict[str, FormatReader] = {
    "bert": bert_reading.read,
    "gpt2": gpt2_reading.read,
    "marian": marian_reading.read,
    "pegasus": marian_reading.read,
}

# By the name of the format, then by model.kind of the recipe.
WRITERS: dict[str, dict[str, FormatWriter]] = {
    "huggingface": {
        "transformer": marian_writing.write,
        "bert": bert_writing.write,
        "bert-classify": bert_label_writing.write,
        "bert-tag": bert_label_writing.write,
        "gpt": gpt2_writing.write,
    },
    "ctranslate2": {"transformer": ctranslate2_model.write},
}
FORMATS = tuple(WRITERS)
