"""From ours to BERT: BertForMaskedLM, or BertModel where there is no head that finds words."""

from pathlib import Path
from typing import Any

import torch

from regard.checkpoint.folder import LoadedModel
from regard.checkpoint.foreign import bert_names as names
from regard.checkpoint.foreign.bert_names import both, stack
from regard.checkpoint.foreign.huggingface import CONFIG, write_folder
from regard.checkpoint.foreign.pooling import pooling_tables
from regard.checkpoint.foreign.tables import Tables
from regard.checkpoint.foreign.text_writing import TextFiles, text_files
from regard.errors import UsageError
from regard.models import Bert
from regard.recipes.alone import BertSection
from regard.shapes import Tensor


def write(loaded: LoadedModel, path: Path) -> None:
    """A folder that BertForMaskedLM or BertModel opens, and sentence-transformers if it may."""
    model, section = loaded.model, loaded.recipe.model
    assert isinstance(model, Bert)
    assert isinstance(section, BertSection)
    _refuse(loaded, section)
    text = text_files(loaded.source_tokenizer, has_mask=True, longest=section.context)
    tables = Tables.of(model.encoder.embedding, text.order, section)
    config = _config(section, text, is_tied=tables.is_tied or not section.has_head)
    said = text.tables | pooling_tables(section) | {CONFIG: config}
    write_folder(path, _theirs(model, section, text, tables), said, text.files)


def _refuse(loaded: LoadedModel, section: BertSection) -> None:
    if section.norm == "pre":
        raise UsageError(
            f"{loaded.path} has norm = pre, and transformers' BERT has its norms after the "
            "sub-layers: train with model.norm = post"
        )
    if section.has_head and section.head_activation != section.activation:
        raise UsageError(
            f"{loaded.path} has activation = {section.activation} and head_activation = "
            f"{section.head_activation}, and transformers' BERT has one for both: train with "
            "model.head_activation as model.activation"
        )


def _config(section: BertSection, text: TextFiles, *, is_tied: bool) -> dict[str, Any]:
    """What config.json says of our model."""
    dropout = 0.1 if section.dropout == "auto" else section.dropout
    attention = section.attention_dropout
    return {
        "architectures": ["BertForMaskedLM" if section.has_head else "BertModel"],
        "model_type": "bert",
        "vocab_size": len(text.order),
        "hidden_size": section.d_model,
        "num_hidden_layers": section.n_layers,
        "num_attention_heads": section.n_heads,
        "intermediate_size": section.d_feedforward,
        "hidden_act": names.WRITTEN[section.activation],
        "hidden_dropout_prob": dropout,
        "attention_probs_dropout_prob": dropout if attention is None else attention,
        "max_position_embeddings": section.context,
        "type_vocab_size": section.n_types or 1,
        "layer_norm_eps": section.norm_epsilon,
        "pad_token_id": text.ids["padding"],
        "tie_word_embeddings": is_tied,
        "position_embedding_type": "absolute",
        "dtype": "float32",
    }


def _theirs(
    model: Bert, section: BertSection, text: TextFiles, tables: Tables
) -> dict[str, Tensor]:
    """Our weights under their names, in their order."""
    own = {name: one.detach().float() for name, one in model.state_dict().items()}
    rows = torch.tensor(text.order)
    base = "bert." if section.has_head else ""
    layers = [*stack(section.n_layers), *([names.POOLER] if section.has_pooler else [])]
    weights = {
        f"{base}{theirs}": own[ours] for layer in layers for ours, theirs in both(*layer)
    } | {f"{base}{names.WORDS[1]}": tables.words, f"{base}{names.PLACES[1]}": tables.places}
    types = own[names.TYPES[0]] if section.n_types else torch.zeros(1, section.d_model)
    weights[f"{base}{names.TYPES[1]}"] = types
    if section.has_head:
        weights |= {theirs: own[ours] for layer in names.HEAD for ours, theirs in both(*layer)}
        weights |= dict.fromkeys(names.BIAS[1:], own[names.BIAS[0]][rows])
        if not tables.is_tied:
            weights[names.OUTPUT[1]] = own[names.OUTPUT[0]][rows]
    return weights
