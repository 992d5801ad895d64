"""A Transformer of Regard as a CTranslate2 model: the same numbers, laid out as that engine wants.

Three things differ. CTranslate2 keeps query, key and value of self-attention as one matrix (of
attention to the source: key and value). Its own positions have all sines before all cosines,
so it is given Regard's table. And it speaks of tokens, not ids, so it gets the vocabulary; sources
must end with the token of <EOS>, as Regard's do.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.attention import Learned, MultiHeadAttention, Sinusoidal
from regard.models import Transformer
from regard.models.sublayers import FeedForward, Residual
from regard.special import BOS, EOS, UNKNOWN
from regard.text import Tokenizer

_LONGEST = 1024  # places; it refuses what is longer


def export(model: Transformer, source: Tokenizer, target: Tokenizer, folder: Path) -> None:
    """Write the folder that ``ctranslate2.Translator`` opens, in float32."""
    import ctranslate2

    encoder, decoder = model.encoder, model.decoder
    first: Any = encoder.layers[0]
    activations = ctranslate2.specs.Activation
    spec = ctranslate2.specs.TransformerSpec.from_config(
        (len(encoder.layers), len(decoder.layers)),
        first.attention.n_heads,
        pre_norm=first.around_attention.is_pre_norm,
        activation=activations.RELU if first.feedforward.activation is F.relu else activations.GELU,
    )
    spec.encoder.embeddings[0].weight = _plain(encoder.embedding.weight)
    spec.decoder.embeddings.weight = _plain(decoder.embedding.weight)
    for into, stack in ((spec.encoder, encoder), (spec.decoder, decoder)):
        into.scale_embeddings = True  # by √d
        into.position_encodings.encodings = _positions(stack.embedding.positions, model)
        if isinstance(stack.norm, nn.LayerNorm):
            _norm(into.layer_norm, stack.norm)
        layer: Any
        for place, layer in zip(into.layer, stack.layers, strict=True):
            _self_attention(place.self_attention, layer.attention, layer.around_attention)
            if stack is decoder:
                _cross_attention(place.attention, layer.cross, layer.around_cross)
            _feedforward(place.ffn, layer.feedforward, layer.around_feedforward)
    _linear(spec.decoder.projection, model.output)
    spec.decoder.start_from_zero_embedding = False
    spec.register_source_vocabulary(tokens_of(source))
    spec.register_target_vocabulary(tokens_of(target))
    spec.config.unk_token = target.token(UNKNOWN)
    spec.config.bos_token = spec.config.decoder_start_token = target.token(BOS)
    spec.config.eos_token = target.token(EOS)
    spec.config.add_source_bos = spec.config.add_source_eos = False  # they are given with it
    spec.config.layer_norm_epsilon = first.around_attention.norm.eps
    spec.validate()
    spec.optimize()  # tables that are equal are written once
    folder.mkdir(parents=True, exist_ok=True)
    spec.save(str(folder))


def tokens_of(tokenizer: Tokenizer) -> list[str]:
    """The token of every id."""
    tokens = [tokenizer.token(i) for i in range(len(tokenizer))]
    if len(set(tokens)) < len(tokens):
        raise SystemExit("two ids are written alike, which CTranslate2 cannot tell apart")
    return tokens


def _self_attention(into: Any, attention: MultiHeadAttention, around: Residual) -> None:
    _norm(into.layer_norm, around.norm)
    _linear(into.linear[0], attention.query, attention.key, attention.value)
    _linear(into.linear[1], attention.output)


def _cross_attention(into: Any, attention: MultiHeadAttention, around: Residual) -> None:
    _norm(into.layer_norm, around.norm)
    _linear(into.linear[0], attention.query)
    _linear(into.linear[1], attention.key, attention.value)
    _linear(into.linear[2], attention.output)


def _feedforward(into: Any, feedforward: FeedForward, around: Residual) -> None:
    _norm(into.layer_norm, around.norm)
    _linear(into.linear_0, feedforward.widen)
    _linear(into.linear_1, feedforward.narrow)


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


def _positions(positions: nn.Module, model: Transformer) -> Any:
    if isinstance(positions, Sinusoidal | Learned):
        longest = _LONGEST if isinstance(positions, Sinusoidal) else positions.table.shape[0]
        return _plain(positions.prepared(longest)[:longest])
    # Without a table it would add its own sines.
    return _plain(torch.zeros(_LONGEST, model.output.in_features))


def _plain(tensor: Tensor) -> Any:
    return tensor.detach().float().cpu().contiguous().numpy()
