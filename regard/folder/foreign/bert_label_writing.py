"""From ours to BERT fine-tuned: BertForSequenceClassification and BertForTokenClassification.

Theirs tell labels as ours do: of a text by a layer, tanh and another layer over the beginning's
vector, of a word by one layer over its own.
"""

from pathlib import Path
from typing import Any

from regard.config.labelling import ClassifierSection, Labelling
from regard.errors import UsageError
from regard.folder.folder import LoadedModel
from regard.folder.foreign import bert_names as names
from regard.folder.foreign.bert_encoder_writing import (
    encoder_config,
    encoder_weights,
    refuse_pre_norm,
)
from regard.folder.foreign.bert_names import both
from regard.folder.foreign.huggingface import CONFIG, write_folder
from regard.folder.foreign.tables import Tables
from regard.folder.foreign.text_writing import text_files
from regard.models import Labeller
from regard.shapes import Tensor

_SEGMENTS = 2  # that their tokenizers number


def write(loaded: LoadedModel, path: Path) -> None:
    """A folder that AutoModelForSequenceClassification or AutoModelForTokenClassification opens."""
    model, section = loaded.model, loaded.recipe.model
    assert isinstance(model, Labeller)
    assert isinstance(section, Labelling)
    refuse_pre_norm(loaded, section)
    _refuse_mean(loaded, section)
    tokenizer, n_types = loaded.source_tokenizer, max(section.n_types, _SEGMENTS)
    text = text_files(tokenizer, has_mask=True, longest=section.context, has_segments=True)
    tables = Tables.of(model.encoder.embedding, text.order, section)
    config = encoder_config(section, text, n_types=n_types) | _labels(section)
    weights = encoder_weights(model, tables, n_types=n_types)
    theirs = _theirs(model, weights, has_pooler=isinstance(section, ClassifierSection))
    write_folder(path, theirs, text.tables | {CONFIG: config}, text.files)


def _refuse_mean(loaded: LoadedModel, section: Labelling) -> None:
    if isinstance(section, ClassifierSection) and section.pooling == "mean":
        raise UsageError(
            f"{loaded.path} has pooling = mean, and transformers' BERT tells a text's label by the "
            "vector of its beginning: train with model.pooling = first"
        )


def _labels(section: Labelling) -> dict[str, Any]:
    """What config.json says of the labels."""
    said: dict[str, Any] = {
        "architectures": [names.LABELLERS[section.kind]],
        "id2label": {str(i): label for i, label in enumerate(section.labels)},
        "label2id": {label: i for i, label in enumerate(section.labels)},
    }
    if isinstance(section, ClassifierSection):
        said |= {"problem_type": names.ONE_OF_SEVERAL, names.TEXTS: section.n_texts}
    return said


def _theirs(model: Labeller, weights: dict[str, Tensor], *, has_pooler: bool) -> dict[str, Tensor]:
    """The encoder's weights and those of the layers over it, under their names."""
    own = {name: one.detach().float() for name, one in model.state_dict().items()}
    if has_pooler:
        weights = weights | {theirs: own[ours] for ours, theirs in both(*names.POOLER)}
    theirs = {f"{names.BASE}{name}": one for name, one in weights.items()}
    return theirs | {to: own[at] for at, to in both(*names.LABELS)}
