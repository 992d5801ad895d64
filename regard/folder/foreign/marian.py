"""MarianMT of the library transformers, both ways; and Pegasus: the same, norms before sub-layers.

Their positions have all sines before all cosines where ours alternate: the numbers of every vector
of the model stand in another order. Turning all weights around once makes both compute the same.

Their logits have a bias. Where <pad> starts the decoder there, our <pad> has no row of its own: it
gets one of zeros and a bias so low that it takes no probability from the words.
"""

from pathlib import Path
from typing import Any

import torch

from regard.attention import sinusoids
from regard.config import Recipe, TextSection, TransformerSection
from regard.errors import ModelFolderError, UsageError
from regard.folder.folder import LoadedModel
from regard.folder.foreign import tables
from regard.folder.foreign.given import Given, Imported, require_stated, stated_in
from regard.folder.foreign.huggingface import CONFIG, HuggingFaceFolder, write_folder
from regard.folder.foreign.marian_vocabulary import TARGET_IDS, MarianSide, read_sides, text_files
from regard.folder.foreign.tables import Key, Layers, Turn
from regard.shapes import Int, Tensor
from regard.special import BOS, EOS, PAD

_SHARED, _BIAS = "model.shared.weight", "final_logits_bias"
_OUTPUT = ("output.weight", "lm_head.weight")
_WORDS = {  # ours, theirs
    "encoder.embedding.weight": "model.encoder.embed_tokens.weight",
    "decoder.embedding.weight": "model.decoder.embed_tokens.weight",
}
_PLACES = {
    "encoder.embedding.positions.table": "model.encoder.embed_positions.weight",
    "decoder.embedding.positions.table": "model.decoder.embed_positions.weight",
}
_LAYER: Layers = {  # of both stacks
    "attention.query": "self_attn.q_proj",
    "attention.key": "self_attn.k_proj",
    "attention.value": "self_attn.v_proj",
    "attention.output": "self_attn.out_proj",
    "around_attention.norm": "self_attn_layer_norm",
    "feedforward.widen": "fc1",
    "feedforward.narrow": "fc2",
    "around_feedforward.norm": "final_layer_norm",
}
_CROSS: Layers = {  # of the decoder
    "cross.query": "encoder_attn.q_proj",
    "cross.key": "encoder_attn.k_proj",
    "cross.value": "encoder_attn.v_proj",
    "cross.output": "encoder_attn.out_proj",
    "around_cross.norm": "encoder_attn_layer_norm",
}
_GIVE_VECTORS = ("output", "narrow", "norm")  # of the model; all other layers take them
_KEYS = (
    Key("d_model", "d_model"),
    Key("n_heads", "encoder_attention_heads"),
    Key("n_heads", "decoder_attention_heads"),
    Key("d_feedforward", "encoder_ffn_dim"),
    Key("d_feedforward", "decoder_ffn_dim"),
    Key("n_layers", "encoder_layers"),
    Key("n_decoder_layers", "decoder_layers"),
    Key("activation", "activation_function", "gelu"),
    Key("scales_embeddings", "scale_embedding", False),
    Key("dropout", "dropout", 0.1),
    Key("attention_dropout", "attention_dropout", 0.0),
    Key("feedforward_dropout", "activation_dropout", 0.0),
)
_SILENT = -100.0  # e⁻¹⁰⁰ of a word's share; low enough, and harmless to label smoothing
_N_PLACES = 1024  # for sinusoids, which end there and not here
_SPECIAL = {
    "pad_token_id": PAD,
    "eos_token_id": EOS,
    "decoder_start_token_id": BOS,
    "forced_eos_token_id": EOS,
}


def _stacks(section: TransformerSection) -> list[tuple[Layers, int]]:
    """The table of each stack, and how many layers it has."""
    found = []
    for stack, rows, n_layers in (
        ("encoder", _LAYER, section.n_layers),
        ("decoder", _LAYER | _CROSS, section.n_decoder_layers or section.n_layers),
    ):
        layers = tables.under(f"{stack}.layers.#", f"model.{stack}.layers.#", rows)
        last: Layers = {f"{stack}.norm": f"model.{stack}.layer_norm"}
        found.append((layers | last if section.norm == "pre" else layers, n_layers))
    return found


def _alternating(d_model: int) -> Int[Tensor, "D"]:
    """Which number of a vector with the sines first stands at each place of ours."""
    return torch.arange(d_model).view(2, -1).t().flatten()


def _turning(order: Int[Tensor, "D"]) -> Turn:
    """Puts the numbers of vectors of the model in that order, along the axis that holds them."""

    def turn(name: str, tensor: Tensor) -> Tensor:
        layer, part = name.split(".")[-2:]
        if layer in _GIVE_VECTORS:
            return tensor.index_select(0, order)
        return tensor.index_select(1, order) if part == "weight" else tensor

    return turn


def read(folder: HuggingFaceFolder) -> Imported:
    """Our Transformer of the same numbers."""
    given = Given(folder)
    given.require_room(
        layers=("encoder_layers", "decoder_layers"),
        widths=("d_model", "encoder_ffn_dim", "decoder_ffn_dim"),
    )
    is_tied = folder.config.get("tie_word_embeddings", True)
    is_shared = folder.config.get("share_encoder_decoder_embeddings", True) and is_tied
    names = [(_SHARED, one) if is_shared else (one, _SHARED) for one in _WORDS.values()]
    words = [given.take(*either) for either in names]
    sides = read_sides(folder, *map(len, words))
    require_stated(folder, len(words[0]), "vocab_size")
    if is_shared and sides[0].rows != sides[1].rows:
        raise ModelFolderError(
            f"{folder.path} shares one table between source and target, which have different "
            "vocabularies: the files are of different models, take all from one"
        )
    weights = _learned_places(given)
    d_model = words[0].shape[1]
    order = torch.arange(d_model) if weights else _alternating(d_model)
    tie = "three-way" if is_shared else "two-way" if is_tied else "none"
    bias = _bias(given.take(_BIAS) if _BIAS in given else None, sides[1])
    places = next(iter(weights.values()), None)
    section = _section(folder, places, tie=tie, has_output_bias=bias is not None)
    weights |= {} if bias is None else {"output.bias": bias}
    for layers, n_layers in _stacks(section):
        weights |= tables.read_layers(given, layers, n_layers, _turning(order))
    words.append(words[1] if is_tied else given.take(_OUTPUT[1]))
    for name, table, side in zip((*_WORDS, _OUTPUT[0]), words, (*sides, sides[1]), strict=True):
        weights[name] = _rows(table, side)[:, order]
    given.leave(lambda name: name == _OUTPUT[1])  # where it is tied, it is the words' table
    given.require_all_taken("Transformer")
    recipe = Recipe(
        name=folder.path.resolve().name,
        purpose=f"read from a model of type {folder.config['model_type']}",
        model=section,
        text=TextSection(size=len(sides[1].tokenizer), is_joint=sides[0].rows == sides[1].rows),
    )
    return Imported(recipe, weights, sides[0].tokenizer, sides[1].tokenizer)


def _section(folder: HuggingFaceFolder, table: Tensor | None, **more: Any) -> TransformerSection:
    """The sizes that config.json states; places that are no sines have a table."""
    config = folder.config
    is_pre_norm = config["model_type"] == "pegasus" or bool(config.get("normalize_before"))
    with stated_in(folder):
        sizes = tables.read_config(folder, _KEYS, "Transformer")
        sizes["scales_embeddings"] = bool(sizes["scales_embeddings"])
        return TransformerSection(
            **sizes,
            **more,
            norm="pre" if is_pre_norm else "post",
            positions="sinusoidal" if table is None else "learned",
            max_length=_N_PLACES if table is None else len(table),
        )


def _rows(table: Tensor, side: MarianSide) -> Tensor:
    """Their rows in our order; padding that has none of its own is zero."""
    rows = table[torch.tensor(side.rows)]
    if PAD in side.silent:
        rows[PAD] = 0.0
    return rows


def _bias(given: Tensor | None, side: MarianSide) -> Tensor | None:
    """The bias of our logits, if any of it counts."""
    if (given is None or not bool(given.any())) and not side.silent:
        return None
    bias = torch.zeros(len(side.rows))
    if given is not None:
        bias = given.flatten()[torch.tensor(side.rows)]
    bias[list(side.silent)] = _SILENT
    return bias


def _learned_places(given: Given) -> dict[str, Tensor]:
    """The tables of places of both stacks; none where they are sines."""
    there = [given.take(theirs) for theirs in _PLACES.values() if theirs in given]
    if all(map(_is_sinusoidal, there)):
        return {}
    return {ours: given.take(theirs) for ours, theirs in _PLACES.items()}


def _is_sinusoidal(table: Tensor) -> bool:
    if table.shape[1] % 2:
        return False
    own = sinusoids(*table.shape)[:, _alternating(table.shape[1]).argsort()]
    return torch.allclose(table, own, atol=2e-3)  # some are kept in half precision


def write(loaded: LoadedModel, path: Path) -> None:
    """A folder that MarianMTModel or PegasusForConditionalGeneration opens, and MarianTokenizer."""
    section = loaded.recipe.model
    assert isinstance(section, TransformerSection)
    said, files = text_files(loaded.path, loaded.source_tokenizer, loaded.target_tokenizer)
    config = _config(loaded, section, is_apart=TARGET_IDS in said)
    said[CONFIG] = config
    said["generation_config.json"] = _SPECIAL | {
        "bad_words_ids": [[PAD], [BOS]],
        "max_length": 512,
        "num_beams": 5,
    }
    is_tied = bool(config["tie_word_embeddings"])
    write_folder(path, _weights(loaded, section, is_tied=is_tied), said, files)


def _config(loaded: LoadedModel, section: TransformerSection, *, is_apart: bool) -> dict[str, Any]:
    """What config.json says of our model."""
    is_pre_norm = section.norm == "pre"
    if is_pre_norm and is_apart:
        raise UsageError(
            f"{loaded.path} has norm = pre and two vocabularies, for which transformers has no "
            "model: export --to ctranslate2, or train with text.is_joint = true or "
            "model.norm = post"
        )
    marian = {  # Pegasus has one vocabulary, and ties all its tables or none
        "decoder_vocab_size": len(loaded.target_tokenizer),
        "share_encoder_decoder_embeddings": section.tie == "three-way",
    }
    tied = ("three-way",) if is_pre_norm else ("three-way", "two-way")
    return tables.written_config(section, _KEYS) | {
        "architectures": ["PegasusForConditionalGeneration" if is_pre_norm else "MarianMTModel"],
        "model_type": "pegasus" if is_pre_norm else "marian",
        "is_encoder_decoder": True,
        "vocab_size": len(loaded.source_tokenizer),
        **({} if is_pre_norm else marian),
        "decoder_layers": section.n_decoder_layers or section.n_layers,
        "static_position_embeddings": section.positions == "sinusoidal",
        "normalize_before": is_pre_norm,
        "tie_word_embeddings": section.tie in tied,
        "max_position_embeddings": section.max_length if section.n_places else _N_PLACES,
        **_SPECIAL,
        "bos_token_id": BOS,
        "dtype": "float32",
    }


def _weights(
    loaded: LoadedModel, section: TransformerSection, *, is_tied: bool
) -> dict[str, Tensor]:
    """Our weights under their names, in their order."""
    own = {name: one.detach().float() for name, one in loaded.model.state_dict().items()}
    is_sinusoidal = section.positions == "sinusoidal"
    order: Int[Tensor, "D"] = torch.arange(section.d_model)
    order = _alternating(section.d_model).argsort() if is_sinusoidal else order
    weights: dict[str, Tensor] = {}
    for layers, n_layers in _stacks(section):
        weights |= tables.written_layers(own, layers, n_layers, _turning(order))
    words = {theirs: own[ours][:, order] for ours, theirs in _WORDS.items()}
    weights |= {} if section.tie == "three-way" else words
    if section.tie == "three-way" or section.norm == "pre":  # Pegasus has it, used or not
        weights[_SHARED] = next(iter(words.values())).clone()
    if not is_tied:
        weights[_OUTPUT[1]] = own[_OUTPUT[0]][:, order]
    n_tokens = len(own[_OUTPUT[0]])
    weights[_BIAS] = own.get("output.bias", torch.zeros(n_tokens))[None]
    if not is_sinusoidal or section.norm == "pre":  # Marian knows its sines, Pegasus wants them
        for ours, theirs in _PLACES.items():
            embedding: Any = loaded.model.get_submodule(ours.removesuffix(".positions.table"))
            weights[theirs] = tables.places(embedding, section.n_places or _N_PLACES)[:, order]
    return weights
