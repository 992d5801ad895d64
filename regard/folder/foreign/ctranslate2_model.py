"""A Transformer as a CTranslate2 model: the same numbers, laid out as that engine wants.

Three things differ. CTranslate2 keeps query, key and value of self-attention as one matrix (of
attention to the source: key and value). Its own positions have all sines before all cosines, so it
is given our table. And it speaks of tokens, not ids, so it gets the vocabulary.
"""

from pathlib import Path
from typing import Any

import torch

from regard.config import TransformerSection
from regard.errors import MissingExtraError, UsageError
from regard.folder.folder import LoadedModel
from regard.folder.foreign.tables import Layers, places, under, written_layers
from regard.shapes import Tensor
from regard.special import BOS, EOS, UNKNOWN
from regard.text import Tokenizer

N_PLACES = 2048  # it refuses what is longer
_ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "gelu-tanh": "GELUTanh", "silu": "SWISH"}
_TENSORS = {
    "encoder.embedding.weight": "encoder.embeddings.0.weight",
    "decoder.embedding.weight": "decoder.embeddings.weight",
    "output.weight": "decoder.projection.weight",
    "output.bias": "decoder.projection.bias",
}
_LAYER: Layers = {  # of both stacks
    "around_attention.norm": "self_attention.layer_norm",
    ("attention.query", "attention.key", "attention.value"): "self_attention.linear.0",
    "attention.output": "self_attention.linear.1",
    "around_feedforward.norm": "ffn.layer_norm",
    "feedforward.widen": "ffn.linear_0",
    "feedforward.narrow": "ffn.linear_1",
}
_CROSS: Layers = {  # of the decoder
    "around_cross.norm": "attention.layer_norm",
    "cross.query": "attention.linear.0",
    ("cross.key", "cross.value"): "attention.linear.1",
    "cross.output": "attention.linear.2",
}


def write(loaded: LoadedModel, path: Path, quantization: str | None = None) -> None:
    """Fill an empty folder that ``ctranslate2.Translator`` opens, and put the tokenizers beside."""
    spec = _spec(loaded)
    spec.validate()
    spec.optimize(quantization)  # tables that are equal are written once
    spec.save(str(path))
    source, target = loaded.source_tokenizer, loaded.target_tokenizer
    if source.fingerprint == target.fingerprint:
        source.save(path / "tokenizer")
    else:
        source.save(path / "tokenizer.source")
        target.save(path / "tokenizer.target")


def tokens_of(tokenizer: Tokenizer) -> list[str]:
    """The token of every id, no two of them alike."""
    tokens = [tokenizer.token(i) for i in range(len(tokenizer))]
    if len(set(tokens)) < len(tokens):
        alike = next(token for i, token in enumerate(tokens) if token in tokens[:i])
        raise UsageError(
            f"two tokens of the vocabulary are written {alike!r}, which CTranslate2 cannot tell "
            "apart: translate without --engine"
        )
    return tokens


def ctranslate2() -> Any:
    """The library, if it is installed."""
    try:
        import ctranslate2 as library
    except ImportError as error:
        raise MissingExtraError("CTranslate2", "fast") from error
    return library


def _spec(loaded: LoadedModel) -> Any:
    library = ctranslate2()
    section, target = loaded.recipe.model, loaded.target_tokenizer
    assert isinstance(section, TransformerSection)
    if section.fixed_heads:
        raise UsageError(
            f"{loaded.path} has fixed heads, which CTranslate2 does not compute: translate without "
            "--engine"
        )
    if section.copies:
        raise UsageError(
            f"{loaded.path} copies words of the source, which CTranslate2 does not: use it without "
            "--engine"
        )
    spec = library.specs.TransformerSpec.from_config(
        (section.n_layers, section.n_decoder_layers or section.n_layers),
        section.n_heads,
        pre_norm=section.norm == "pre",
        activation=getattr(library.specs.Activation, _ACTIVATIONS[section.activation]),
    )
    for name, tensor in _weights(loaded, section).items():
        _put(spec, name, tensor)
    for stack in (spec.encoder, spec.decoder):
        stack.scale_embeddings = section.scales_embeddings  # by √d
    spec.decoder.start_from_zero_embedding = False
    spec.register_source_vocabulary(tokens_of(loaded.source_tokenizer))
    spec.register_target_vocabulary(tokens_of(target))
    spec.config.unk_token = target.token(UNKNOWN)
    spec.config.bos_token = spec.config.decoder_start_token = target.token(BOS)
    spec.config.eos_token = target.token(EOS)
    spec.config.add_source_bos, spec.config.add_source_eos = False, True
    first: Any = loaded.model.get_submodule("encoder.layers.0.around_attention.norm")
    spec.config.layer_norm_epsilon = first.eps
    return spec


def _weights(loaded: LoadedModel, section: TransformerSection) -> dict[str, Tensor]:
    """Our weights by the names of the specification."""
    own = loaded.model.state_dict()
    weights = {theirs: own[ours] for ours, theirs in _TENSORS.items() if ours in own}
    for stack, rows, n_layers in (
        ("encoder", _LAYER, section.n_layers),
        ("decoder", _LAYER | _CROSS, section.n_decoder_layers or section.n_layers),
    ):
        layers = under(f"{stack}.layers.#", f"{stack}.layer.#", rows)
        if section.norm == "pre":
            layers |= {f"{stack}.norm": f"{stack}.layer_norm"}
        weights |= written_layers(own, layers, n_layers)
        embedding: Any = loaded.model.get_submodule(f"{stack}.embedding")
        # Without a table it would add its own sines.
        table = places(embedding, section.n_places or N_PLACES)
        weights[f"{stack}.position_encodings.encodings"] = table
    return weights


def _put(spec: Any, name: str, tensor: Tensor) -> None:
    """Set what a specification has under a name; norms have words of their own."""
    *path, last = name.split(".")
    for part in path:
        spec = spec[int(part)] if part.isdigit() else getattr(spec, part)
    is_norm = path[-1] == "layer_norm"
    setattr(spec, {"weight": "gamma", "bias": "beta"}[last] if is_norm else last, _plain(tensor))


def _plain(tensor: Tensor) -> Any:
    """A copy: to quantise is to write over it."""
    return tensor.detach().cpu().float().clone(memory_format=torch.contiguous_format).numpy()
