"""From ours to GPT-2."""

from pathlib import Path
from typing import Any

import torch

from regard.config.alone import GptSection
from regard.errors import UsageError
from regard.folder.folder import LoadedModel
from regard.folder.foreign import gpt2_names as names
from regard.folder.foreign.bert_names import WRITTEN, both
from regard.folder.foreign.huggingface import CONFIG, write_folder
from regard.folder.foreign.tables import Tables
from regard.folder.foreign.text_writing import TextFiles, text_files
from regard.models import Gpt
from regard.shapes import Tensor

_ROOT = "transformer."


def write(loaded: LoadedModel, path: Path) -> None:
    """A folder that GPT2LMHeadModel opens."""
    model, section = loaded.model, loaded.recipe.model
    assert isinstance(model, Gpt)
    assert isinstance(section, GptSection)
    text = text_files(loaded.source_tokenizer, has_mask=False, longest=section.context)
    _refuse(loaded, model, section, text)
    tables = Tables.of(model.decoder.embedding, text.order, section)
    config = _config(section, text, is_tied=tables.is_tied)
    theirs = _theirs(model, section, text, tables)
    write_folder(path, theirs, text.tables | {CONFIG: config}, text.files)


def _refuse(loaded: LoadedModel, model: Gpt, section: GptSection, text: TextFiles) -> None:
    if section.norm == "post":
        raise UsageError(
            f"{loaded.path} has norm = post, and transformers' GPT-2 has its norms before the "
            "sub-layers: train with model.norm = pre"
        )
    # Of ids that are not written a bias says nothing; of others it has no place there.
    if section.has_output_bias and bool(model.output.bias[torch.tensor(text.order)].any()):
        raise UsageError(
            f"{loaded.path} adds a number to each word's logit, and transformers' GPT-2 has no "
            "place for it: train with model.has_output_bias = false"
        )


def _config(section: GptSection, text: TextFiles, *, is_tied: bool) -> dict[str, Any]:
    """What config.json says of our model."""
    dropout = 0.1 if section.dropout == "auto" else section.dropout
    parts = {"attn_pdrop": section.attention_dropout, "embd_pdrop": section.embedding_dropout}
    ids = {"bos_token_id": "begin", "eos_token_id": "end", "pad_token_id": "padding"}
    return {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "vocab_size": len(text.order),
        "n_positions": section.context,
        "n_embd": section.d_model,
        "n_layer": section.n_layers,
        "n_head": section.n_heads,
        "n_inner": section.d_feedforward,
        "activation_function": WRITTEN[section.activation],
        "resid_pdrop": dropout,
        **{key: dropout if value is None else value for key, value in parts.items()},
        "layer_norm_epsilon": section.norm_epsilon,
        **{key: text.ids.get(role) for key, role in ids.items()},
        "tie_word_embeddings": is_tied,
        "dtype": "float32",
    }


def _theirs(model: Gpt, section: GptSection, text: TextFiles, tables: Tables) -> dict[str, Tensor]:
    """Our weights under their names, in their order."""
    own = {name: one.detach().float() for name, one in model.state_dict().items()}
    pairs = [pair for norm in names.norms(section.n_layers) for pair in both(*norm)]
    weights = {theirs: own[ours] for ours, theirs in pairs}
    for ours, theirs in names.linears(section.n_layers):
        weights |= {to: own[at].t() for at, to in both(ours, theirs)}
    for three, theirs in names.threes(section.n_layers):
        for part in ("weight", "bias"):
            weights[f"{theirs}.{part}"] = torch.cat([own[f"{one}.{part}"] for one in three]).t()
    weights |= {names.WORDS[1]: tables.words, names.PLACES[1]: tables.places}
    weights = {f"{_ROOT}{name}": one.contiguous() for name, one in weights.items()}
    if not tables.is_tied:
        weights[names.OUTPUT[1]] = own[names.OUTPUT[0]][torch.tensor(text.order)]
    return weights
