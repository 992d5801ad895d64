"""A Transformer as a CTranslate2 model: the same numbers, laid out as that engine wants.

Three things differ. CTranslate2 keeps query, key and value of self-attention as one matrix (of
attention to the source: key and value). Its own positions have all sines before all cosines, so it
is given our table. And it speaks of tokens, not ids, so it gets the vocabulary.
"""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from regard.config import TransformerSection
from regard.errors import MissingExtraError, UsageError
from regard.folder.folder import LoadedModel
from regard.models import Transformer
from regard.shapes import Tensor
from regard.special import BOS, EOS, UNKNOWN
from regard.text import Tokenizer

N_PLACES = 2048  # it refuses what is longer
_ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "gelu-tanh": "GELUTanh", "silu": "SWISH"}


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
    model, section = loaded.model, loaded.recipe.model
    assert isinstance(model, Transformer)
    assert isinstance(section, TransformerSection)
    spec = library.specs.TransformerSpec.from_config(
        (len(model.encoder.layers), len(model.decoder.layers)),
        section.n_heads,
        pre_norm=section.norm == "pre",
        activation=getattr(library.specs.Activation, _ACTIVATIONS[section.activation]),
    )
    spec.encoder.embeddings[0].weight = _plain(model.encoder.embedding.weight)
    spec.decoder.embeddings.weight = _plain(model.decoder.embedding.weight)
    for into, stack in ((spec.encoder, model.encoder), (spec.decoder, model.decoder)):
        into.scale_embeddings = section.scales_embeddings  # by √d
        into.position_encodings.encodings = _places(stack.embedding.positions, section)
        if isinstance(stack.norm, nn.LayerNorm):
            _norm(into.layer_norm, stack.norm)
        for place, layer in zip(into.layer, stack.layers, strict=True):
            _layer(place, layer)
    _linear(spec.decoder.projection, model.output)
    spec.decoder.start_from_zero_embedding = False
    spec.register_source_vocabulary(tokens_of(loaded.source_tokenizer))
    spec.register_target_vocabulary(tokens_of(loaded.target_tokenizer))
    target = loaded.target_tokenizer
    spec.config.unk_token = target.token(UNKNOWN)
    spec.config.bos_token = spec.config.decoder_start_token = target.token(BOS)
    spec.config.eos_token = target.token(EOS)
    spec.config.add_source_bos, spec.config.add_source_eos = False, True
    first: Any = model.encoder.layers[0]
    spec.config.layer_norm_epsilon = first.around_attention.norm.eps
    return spec


def _layer(into: Any, layer: Any) -> None:
    attention, feedforward = layer.attention, layer.feedforward
    _norm(into.self_attention.layer_norm, layer.around_attention.norm)
    _linear(into.self_attention.linear[0], attention.query, attention.key, attention.value)
    _linear(into.self_attention.linear[1], attention.output)
    if hasattr(layer, "cross"):
        cross = layer.cross
        _norm(into.attention.layer_norm, layer.around_cross.norm)
        _linear(into.attention.linear[0], cross.query)
        _linear(into.attention.linear[1], cross.key, cross.value)
        _linear(into.attention.linear[2], cross.output)
    _norm(into.ffn.layer_norm, layer.around_feedforward.norm)
    _linear(into.ffn.linear_0, feedforward.widen)
    _linear(into.ffn.linear_1, feedforward.narrow)


def _linear(into: Any, *layers: nn.Linear) -> None:
    """Several layers of the same input as one."""
    into.weight = _plain(torch.cat([layer.weight for layer in layers]))
    biases = [
        value for layer in layers for name, value in layer.named_parameters() if name == "bias"
    ]
    if biases:
        into.bias = _plain(torch.cat(tuple(biases)))


def _norm(into: Any, norm: nn.LayerNorm) -> None:
    into.gamma, into.beta = _plain(norm.weight), _plain(norm.bias)


def _places(positions: Any, section: TransformerSection) -> Any:
    if section.positions == "none":  # without a table it would add its own sines
        return _plain(torch.zeros(N_PLACES, section.d_model))
    n_places = section.n_places or N_PLACES
    return _plain(positions.prepared(n_places)[:n_places])


def _plain(tensor: Tensor) -> Any:
    """A copy: to quantise is to write over it."""
    return tensor.detach().cpu().float().clone(memory_format=torch.contiguous_format).numpy()
