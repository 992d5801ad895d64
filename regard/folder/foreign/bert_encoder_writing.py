"""What every folder of a BERT of ours has: what config.json says, and the encoder's weights."""

from typing import Any

import torch

from regard.config.alone import BertSection
from regard.config.labelling import Labelling
from regard.errors import UsageError
from regard.folder.folder import LoadedModel
from regard.folder.foreign import bert_names as names
from regard.folder.foreign.bert_names import both, stack
from regard.folder.foreign.tables import Tables
from regard.folder.foreign.text_writing import TextFiles
from regard.models.bert import BertEncoder
from regard.shapes import Float, Tensor


def refuse_pre_norm(loaded: LoadedModel, section: BertSection | Labelling) -> None:
    """Refuse what computes something else there."""
    if section.norm == "pre":
        raise UsageError(
            f"{loaded.path} has norm = pre, and transformers' BERT has its norms after the "
            "sub-layers: train with model.norm = post"
        )


def encoder_config(
    section: BertSection | Labelling, text: TextFiles, *, n_types: int
) -> dict[str, Any]:
    """What config.json says of our encoder."""
    dropout = 0.1 if section.dropout == "auto" else section.dropout
    attention = section.attention_dropout
    return {
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
        "type_vocab_size": n_types,
        "layer_norm_eps": section.norm_epsilon,
        "pad_token_id": text.ids["padding"],
        "position_embedding_type": "absolute",
        "dtype": "float32",
    }


def encoder_weights(model: BertEncoder, tables: Tables, *, n_types: int) -> dict[str, Tensor]:
    """Our encoder's weights under their names, in their order."""
    own = model.state_dict()
    layers = stack(len(model.encoder.layers))
    weights = {theirs: own[ours] for layer in layers for ours, theirs in both(*layer)}
    weights |= {names.WORDS[1]: tables.words, names.PLACES[1]: tables.places}
    weights[names.TYPES[1]] = _types(model, n_types)
    return {name: one.detach().float() for name, one in weights.items()}


def _types(model: BertEncoder, n_types: int) -> Float[Tensor, "N D"]:
    """So many vectors of segments: where ours has fewer, the last stands for all that follow."""
    known = model.embedding.types
    table = torch.zeros(1, model.embedding.norm.normalized_shape[0])
    table = table if known is None else known.weight.detach()
    return torch.cat([table, table[-1:].expand(n_types - len(table), -1)])
