"""From GPT-2 to ours.

It has one special token, <|endoftext|>, where we have four ids: <s> and </s> take its row, </s>
alone predicts it, and the others have rows of zeros. A bias keeps the ids that have no token of
their own from taking any probability.
"""

import torch

from regard.config import Recipe, TrainingSection
from regard.config.alone import GptSection
from regard.folder.foreign import gpt2_names as names
from regard.folder.foreign.bert_names import ACTIVATIONS, both
from regard.folder.foreign.given import (
    Given,
    activation_of,
    refuse_unless,
    require_stated,
    stated_in,
)
from regard.folder.foreign.huggingface import HuggingFaceFolder
from regard.folder.foreign.imported import Imported, text_section
from regard.folder.foreign.text_reading import read_tokenizer
from regard.shapes import Float, Tensor
from regard.text import Elsewhere

SILENT = -10_000.0  # logits of GPT-2 are far below zero: this is farther, also in half precision


def read(folder: HuggingFaceFolder) -> Imported:
    """Our GPT of the same numbers."""
    given = Given(folder, lambda name: name.removeprefix("transformer."))
    given.require_room(layers=("n_layer",), widths=("n_embd", "n_inner"))
    words = given.take(names.WORDS[1])
    tokenizer = read_tokenizer(folder, len(words), has_mask=False)
    require_stated(folder, len(words), "vocab_size")
    require_stated(folder, len(given.take(names.PLACES[1])), "n_positions")
    model = _section(folder, given, tokenizer)
    pairs = [pair for norm in names.norms(model.n_layers) for pair in both(*norm)]
    weights: dict[str, Tensor] = {ours: given.take(theirs) for ours, theirs in pairs}
    for ours, theirs in names.linears(model.n_layers):
        weights |= {to: _turned(given.take(at)) for to, at in both(ours, theirs)}
    for three, theirs in names.threes(model.n_layers):
        for part in ("weight", "bias"):
            joined = _turned(given.take(f"{theirs}.{part}")).chunk(3)
            weights |= {f"{to}.{part}": one for to, one in zip(three, joined, strict=True)}
    weights[names.PLACES[0]] = given.take(names.PLACES[1])
    weights[names.WORDS[0]] = _rows(words, tokenizer)
    if model.tie == "none":
        weights[names.OUTPUT[0]] = _rows(given.take(names.OUTPUT[1]), tokenizer)
    if model.has_output_bias:
        weights["output.bias"] = torch.zeros(len(tokenizer))
        weights["output.bias"][list(tokenizer.silent)] = SILENT
    # Old folders keep the causal mask, and the output's table again under a name of its own.
    given.leave(lambda name: name.endswith((".attn.bias", ".attn.masked_bias")))
    given.leave(lambda name: name == names.OUTPUT[1])
    given.require_all_taken("GPT")
    recipe = Recipe(
        name=folder.path.resolve().name,
        purpose="read from a model of type gpt2",
        model=model,
        text=text_section(tokenizer),
        training=TrainingSection(task="language", label_smoothing=0.0),
    )
    return Imported(recipe, weights, tokenizer, tokenizer)


def _turned(tensor: Tensor) -> Tensor:
    """Output × input; a bias stays as it is."""
    return tensor.t().contiguous()


def _rows(table: Float[Tensor, "V D"], tokenizer: Elsewhere) -> Float[Tensor, "N D"]:
    """Their rows in our order, zeros where they have none."""
    with_zeros = torch.cat([table, table.new_zeros(1, table.shape[1])])
    return with_zeros[[len(table) if row is None else row for row in tokenizer.rows]]


def _section(folder: HuggingFaceFolder, given: Given, tokenizer: Elsewhere) -> GptSection:
    """The sizes that config.json states."""
    refuse_unless(
        folder,
        "GPT",
        scale_attn_weights=True,
        scale_attn_by_inverse_layer_idx=False,
        add_cross_attention=False,
    )
    config = folder.config
    theirs = config.get("activation_function", "gelu_new")
    activation = activation_of(folder, theirs, ACTIVATIONS, "GPT")
    with stated_in(folder):
        return GptSection(
            d_model=config["n_embd"],
            n_heads=config["n_head"],
            d_feedforward=config.get("n_inner") or 4 * config["n_embd"],
            n_layers=config["n_layer"],
            activation=activation,  # type: ignore[arg-type]
            norm_epsilon=config.get("layer_norm_epsilon", 1e-5),
            context=len(given.take(names.PLACES[1])),
            tie="two-way" if config.get("tie_word_embeddings", True) else "none",
            has_output_bias=bool(tokenizer.silent),
            dropout=config.get("resid_pdrop", 0.1),
            attention_dropout=config.get("attn_pdrop", 0.1),
            embedding_dropout=config.get("embd_pdrop", 0.1),
            feedforward_dropout=0.0,
        )
