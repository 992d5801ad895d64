"""From MarianMT to ours; and from Pegasus, which is the same with norms before the sub-layers.

Their logits have a bias. Where <pad> starts the decoder there, our <pad> has no row of its own: it
gets one of zeros and a bias so low that it takes no probability from the words.
"""

import torch

from regard.attention import sinusoids
from regard.config import Recipe, TextSection, TransformerSection
from regard.errors import ModelFolderError
from regard.folder.foreign import layers as parts
from regard.folder.foreign.given import Given, activation_of, require_stated, stated_in
from regard.folder.foreign.huggingface import HuggingFaceFolder
from regard.folder.foreign.imported import Imported
from regard.folder.foreign.layers import alternating, layers, sines_first, turned
from regard.folder.foreign.marian_vocabulary import MarianSide, read_sides
from regard.shapes import Tensor
from regard.special import PAD

_READ = {theirs: ours for ours, theirs in parts.ACTIVATIONS.items()} | {
    "silu": "silu",
    "gelu_pytorch_tanh": "gelu-tanh",
}
_SILENT = -100.0  # e⁻¹⁰⁰ of a word's share; low enough, and harmless to label smoothing
_LONGEST = 1024


def read(folder: HuggingFaceFolder) -> Imported:
    """Our Transformer of the same numbers."""
    given = Given(folder)
    given.require_room(
        layers=("encoder_layers", "decoder_layers"),
        widths=("d_model", "encoder_ffn_dim", "decoder_ffn_dim"),
    )
    is_tied = folder.config.get("tie_word_embeddings", True)
    is_shared = folder.config.get("share_encoder_decoder_embeddings", True) and is_tied
    words = [given.take(*_names(name, is_shared)) for name in parts.WORDS]
    output = words[1] if is_tied else given.take(parts.OUTPUT)
    sides = read_sides(folder, len(words[0]), len(words[1]))
    require_stated(folder, len(words[0]), "vocab_size")
    if is_shared and sides[0].rows != sides[1].rows:
        raise ModelFolderError(
            f"{folder.path} shares one table between source and target, which have different "
            "vocabularies: the files are of different models, take all from one"
        )
    places = [given.take(name) for name in parts.PLACES if name in given]
    d_model = words[0].shape[1]
    is_sinusoidal = all(map(_is_sinusoidal, places))
    order = alternating(d_model) if is_sinusoidal else torch.arange(d_model)

    section = _section(folder, None if is_sinusoidal else given.take(parts.PLACES[0]))
    tie = "three-way" if is_shared else "two-way" if is_tied else "none"
    bias = _bias(given.take(parts.BIAS) if parts.BIAS in given else None, sides[1])
    model = section.model_copy(update={"tie": tie, "has_output_bias": bias is not None})
    stacks = layers(
        model.n_layers, parts.n_decoder_layers(model), has_final_norm=model.norm == "pre"
    )
    weights = {one.ours: turned(given.take(one.theirs), one.axis, order) for one in stacks}
    for name, table, side in zip(parts.OUR_WORDS, words, sides, strict=True):
        weights[name] = turned(_rows(table, side), 1, order)
    weights["output.weight"] = turned(_rows(output, sides[1]), 1, order)
    if bias is not None:
        weights["output.bias"] = bias
    if not is_sinusoidal:
        weights |= {
            name: given.take(theirs)
            for name, theirs in zip(parts.OUR_PLACES, parts.PLACES, strict=True)
        }
    given.leave(lambda name: name == parts.OUTPUT)  # where it is tied, it is the words' table
    given.require_all_taken("Transformer")
    recipe = Recipe(
        name=folder.path.resolve().name,
        purpose=f"read from a model of type {folder.config['model_type']}",
        model=model,
        text=TextSection(size=len(sides[1].tokenizer), is_joint=sides[0].rows == sides[1].rows),
    )
    return Imported(recipe, weights, sides[0].tokenizer, sides[1].tokenizer)


def _names(name: str, is_shared: bool) -> tuple[str, ...]:
    return (parts.SHARED, name) if is_shared else (name, parts.SHARED)


def _section(folder: HuggingFaceFolder, places: Tensor | None) -> TransformerSection:
    """The sizes that config.json states; places that are no sines have a table."""
    config = folder.config
    theirs = config.get("activation_function", "gelu")
    activation = activation_of(folder, theirs, _READ, "Transformer")
    is_pre_norm = config["model_type"] == "pegasus" or bool(config.get("normalize_before"))
    with stated_in(folder):
        return TransformerSection(
            d_model=config["d_model"],
            n_heads=_same(folder, "encoder_attention_heads", "decoder_attention_heads"),
            d_feedforward=_same(folder, "encoder_ffn_dim", "decoder_ffn_dim"),
            n_layers=config["encoder_layers"],
            n_decoder_layers=config["decoder_layers"],
            norm="pre" if is_pre_norm else "post",
            activation=activation,  # type: ignore[arg-type]
            positions="sinusoidal" if places is None else "learned",
            max_length=_LONGEST if places is None else len(places),
            scales_embeddings=bool(config.get("scale_embedding", False)),
            dropout=config.get("dropout", 0.1),
            attention_dropout=config.get("attention_dropout", 0.0),
            feedforward_dropout=config.get("activation_dropout", 0.0),
        )


def _same(folder: HuggingFaceFolder, one: str, other: str) -> int:
    first, second = int(folder.config[one]), int(folder.config[other])
    if first != second:
        raise ModelFolderError(
            f"{folder.path} has {one} = {first} and {other} = {second}, and Regard's Transformer "
            "has one number for both: such a model cannot be read"
        )
    return first


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


def _is_sinusoidal(table: Tensor) -> bool:
    if table.shape[1] % 2:
        return False
    own = sinusoids(*table.shape)[:, sines_first(table.shape[1])]
    return torch.allclose(table, own, atol=2e-3)  # some are kept in half precision
