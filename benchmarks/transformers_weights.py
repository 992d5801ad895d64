"""A Transformer of Regard as a model of the library transformers: other names for the same numbers.

Its M2M100 is what comes nearest: pre-norm, one table for source, target and output, and fixed
positions, for which it gets Regard's.
"""

from typing import Any

import torch
from torch.nn import functional as F

from regard.attention import Sinusoidal
from regard.models import Transformer
from regard.special import BOS, EOS, PAD

_LONGEST = 1024
_NAMES = {  # the first that fits is replaced
    "around_attention.norm": "self_attn_layer_norm",
    "around_cross.norm": "encoder_attn_layer_norm",
    "around_feedforward.norm": "final_layer_norm",
    "attention.": "self_attn.",
    "cross.": "encoder_attn.",
    "feedforward.widen": "fc1",
    "feedforward.narrow": "fc2",
    "coder.norm": "coder.layer_norm",
    "embedding.weight": "embed_tokens.weight",
}
_PROJECTIONS = {
    ".query.": ".q_proj.",
    ".key.": ".k_proj.",
    ".value.": ".v_proj.",
    "attn.output.": "attn.out_proj.",
}


def is_like_m2m100(model: Transformer) -> bool:
    """Whether transformers has a model that computes the same."""
    layer: Any = model.encoder.layers[0]
    return (
        bool(layer.around_attention.is_pre_norm)
        and model.encoder.embedding.weight is model.output.weight
        and isinstance(model.encoder.embedding.positions, Sinusoidal)
    )


def as_m2m100(model: Transformer) -> Any:
    """The model of transformers that computes the same."""
    from transformers import M2M100Config, M2M100ForConditionalGeneration

    layer: Any = model.encoder.layers[0]
    positions = model.encoder.embedding.positions
    assert isinstance(positions, Sinusoidal)
    config = M2M100Config(
        vocab_size=model.output.out_features,
        d_model=model.output.in_features,
        encoder_layers=len(model.encoder.layers),
        decoder_layers=len(model.decoder.layers),
        encoder_attention_heads=layer.attention.n_heads,
        decoder_attention_heads=layer.attention.n_heads,
        encoder_ffn_dim=layer.feedforward.widen.out_features,
        decoder_ffn_dim=layer.feedforward.widen.out_features,
        activation_function="relu" if layer.feedforward.activation is F.relu else "gelu",
        max_position_embeddings=_LONGEST,
        pad_token_id=PAD,
        bos_token_id=BOS,
        eos_token_id=EOS,
        decoder_start_token_id=BOS,
    )
    other = M2M100ForConditionalGeneration(config).eval()
    weights = {_name(name): value for name, value in model.state_dict().items()}
    weights["model.shared.weight"] = model.output.weight
    other.load_state_dict(weights)
    # Places are counted from 1: 0 is that of padding.
    table = positions.prepared(_LONGEST)[:_LONGEST]
    for stack in (other.model.encoder, other.model.decoder):
        stack.embed_positions.weights = torch.cat([torch.zeros_like(table[:1]), table])
    return other


def _name(ours: str) -> str:
    if ours == "output.weight":
        return "lm_head.weight"
    for old, new in _NAMES.items():
        if old in ours:
            ours = ours.replace(old, new)
            break
    for old, new in _PROJECTIONS.items():
        ours = ours.replace(old, new)
    return f"model.{ours}"
