"""GPT-2 of the library transformers, both ways.

Its linear layers keep a matrix of input × output where torch's have output × input, and query, key
and value as one matrix, side by side. It has one special token, <|endoftext|>, where we have four
ids: <s> and </s> take its row, </s> alone predicts it, and the others have rows of zeros. A bias
keeps the ids that have no token of their own from taking any probability.
"""

from pathlib import Path
from typing import Any

import torch

from regard.config.alone import GptSection
from regard.errors import UsageError
from regard.folder.folder import LoadedModel
from regard.folder.foreign import tables
from regard.folder.foreign.given import (
    Given,
    Imported,
    of_one_text,
    refuse_unless,
    require_stated,
    stated_in,
)
from regard.folder.foreign.huggingface import CONFIG, HuggingFaceFolder, write_folder
from regard.folder.foreign.tables import Key, Layers, WordsAndPlaces
from regard.folder.foreign.tokenizer_files import read_tokenizer, text_files
from regard.folder.weights import Weights
from regard.shapes import Float, Tensor
from regard.text import Elsewhere

_BASE = "transformer."
_WORDS = ("decoder.embedding.weight", "wte.weight")
_PLACES = ("decoder.embedding.positions.table", "wpe.weight")
_OUTPUT = ("output.weight", "lm_head.weight")
_BIAS = "output.bias"  # of our own
_SILENT = -10_000.0  # logits of GPT-2 are far below zero: this is farther, also in half precision

_LAYERS: Layers = {
    "decoder.norm": "ln_f",
    "decoder.layers.#.around_attention.norm": "h.#.ln_1",
    (
        "decoder.layers.#.attention.query",
        "decoder.layers.#.attention.key",
        "decoder.layers.#.attention.value",
    ): "h.#.attn.c_attn",
    "decoder.layers.#.attention.output": "h.#.attn.c_proj",
    "decoder.layers.#.around_feedforward.norm": "h.#.ln_2",
    "decoder.layers.#.feedforward.widen": "h.#.mlp.c_fc",
    "decoder.layers.#.feedforward.narrow": "h.#.mlp.c_proj",
}
_KEYS = (
    Key("d_model", "n_embd"),
    Key("n_heads", "n_head"),
    Key("d_feedforward", "n_inner", None),  # four times the width
    Key("n_layers", "n_layer"),
    Key("activation", "activation_function", "gelu_new"),
    Key("norm_epsilon", "layer_norm_epsilon", 1e-5),
    Key("dropout", "resid_pdrop", 0.1),
    Key("attention_dropout", "attn_pdrop", 0.1),
    Key("embedding_dropout", "embd_pdrop", 0.1),
)
_IDS = {"bos_token_id": "begin", "eos_token_id": "end", "pad_token_id": "padding"}


def _turned(name: str, tensor: Tensor) -> Tensor:
    """The other way round; a bias and a norm stay as they are."""
    return tensor.t()


def read(folder: HuggingFaceFolder) -> Imported:
    """Our GPT of the same numbers."""
    given = Given(folder, lambda name: name.removeprefix(_BASE))
    given.require_room(layers=("n_layer",), widths=("n_embd", "n_inner"))
    words, places = given.take(_WORDS[1]), given.take(_PLACES[1])
    tokenizer = read_tokenizer(folder, len(words), has_mask=False)
    require_stated(folder, len(words), "vocab_size")
    require_stated(folder, len(places), "n_positions")
    said = {"scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False}
    refuse_unless(folder, "GPT", **said, add_cross_attention=False)
    with stated_in(folder):
        sizes = tables.read_config(folder, _KEYS, "GPT")
        sizes["d_feedforward"] = sizes["d_feedforward"] or 4 * sizes["d_model"]
        section = GptSection(
            **sizes,
            context=len(places),
            tie="two-way" if folder.config.get("tie_word_embeddings", True) else "none",
            has_output_bias=bool(tokenizer.silent),
            feedforward_dropout=0.0,
        )
    weights = tables.read_layers(given, _LAYERS, section.n_layers, _turned)
    weights |= {_WORDS[0]: _rows(words, tokenizer), _PLACES[0]: places}
    if section.tie == "none":
        weights[_OUTPUT[0]] = _rows(given.take(_OUTPUT[1]), tokenizer)
    if section.has_output_bias:
        weights[_BIAS] = torch.zeros(len(tokenizer))
        weights[_BIAS][list(tokenizer.silent)] = _SILENT
    # Old folders keep the causal mask, and the output's table again under a name of its own.
    given.leave(lambda name: name.endswith((".attn.bias", ".attn.masked_bias")))
    given.leave(lambda name: name == _OUTPUT[1])
    given.require_all_taken("GPT")
    return of_one_text(folder, "model of type gpt2", section, weights, tokenizer)


def _rows(table: Float[Tensor, "V D"], tokenizer: Elsewhere) -> Float[Tensor, "N D"]:
    """Their rows in our order, zeros where they have none."""
    with_zeros = torch.cat([table, table.new_zeros(1, table.shape[1])])
    return with_zeros[[len(table) if row is None else row for row in tokenizer.rows]]


def write(loaded: LoadedModel, path: Path) -> None:
    """A folder that GPT2LMHeadModel opens."""
    section = loaded.recipe.model
    assert isinstance(section, GptSection)
    own = {name: one.detach().float() for name, one in loaded.model.state_dict().items()}
    text = text_files(loaded.source_tokenizer, has_mask=False, longest=section.context)
    rows = torch.tensor(text.order)
    _refuse(loaded.path, section, own, rows)
    embedding: Any = loaded.model.get_submodule("decoder.embedding")
    embedded = WordsAndPlaces.of(embedding, text.order, section)
    weights = tables.written_layers(own, _LAYERS, section.n_layers, _turned)
    weights |= {_WORDS[1]: embedded.words, _PLACES[1]: embedded.places}
    weights = {f"{_BASE}{name}": one for name, one in weights.items()}
    if not embedded.is_tied:
        weights[_OUTPUT[1]] = own[_OUTPUT[0]][rows]
    config = tables.written_config(section, _KEYS) | {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "vocab_size": len(text.order),
        "n_positions": section.context,
        **{key: text.ids.get(role) for key, role in _IDS.items()},
        "tie_word_embeddings": embedded.is_tied,
        "dtype": "float32",
    }
    write_folder(path, weights, text.tables | {CONFIG: config}, text.files)


def _refuse(path: Path, section: GptSection, own: Weights, rows: Tensor) -> None:
    if section.norm == "post":
        raise UsageError(
            f"{path} has norm = post, and transformers' GPT-2 has its norms before the "
            "sub-layers: train with model.norm = pre"
        )
    # Of ids that are not written a bias says nothing; of others it has no place there.
    if section.has_output_bias and bool(own[_BIAS][rows].any()):
        raise UsageError(
            f"{path} adds a number to each word's logit, and transformers' GPT-2 has no "
            "place for it: train with model.has_output_bias = false"
        )
