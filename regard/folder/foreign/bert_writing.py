"""From ours to BERT: BertForMaskedLM, or BertModel where there is no head that finds words."""

from pathlib import Path

import torch

from regard.config.alone import BertSection
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
from regard.folder.foreign.pooling import pooling_tables
from regard.folder.foreign.tables import Tables
from regard.folder.foreign.text_writing import TextFiles, text_files
from regard.models import Bert
from regard.shapes import Tensor


def write(loaded: LoadedModel, path: Path) -> None:
    """A folder that BertForMaskedLM or BertModel opens, and sentence-transformers if it may."""
    model, section = loaded.model, loaded.recipe.model
    assert isinstance(model, Bert)
    assert isinstance(section, BertSection)
    _refuse(loaded, section)
    text = text_files(loaded.source_tokenizer, has_mask=True, longest=section.context)
    tables = Tables.of(model.encoder.embedding, text.order, section)
    config = encoder_config(section, text, n_types=section.n_types or 1) | {
        "architectures": ["BertForMaskedLM" if section.has_head else "BertModel"],
        "tie_word_embeddings": tables.is_tied or not section.has_head,
    }
    said = text.tables | pooling_tables(section) | {CONFIG: config}
    write_folder(path, _theirs(model, section, text, tables), said, text.files)


def _refuse(loaded: LoadedModel, section: BertSection) -> None:
    refuse_pre_norm(loaded, section)
    if section.has_head and section.head_activation != section.activation:
        raise UsageError(
            f"{loaded.path} has activation = {section.activation} and head_activation = "
            f"{section.head_activation}, and transformers' BERT has one for both: train with "
            "model.head_activation as model.activation"
        )


def _theirs(
    model: Bert, section: BertSection, text: TextFiles, tables: Tables
) -> dict[str, Tensor]:
    """Our weights under their names, in their order."""
    own = {name: one.detach().float() for name, one in model.state_dict().items()}
    rows = torch.tensor(text.order)
    weights = encoder_weights(model, tables, n_types=section.n_types or 1)
    if section.has_pooler:
        weights |= {theirs: own[ours] for ours, theirs in both(*names.POOLER)}
    if not section.has_head:
        return weights
    weights = {f"{names.BASE}{name}": one for name, one in weights.items()}
    weights |= {theirs: own[ours] for layer in names.HEAD for ours, theirs in both(*layer)}
    weights |= dict.fromkeys(names.BIAS[1:], own[names.BIAS[0]][rows])
    if not tables.is_tied:
        weights[names.OUTPUT[1]] = own[names.OUTPUT[0]][rows]
    return weights
