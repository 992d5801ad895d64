"""From ours to MarianMT, or to Pegasus where the norms stand before the sub-layers."""

from pathlib import Path
from typing import Any

import torch

from regard.config import TransformerSection
from regard.errors import UsageError
from regard.folder.folder import LoadedModel
from regard.folder.foreign import layers as parts
from regard.folder.foreign.huggingface import CONFIG, write_folder
from regard.folder.foreign.layers import layers, sines_first, turned
from regard.folder.foreign.marian_vocabulary import TARGET_IDS, text_files
from regard.models import Transformer
from regard.shapes import Int, Tensor
from regard.special import BOS, EOS, PAD

_TIED = ("three-way", "two-way")  # the output to the target's words
_N_PLACES = 1024  # for sinusoids, which end there and not here


def write(loaded: LoadedModel, path: Path) -> None:
    """A folder that MarianMTModel or PegasusForConditionalGeneration opens, and MarianTokenizer."""
    model, section = loaded.model, loaded.recipe.model
    assert isinstance(model, Transformer)
    assert isinstance(section, TransformerSection)
    tables, files = text_files(loaded.path, loaded.source_tokenizer, loaded.target_tokenizer)
    config = _config(loaded, section, is_apart=TARGET_IDS in tables)
    tables[CONFIG] = config
    tables["generation_config.json"] = {
        "bad_words_ids": [[PAD], [BOS]],
        "decoder_start_token_id": BOS,
        "eos_token_id": EOS,
        "forced_eos_token_id": EOS,
        "max_length": 512,
        "num_beams": 5,
        "pad_token_id": PAD,
    }
    write_folder(path, _theirs(model, section, config), tables, files)


def _config(loaded: LoadedModel, model: TransformerSection, *, is_apart: bool) -> dict[str, Any]:
    """What config.json says of our model."""
    is_pre_norm = model.norm == "pre"
    if is_pre_norm and is_apart:
        raise UsageError(
            f"{loaded.path} has norm = pre and two vocabularies, for which transformers has no "
            "model: export --to ctranslate2, or train with text.is_joint = true or "
            "model.norm = post"
        )
    both = {
        "layers": (model.n_layers, parts.n_decoder_layers(model)),
        "attention_heads": (model.n_heads,) * 2,
        "ffn_dim": (model.d_feedforward,) * 2,
    }
    dropout = 0.1 if model.dropout == "auto" else model.dropout
    return {
        "architectures": ["PegasusForConditionalGeneration" if is_pre_norm else "MarianMTModel"],
        "model_type": "pegasus" if is_pre_norm else "marian",
        "is_encoder_decoder": True,
        "vocab_size": len(loaded.source_tokenizer),
        **({} if is_pre_norm else {"decoder_vocab_size": len(loaded.target_tokenizer)}),
        "d_model": model.d_model,
        **{
            f"{stack}_{key}": value
            for key, values in both.items()
            for stack, value in zip(("encoder", "decoder"), values, strict=True)
        },
        "activation_function": parts.ACTIVATIONS[model.activation],
        "scale_embedding": model.scales_embeddings,
        "static_position_embeddings": model.positions == "sinusoidal",
        "normalize_before": is_pre_norm,
        # Pegasus ties all its tables or none.
        "tie_word_embeddings": model.tie in (("three-way",) if is_pre_norm else _TIED),
        **({} if is_pre_norm else {"share_encoder_decoder_embeddings": model.tie == "three-way"}),
        "max_position_embeddings": model.max_length if model.n_places else _N_PLACES,
        "pad_token_id": PAD,
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "decoder_start_token_id": BOS,
        "forced_eos_token_id": EOS,
        "dropout": dropout,
        "attention_dropout": _or(model.attention_dropout, dropout),
        "activation_dropout": _or(model.feedforward_dropout, dropout),
        "dtype": "float32",
    }


def _or(given: float | None, other: float) -> float:
    return other if given is None else given


def _theirs(
    model: Transformer, section: TransformerSection, config: dict[str, Any]
) -> dict[str, Tensor]:
    """Our weights under their names, in their order."""
    own = model.state_dict()
    is_sinusoidal = section.positions == "sinusoidal"
    d_model = section.d_model
    order: Int[Tensor, "D"] = sines_first(d_model) if is_sinusoidal else torch.arange(d_model)
    stacks = layers(
        section.n_layers, parts.n_decoder_layers(section), has_final_norm=section.norm == "pre"
    )
    weights = {one.theirs: turned(own[one.ours], one.axis, order) for one in stacks}
    for name, ours in zip(parts.WORDS, parts.OUR_WORDS, strict=True):
        weights[name] = turned(own[ours], 1, order)
    if section.tie == "three-way":
        weights = {k: v for k, v in weights.items() if k not in parts.WORDS}
    if section.tie == "three-way" or section.norm == "pre":  # Pegasus has it, used or not
        weights[parts.SHARED] = turned(own[parts.OUR_WORDS[0]], 1, order)
    if not config["tie_word_embeddings"]:
        weights[parts.OUTPUT] = turned(own["output.weight"], 1, order)
    bias = own.get("output.bias")
    n_tokens = len(own["output.weight"])
    weights[parts.BIAS] = torch.zeros(1, n_tokens) if bias is None else bias.detach().clone()[None]
    if not is_sinusoidal or section.norm == "pre":  # Marian knows its sines, Pegasus wants them
        embeddings = (model.encoder.embedding, model.decoder.embedding)
        for name, embedding in zip(parts.PLACES, embeddings, strict=True):
            weights[name] = _places(embedding.positions, section)[:, order]
    return weights


def _places(positions: Any, section: TransformerSection) -> Tensor:
    if section.positions == "none":
        return torch.zeros(_N_PLACES, section.d_model)
    n_places = section.n_places or _N_PLACES
    table: Tensor = positions.prepared(n_places)[:n_places].detach().cpu().clone()
    return table
